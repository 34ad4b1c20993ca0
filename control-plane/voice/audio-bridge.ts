// The audio of one call, between the node's media link and the client of the call's stream: queue, pacing, marks.
import type { WebSocket } from 'ws';
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { TokenBucket } from '#shared/token-bucket.ts';
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
import { FrameLimiter } from '../nodes/frame-limiter.ts';
import { LiveSourceDetector } from './live-source-detector.ts';
import { PlayoutQueue } from './playout-queue.ts';

/** Two seconds of audio. */
const UNSENT_BYTES_MAX = 64 * 1024;

/** Capture frames, each 20 ms, after which an incomplete frame is padded with silence and played. */
const REST_WAIT_FRAMES = 2;

/** A client that sends too fast is notified once a second. */
const OVERFLOW_EVERY_FRAMES = 50;

/** A line from which nothing came for this long accepts no audio either: it has none yet, or its modem is away. */
const LINE_IDLE_MS = 1_000;
/** Frames then kept of a client that speaks in real time. More would delay the audio of the whole call by as much. */
const LIVE_FRAMES_MAX = 5;

/** Unconfirmed clears. A clear is confirmed within a frame or two. */
const CLEARS_MAX = 100;

/** Marks whose audio the node has, and has not reported as played. A node that reports nothing must not collect them. */
const MARKS_SENT_MAX = 1_000;

/** Key presses that are kept until there is a link. */
const KEYS_MAX = 16;

export interface Cleared {
  /** Audio since the previous clear, or since the beginning. */
  playedMs: number;
  droppedMs: number;
  /** Marks that were not reached. */
  marks: readonly string[];
}

/** The client of a call's stream. */
export interface AudioListener {
  /** 20 ms of the far end; valid until the call returns. */
  audio(frame: Uint8Array): void;
  mark(name: string): void;
  cleared(what: Cleared): void;
  /** A key that the far end pressed. */
  digit(digit: string): void;
  /** Duration of audio that was dropped from the queue since the last report. */
  overflow(droppedMs: number): void;
}

interface PendingClear {
  marks: string[];
  /** Frames that were dropped here. */
  dropped: number;
}

export class AudioBridge {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #onLinkClosed: (code: number) => void;
  readonly #onAudio: (frame: Uint8Array) => void;
  readonly #queue: PlayoutQueue;
  readonly #source = new LiveSourceDetector();
  readonly #budget: TokenBucket;
  #listener: AudioListener | undefined;
  #link: WebSocket | undefined;
  /** Frame counters of the link, as in shared/voice/media.ts. */
  #sent = 0;
  #granted = 0;
  #played = 0;
  /** Frames on this and earlier links, since the last clear. */
  #playedSinceClear = 0;
  /** Marks whose audio was sent, with the number of frames to be played before. */
  #marksSent: Array<{ name: string; below: number }> = [];
  readonly #clears = new Map<number, PendingClear>();
  #clearId = 0;
  /** Keys pressed before there was a link. */
  #keys: string[] = [];
  #onPlayed: (() => void) | undefined;
  #restFrames = 0;
  #capturedAtMs = 0;
  /** Frames dropped from the queue during the whole call; `#overflowUnreported`: those not yet reported. */
  overflowFrames = 0;
  #overflowUnreported = 0;
  #framesToOverflow = 0;

  constructor(options: {
    /** Budget for messages from the node. */
    budget: TokenBucket;
    queueFrames: number;
    clock: Clock;
    log: Logger;
    onLinkClosed: (code: number) => void;
    /** Gets each frame of the far end, after the listener. */
    onAudio: (frame: Uint8Array) => void;
  }) {
    this.#clock = options.clock;
    this.#budget = options.budget;
    this.#queue = new PlayoutQueue(options.queueFrames);
    this.#log = options.log;
    this.#onLinkClosed = options.onLinkClosed;
    this.#onAudio = options.onAudio;
  }

  get isLinked(): boolean {
    return this.#link !== undefined;
  }

  /** When the last frame of the line came; the epoch before the first one. */
  get heardAt(): Date {
    return new Date(this.#capturedAtMs);
  }

  /** Another client begins with an empty queue; the same client finds its own after a reconnect. */
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
    this.#source.arrived((audio.length * FRAME_MS) / FRAME_BYTES, nowMs);
    let dropped = this.#queue.push(audio);
    if (this.#source.isLive && nowMs - this.#capturedAtMs > LINE_IDLE_MS)
      dropped += this.#queue.cut(LIVE_FRAMES_MAX);
    if (dropped > 0) {
      this.overflowFrames += dropped;
      this.#overflowUnreported += dropped;
    }
    this.#pump();
  }

  /** Reports `name` to the listener when all audio before it was played. */
  mark(name: string): void {
    this.#queue.mark(name);
    this.#noteMarks();
    this.#reportMarks();
  }

  /** Calls `done` once, when no audio of the client is left to play. */
  whenPlayed(done: () => void): void {
    this.#onPlayed = done;
    this.#checkPlayed();
  }

  /** Keys that are pressed before there is a link are sent when there is one. */
  press(digits: string): void {
    if (this.#link !== undefined) this.#send({ type: 'dtmf', digits });
    else if (this.#keys.length < KEYS_MAX) this.#keys.push(digits);
    else this.#log.warn({}, 'keys not pressed: the call has no audio yet, and too many keys are waiting');
  }

  /** Drops the audio not played yet, here and at the node, and reports to the listener how much was played. */
  clear(): void {
    const { frames: dropped, marks } = this.#queue.clear();
    const pending = { marks: [...this.#marksSent.map(({ name }) => name), ...marks], dropped };
    this.#marksSent = [];
    if (this.#link === undefined || this.#sent === this.#played || this.#clears.size >= CLEARS_MAX) {
      this.#reportCleared(pending, 0);
      return;
    }
    this.#clearId += 1;
    this.#clears.set(this.#clearId, pending);
    this.#send({ type: 'clear', id: this.#clearId });
  }

  /** Uses the link that the node opened, instead of any earlier one. */
  connect(link: WebSocket): void {
    this.#disconnect()?.close(MEDIA_CLOSE.replaced, 'a newer media link');
    this.#link = link;
    for (const digits of this.#keys.splice(0)) this.#send({ type: 'dtmf', digits });
    const limiter = new FrameLimiter({
      clock: this.#clock,
      budget: this.#budget,
      socket: link,
      onExceeded: (frames) =>
        this.#log.warn({ frames }, 'a node sends audio much faster than real time: it is read later'),
    });
    let isBad = false;
    link.on('message', (data: Buffer, isBinary) => {
      if (this.#link !== link || isBad) return;
      limiter.count();
      try {
        if (isBinary) this.#onCapture(data);
        else this.#onText(data.toString());
      } catch (error) {
        if (!(error instanceof MediaFrameError)) throw error;
        // The node may send on until it reads the close.
        isBad = true;
        this.#log.warn({ err: error }, 'bad frame on a media link');
        link.close(MEDIA_CLOSE.protocolError, 'bad frame');
      }
    });
    link.on('error', (error) => this.#log.debug({ err: error }, 'media link error'));
    link.on('close', (code) => {
      limiter.stop();
      if (this.#link !== link) return;
      this.#disconnect();
      this.#onLinkClosed(code);
    });
  }

  /** Ends it, and closes the link with this code. */
  stop(code: number, reason: string): void {
    this.#listener = undefined;
    this.#onPlayed = undefined;
    this.#disconnect()?.close(code, reason);
    this.#queue.clear();
  }

  #disconnect(): WebSocket | undefined {
    const link = this.#link;
    this.#link = undefined;
    // The audio under way is lost: no report will say that it was played.
    for (const [id, pending] of this.#clears) this.#endClear(id, pending, 0);
    for (const { name } of this.#marksSent.splice(0)) this.#listener?.mark(name);
    this.#sent = 0;
    this.#granted = 0;
    this.#played = 0;
    this.#checkPlayed();
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
    if (this.#overflowUnreported > 0 && this.#framesToOverflow <= 0) this.#reportOverflow();
    this.#listener?.audio(audio);
    this.#onAudio(audio);
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

  #progress(reported: number): void {
    // Bounded: a node may report more than it was sent.
    const played = Math.min(reported, this.#sent);
    if (played <= this.#played) return;
    this.#playedSinceClear += played - this.#played;
    this.#played = played;
    this.#reportMarks();
    this.#checkPlayed();
  }

  #checkPlayed(): void {
    const isWaiting = this.#queue.length > 0 || this.#queue.hasRest || this.#clears.size > 0;
    if (this.#onPlayed === undefined || isWaiting || this.#played < this.#sent) return;
    const done = this.#onPlayed;
    this.#onPlayed = undefined;
    done();
  }

  #pump(): void {
    const link = this.#link;
    if (link === undefined || link.readyState !== link.OPEN) return;
    // A node that takes nothing must not fill the memory, whatever it grants.
    while (this.#sent < this.#granted && link.bufferedAmount < UNSENT_BYTES_MAX) {
      const audio = this.#queue.shift();
      if (audio === undefined) return;
      link.send(encodePlayout({ sequence: this.#sent, isLive: this.#source.isLive, audio }));
      this.#sent += 1;
      this.#noteMarks();
    }
  }

  /** Marks without audio before them in the queue now wait for the audio that was sent. */
  #noteMarks(): void {
    for (const name of this.#queue.takeMarks()) this.#marksSent.push({ name, below: this.#sent });
    if (this.#marksSent.length > MARKS_SENT_MAX)
      this.#marksSent.splice(0, this.#marksSent.length - MARKS_SENT_MAX);
  }

  #reportMarks(): void {
    while ((this.#marksSent[0]?.below ?? Number.POSITIVE_INFINITY) <= this.#played) {
      const mark = this.#marksSent.shift();
      if (mark !== undefined) this.#listener?.mark(mark.name);
    }
  }

  #endClear(id: number, pending: PendingClear, dropped: number): void {
    this.#clears.delete(id);
    this.#reportCleared(pending, dropped);
  }

  #reportCleared({ marks, dropped }: PendingClear, droppedAtNode: number): void {
    const playedMs = this.#playedSinceClear * FRAME_MS;
    this.#playedSinceClear = 0;
    this.#checkPlayed();
    this.#listener?.cleared({ playedMs, droppedMs: (dropped + droppedAtNode) * FRAME_MS, marks });
  }

  #reportOverflow(): void {
    const droppedMs = this.#overflowUnreported * FRAME_MS;
    this.#overflowUnreported = 0;
    this.#framesToOverflow = OVERFLOW_EVERY_FRAMES;
    this.#listener?.overflow(droppedMs);
  }

  #send(message: ServerMediaMessage): void {
    if (this.#link?.readyState === this.#link?.OPEN) this.#link?.send(JSON.stringify(message));
  }
}
