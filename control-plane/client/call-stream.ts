// The audio of a call: samples in and out, and control messages.
import type WebSocket from 'ws';
import { type ClientFrame, serverFrameSchema, VOICE_SUBPROTOCOL } from '#shared/api/voice-frames.ts';
import { jsonOf } from '#shared/json.ts';
import { FRAME_BYTES, FRAME_MS } from '#shared/voice/media.ts';
import { noAnswer } from './api-error.ts';
import type { ServerFrame } from './api-types.ts';
import { closed, openSocket, textOf } from './socket.ts';
import { type StreamEnd, streamEndOf } from './stream-end.ts';

/** Half a second per message. */
const MESSAGE_BYTES = 25 * FRAME_BYTES;

/** Audio that is sent ahead of time; the service queues 60 s. */
const AHEAD_MS = 20_000;
const AHEAD_MESSAGES = AHEAD_MS / ((MESSAGE_BYTES / FRAME_BYTES) * FRAME_MS);

const CLEAR_TIMEOUT_MS = 5_000;

type Cleared = Extract<ServerFrame, { type: 'cleared' }>;

export interface StreamOptions {
  /** 20 ms from the far end: signed 16 bit little-endian, mono, 16 kHz. */
  onAudio?: (frame: Uint8Array) => void;
  onEvent?: (event: ServerFrame) => void;
  signal?: AbortSignal | undefined;
}

/** Gets each event, and undefined when the stream has ended. */
type Waiter = (event: ServerFrame | undefined) => void;

export class CallStream {
  readonly #socket: WebSocket;
  /** Resolves when the stream has ended, for whatever reason. Never rejects. */
  readonly ended: Promise<StreamEnd>;
  readonly #waiting: Set<Waiter>;
  #marks = 0;

  private constructor(socket: WebSocket, waiting: Set<Waiter>) {
    this.#socket = socket;
    this.#waiting = waiting;
    this.ended = closed(socket).then(streamEndOf);
    // One listener for all: a minute of speech waits for more marks than an emitter allows listeners.
    socket.once('close', () => {
      for (const waiter of [...waiting]) waiter(undefined);
    });
  }

  /** Opens the stream, which answers a ringing call. Throws `ApiError`. */
  static async open(
    { url, token }: { url: string; token: string },
    { onAudio, onEvent, signal }: StreamOptions,
  ): Promise<CallStream> {
    const waiting = new Set<Waiter>();
    const socket = await openSocket({
      url,
      token,
      signal,
      protocols: [VOICE_SUBPROTOCOL],
      onMessage(data, isBinary) {
        if (isBinary) {
          onAudio?.(data);
          return;
        }
        const event = eventOf(data);
        // Unknown events, from a later version of the service, are ignored.
        if (event === undefined) return;
        onEvent?.(event);
        for (const waiter of [...waiting]) waiter(event);
      },
    });
    return new CallStream(socket, waiting);
  }

  /** Sends audio of any even length at once. Audio beyond the service's queue is lost: see `play`. */
  send(audio: Uint8Array): void {
    for (let start = 0; start < audio.length; start += MESSAGE_BYTES)
      this.#socket.send(audio.subarray(start, start + MESSAGE_BYTES), { binary: true });
  }

  /** Sends audio of any length at the speed at which it is played. True when all of it was played, false when it was cleared or cut off. */
  async play(audio: Uint8Array): Promise<boolean> {
    const played: Promise<boolean>[] = [];
    for (let start = 0; start < audio.length; start += MESSAGE_BYTES) {
      this.send(audio.subarray(start, start + MESSAGE_BYTES));
      played.push(this.mark());
      const due = played[played.length - 1 - AHEAD_MESSAGES];
      if (due !== undefined && !(await due)) return false;
    }
    return (await Promise.all(played)).every(Boolean);
  }

  /** True when all audio before the mark was played; false when that was cleared, or the stream has ended. */
  mark(name: string = this.#nextMark()): Promise<boolean> {
    this.#sendFrame({ type: 'mark', name });
    return this.#until((event) => {
      if (event.type === 'mark' && event.name === name) return true;
      return event.type === 'cleared' && event.marks.includes(name) ? false : undefined;
    }).then((isReached) => isReached === true);
  }

  /** Drops the audio that was not played. Throws `ApiError` when the service does not confirm. */
  async clear(): Promise<Cleared> {
    this.#sendFrame({ type: 'clear' });
    const timeout = AbortSignal.timeout(CLEAR_TIMEOUT_MS);
    const cleared = await this.#until((event) => (event.type === 'cleared' ? event : undefined), timeout);
    if (cleared === undefined) throw noAnswer('timeout', 'the service did not confirm the clear');
    return cleared;
  }

  /** Presses keys: `0-9*#A-D`, 32 at most. They are lost before the first audio of the far end. */
  press(digits: string): void {
    this.#sendFrame({ type: 'dtmf', digits });
  }

  /** Hangs up when the far end has heard all that was sent. `ended` resolves then. */
  finish(): void {
    this.#sendFrame({ type: 'hangup', when: 'played' });
  }

  /** Hangs up. */
  close(): void {
    this.#socket.close();
  }

  #nextMark(): string {
    this.#marks += 1;
    return `mark ${this.#marks}`;
  }

  #sendFrame(frame: ClientFrame): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(frame));
  }

  /** The result of `pick` for an event; undefined when the stream or the time ends first. */
  async #until<T>(
    pick: (event: ServerFrame) => T | undefined,
    timeout?: AbortSignal,
  ): Promise<T | undefined> {
    if (this.#socket.readyState !== this.#socket.OPEN) return undefined;
    return new Promise((resolve) => {
      const finish = (value: T | undefined): void => {
        this.#waiting.delete(waiter);
        resolve(value);
      };
      const waiter: Waiter = (event) => {
        if (event === undefined) return finish(undefined);
        const picked = pick(event);
        if (picked !== undefined) finish(picked);
      };
      this.#waiting.add(waiter);
      timeout?.addEventListener('abort', () => finish(undefined), { once: true });
    });
  }
}

const eventOf = (data: Uint8Array): ServerFrame | undefined =>
  serverFrameSchema.safeParse(jsonOf(textOf(data))).data;
