// The audio of a call: samples in and out, and what is said beside them.
import type WebSocket from 'ws';
import {
  type ClientFrame,
  type ServerFrame,
  serverFrameSchema,
  VOICE_SUBPROTOCOL,
} from '#shared/api/voice-frames.ts';
import { FRAME_BYTES, FRAME_MS } from '#shared/voice/media.ts';
import { noAnswer } from './api-error.ts';
import { closed, openSocket } from './socket.ts';
import { type StreamEnd, streamEndOf } from './stream-end.ts';

/** Half a second in one message. */
const MESSAGE_BYTES = 25 * FRAME_BYTES;

/** Audio that is sent ahead; the service queues 60 s. */
const AHEAD_MS = 20_000;
const AHEAD_MESSAGES = AHEAD_MS / ((MESSAGE_BYTES / FRAME_BYTES) * FRAME_MS);

const CLEAR_TIMEOUT_MS = 5_000;

export type Cleared = Extract<ServerFrame, { type: 'cleared' }>;

export interface StreamOptions {
  /** 20 ms of what the far end says: signed 16 bit little-endian, mono, 16 kHz. */
  onAudio?: (frame: Buffer) => void;
  onEvent?: (event: ServerFrame) => void;
  signal?: AbortSignal | undefined;
}

export class CallStream {
  readonly #socket: WebSocket;
  /** Resolves when the stream has ended, however it did. Never rejects. */
  readonly ended: Promise<StreamEnd>;
  readonly #waiting: Set<(event: ServerFrame) => void>;
  #marks = 0;

  private constructor(socket: WebSocket, waiting: Set<(event: ServerFrame) => void>) {
    this.#socket = socket;
    this.#waiting = waiting;
    this.ended = closed(socket).then(streamEndOf);
  }

  /** Answers a call that rings. Throws `ApiError`. */
  static async open(
    { url, token }: { url: string; token: string },
    { onAudio, onEvent, signal }: StreamOptions,
  ): Promise<CallStream> {
    const waiting = new Set<(event: ServerFrame) => void>();
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
        // Events that only a later version of the service knows are ignored.
        if (event === undefined) return;
        onEvent?.(event);
        for (const waiter of [...waiting]) waiter(event);
      },
    });
    return new CallStream(socket, waiting);
  }

  /** Sends audio of any even length at once; what is more than the service's queue is lost: see `play`. */
  send(audio: Uint8Array): void {
    for (let start = 0; start < audio.length; start += MESSAGE_BYTES)
      this.#socket.send(audio.subarray(start, start + MESSAGE_BYTES), { binary: true });
  }

  /** Sends audio of any length no faster than it is played; true when all was played, false when it was cleared or cut. */
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

  /** True when all audio before it was played; false when that was cleared or the stream has ended. */
  mark(name = this.#nextMark()): Promise<boolean> {
    this.#tell({ type: 'mark', name });
    return this.#until((event) => {
      if (event.type === 'mark' && event.name === name) return true;
      return event.type === 'cleared' && event.marks.includes(name) ? false : undefined;
    }).then((isReached) => isReached === true);
  }

  /** Throws away what was not played. Throws `ApiError` when the service does not say what became of it. */
  async clear(): Promise<Cleared> {
    this.#tell({ type: 'clear' });
    const timeout = AbortSignal.timeout(CLEAR_TIMEOUT_MS);
    const cleared = await this.#until((event) => (event.type === 'cleared' ? event : undefined), timeout);
    if (cleared === undefined) throw noAnswer('timeout', 'the clear was not answered');
    return cleared;
  }

  /** Presses keys: `0-9*#A-D`, 32 at most. They are lost before the first audio of the far end has come. */
  press(digits: string): void {
    this.#tell({ type: 'dtmf', digits });
  }

  /** Hangs up. */
  close(): void {
    this.#socket.close();
  }

  #nextMark(): string {
    this.#marks += 1;
    return `mark ${this.#marks}`;
  }

  #tell(frame: ClientFrame): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(frame));
  }

  /** The result of `pick` for an event; undefined when the stream ends first, or the time. */
  async #until<T>(
    pick: (event: ServerFrame) => T | undefined,
    timeout?: AbortSignal,
  ): Promise<T | undefined> {
    if (this.#socket.readyState !== this.#socket.OPEN) return undefined;
    return new Promise((resolve) => {
      const finish = (value: T | undefined): void => {
        this.#waiting.delete(waiter);
        this.#socket.off('close', onEnd);
        resolve(value);
      };
      const onEnd = (): void => finish(undefined);
      const waiter = (event: ServerFrame): void => {
        const picked = pick(event);
        if (picked !== undefined) finish(picked);
      };
      this.#waiting.add(waiter);
      this.#socket.once('close', onEnd);
      timeout?.addEventListener('abort', onEnd, { once: true });
    });
  }
}

function eventOf(data: Buffer): ServerFrame | undefined {
  try {
    return serverFrameSchema.safeParse(JSON.parse(data.toString())).data;
  } catch {
    return undefined;
  }
}
