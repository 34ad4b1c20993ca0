// The audio of one call, between the node's media link and the client of the call's stream: queue, pacing, marks.
import type { WebSocket } from 'ws';
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { MEDIA_CLOSE } from '#shared/voice/close-code.ts';
import {
  decodeCapture,
  encodePlayout,
  FRAME_BYTES,
  FRAME_MS,
  MediaFrameError,
  parseNodeMedia,
  type ServerMediaMessage,
} from '#shared/voice/media.ts';
import { Pace } from './pace.ts';
import { PlayoutQueue } from './playout-queue.ts';

/** Capture frames, and so 20 ms each, after which a begun frame is played with silence behind it. */
const REST_WAIT_FRAMES = 2;

/** A client that sends too fast is notified once a second. */
const OVERFLOW_EVERY_FRAMES = 50;

/** A line from which nothing came for so long takes nothing either: it has no audio yet, or its modem is away. */
const LINE_IDLE_MS = 1_000;
/**
 * Frames then kept of a client that speaks in real time: any more would delay the audio by that much for the whole call.
 */
const LIVE_FRAMES_MAX = 5;

/** That wait for their answer; a clear is answered within the time of a frame or two. */
const CLEARS_MAX = 100;

/** Times that keys were pressed before there was a link. */
const KEYS_MAX = 16;

export interface Cleared {
  /** Of what came since the clear before this one, or since the beginning. */
  playedMs: number;
  droppedMs: number;
  /** Marks that were not reached. */
  marks: readonly string[];
}

/** The holder of a call's stream. */
export interface AudioListener {
  /** 20 ms of the far end; good until the call returns. */
  audio(frame: Uint8Array): void;
  mark(name: string): void;
  cleared(what: Cleared): void;
  /** A key that the far end pressed. */
  digit(digit: string): void;
  /** So much of the oldest audio fell out of the queue since the last report. */
  overflow(droppedMs: number): void;
}

interface PendingClear {
  marks: string[];
  /** Frames that were thrown away here. */
  dropped: number;
}

export class CallAudio {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #onLinkClosed: (code: number) => void;
  readonly #queue: PlayoutQueue;
  readonly #pace = new Pace();
  #listener: AudioListener | undefined;
  #link: WebSocket | undefined;
  /** Of the link, as in shared/voice/media.ts. */
  #sent = 0;
  #granted = 0;
  #played = 0;
  /** On this and earlier links, since the last clear. */
  #playedSinceClear = 0;
  /** Of marks whose audio was sent: the frames to be played before. */
  #marksSent: Array<{ name: string; below: number }> = [];
  readonly #clears = new Map<number, PendingClear>();
  #clearId = 0;
  /** Pressed before there was a link. */
  #keys: string[] = [];
  #restFrames = 0;
  #capturedAtMs = 0;
  /** Frames that fell out of the queue, of the whole call; and those of them not yet reported. */
  overflowFrames = 0;
  #overflowUntold = 0;
  #framesToOverflow = 0;

  constructor(options: {
    queueFrames: number;
    clock: Clock;
    log: Logger;
    onLinkClosed: (code: number) => void;
  }) {
    this.#clock = options.clock;
    this.#queue = new PlayoutQueue(options.queueFrames);
    this.#log = options.log;
    this.#onLinkClosed = options.onLinkClosed;
  }

  get isLinked(): boolean {
    return this.#link !== undefined;
  }

  /** Another client begins with an empty queue; the same one, come back, finds its own. */
  listen(listener: AudioListener | undefined, { isOther }: { isOther: boolean }): void {
    this.#listener = undefined;
    if (isOther) {
      this.clear();
      this.#keys = [];
    }
    this.#listener = listener;
  }

  play(audio: Uint8Array): void {
    this.#restFrames = 0;
    const nowMs = this.#clock.now();
    this.#pace.arrived((audio.length * FRAME_MS) / FRAME_BYTES, nowMs);
    let dropped = this.#queue.push(audio);
    if (this.#pace.isLive && nowMs - this.#capturedAtMs > LINE_IDLE_MS)
      dropped += this.#queue.cut(LIVE_FRAMES_MAX);
    if (dropped > 0) {
      this.overflowFrames += dropped;
      this.#overflowUntold += dropped;
    }
    this.#pump();
  }

  /** Reports `name` to the listener when all audio before it was played. */
  mark(name: string): void {
    this.#queue.mark(name);
    this.#noteMarks();
    this.#tellMarks();
  }

  /** Keys that come before there is a link are pressed when there is one. */
  press(digits: string): void {
    if (this.#link !== undefined) this.#say({ type: 'dtmf', digits });
    else if (this.#keys.length < KEYS_MAX) this.#keys.push(digits);
    else this.#log.warn({}, 'keys were not pressed: the call has no audio yet, and too many wait');
  }

  /** Throws away the audio not played yet, here and at the node, and reports to the listener how much was played. */
  clear(): void {
    const { frames: dropped, marks } = this.#queue.clear();
    const pending = { marks: [...this.#marksSent.map(({ name }) => name), ...marks], dropped };
    this.#marksSent = [];
    if (this.#link === undefined || this.#sent === this.#played || this.#clears.size >= CLEARS_MAX) {
      this.#tellCleared(pending, 0);
      return;
    }
    this.#clearId += 1;
    this.#clears.set(this.#clearId, pending);
    this.#say({ type: 'clear', id: this.#clearId });
  }

  /** Takes the link that the node opened, in place of the one it had. */
  connect(link: WebSocket): void {
    this.#disconnect()?.close(MEDIA_CLOSE.replaced, 'a newer media link');
    this.#link = link;
    for (const digits of this.#keys.splice(0)) this.#say({ type: 'dtmf', digits });
    link.on('message', (data: Buffer, isBinary) => {
      if (this.#link !== link) return;
      try {
        if (isBinary) this.#onCapture(data);
        else this.#onText(data.toString());
      } catch (error) {
        if (!(error instanceof MediaFrameError)) throw error;
        this.#log.warn({ err: error }, 'bad frame on a media link');
        link.close(MEDIA_CLOSE.protocolError, 'bad frame');
      }
    });
    link.on('error', (error) => this.#log.debug({ err: error }, 'media link error'));
    link.on('close', (code) => {
      if (this.#link !== link) return;
      this.#disconnect();
      this.#onLinkClosed(code);
    });
  }

  /** Ends it, and closes the link with that. */
  stop(code: number, reason: string): void {
    this.#listener = undefined;
    this.#disconnect()?.close(code, reason);
    this.#queue.clear();
  }

  #disconnect(): WebSocket | undefined {
    const link = this.#link;
    this.#link = undefined;
    // The audio on its way is lost: no report will say that it was played.
    for (const [id, pending] of this.#clears) this.#endClear(id, pending, 0);
    for (const { name } of this.#marksSent.splice(0)) this.#listener?.mark(name);
    this.#sent = 0;
    this.#granted = 0;
    this.#played = 0;
    return link;
  }

  #onCapture(data: Buffer): void {
    const { played, granted, audio } = decodeCapture(data);
    this.#capturedAtMs = this.#clock.now();
    this.#progress(played);
    if (granted > this.#granted) this.#granted = granted;
    if (this.#queue.hasRest && this.#queue.length === 0 && ++this.#restFrames > REST_WAIT_FRAMES)
      this.#queue.pad();
    this.#pump();
    this.#framesToOverflow -= 1;
    if (this.#overflowUntold > 0 && this.#framesToOverflow <= 0) this.#tellOverflow();
    this.#listener?.audio(audio);
  }

  #onText(text: string): void {
    const message = parseNodeMedia(text);
    if (message.type === 'dtmf') {
      this.#listener?.digit(message.digit);
      return;
    }
    const pending = this.#clears.get(message.id);
    if (pending === undefined) return;
    this.#progress(message.played);
    const dropped = Math.min(message.dropped, this.#playedSinceClear);
    this.#playedSinceClear -= dropped;
    this.#endClear(message.id, pending, dropped);
  }

  #progress(told: number): void {
    // A node that reports more than it was given is not believed.
    const played = Math.min(told, this.#sent);
    if (played <= this.#played) return;
    this.#playedSinceClear += played - this.#played;
    this.#played = played;
    this.#tellMarks();
  }

  #pump(): void {
    const link = this.#link;
    if (link === undefined || link.readyState !== link.OPEN) return;
    while (this.#sent < this.#granted) {
      const audio = this.#queue.shift();
      if (audio === undefined) return;
      link.send(encodePlayout({ sequence: this.#sent, isLive: this.#pace.isLive, audio }));
      this.#sent += 1;
      this.#noteMarks();
    }
  }

  /** Marks with nothing of the queue before them wait for what was sent. */
  #noteMarks(): void {
    for (const name of this.#queue.takeMarks()) this.#marksSent.push({ name, below: this.#sent });
  }

  #tellMarks(): void {
    while ((this.#marksSent[0]?.below ?? Number.POSITIVE_INFINITY) <= this.#played) {
      const mark = this.#marksSent.shift();
      if (mark !== undefined) this.#listener?.mark(mark.name);
    }
  }

  #endClear(id: number, pending: PendingClear, dropped: number): void {
    this.#clears.delete(id);
    this.#tellCleared(pending, dropped);
  }

  #tellCleared({ marks, dropped }: PendingClear, droppedAtNode: number): void {
    const playedMs = this.#playedSinceClear * FRAME_MS;
    this.#playedSinceClear = 0;
    this.#listener?.cleared({ playedMs, droppedMs: (dropped + droppedAtNode) * FRAME_MS, marks });
  }

  #tellOverflow(): void {
    const droppedMs = this.#overflowUntold * FRAME_MS;
    this.#overflowUntold = 0;
    this.#framesToOverflow = OVERFLOW_EVERY_FRAMES;
    this.#listener?.overflow(droppedMs);
  }

  #say(message: ServerMediaMessage): void {
    if (this.#link?.readyState === this.#link?.OPEN) this.#link?.send(JSON.stringify(message));
  }
}
