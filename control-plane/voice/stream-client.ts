// The client of a call's stream, independent of its protocol.
import type { WebSocket } from 'ws';
import type { Clock } from '#shared/clock.ts';
import type { Answerer } from '#shared/voice/call.ts';
import { STREAM_CLOSE } from '#shared/voice/close-code.ts';
import type { AudioListener } from './audio-bridge.ts';
import type { StreamAllowance } from './stream-allowance.ts';

/** The operations of a client on the call that it streams. */
export interface StreamedCall {
  /** 16 kHz samples, 16 bit little-endian, of even length. */
  play(audio: Uint8Array): void;
  mark(name: string): void;
  clear(): void;
  press(digits: string): void;
  /** Hangs up: at once, or when the far end has heard all audio that came before. */
  finish(when: 'now' | 'played'): void;
}

export interface StreamClient extends AudioListener {
  /** The call is, or has become, active. Called once. */
  answered(): void;
  /** It was judged who answered the call. */
  judged?(answeredBy: Answerer): void;
  /** The call has ended. `cause`: of ITU-T Q.850. */
  ended(cause: number): void;
  /** The stream ends, and the call may go on. */
  close(code: number, reason: string): void;
  /** Frames of the far end that the client did not read in time. */
  readonly undeliveredFrames: number;
}

/** A client that is slower than this, two seconds of audio, misses frames. */
const BUFFERED_BYTES_MAX = 64 * 1024;

/** A client that read nothing for this long is gone. */
const STALLED_MS = 10_000;

/** A peer that does not answer the close frame must not keep the socket. */
const CLOSE_TIMEOUT_MS = 2_000;

/** Sends to a socket without ever waiting for it. */
export class UnblockedSender {
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  #stalledAt: number | undefined;
  /** Messages that were dropped. */
  dropped = 0;

  constructor(socket: WebSocket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
  }

  /** Sends a message that may be dropped: audio. */
  sendOrDrop(data: Uint8Array | string): void {
    if (this.#socket.bufferedAmount <= BUFFERED_BYTES_MAX) {
      this.#stalledAt = undefined;
      this.#socket.send(data);
      return;
    }
    this.dropped += 1;
    this.#stalledAt ??= this.#clock.now();
    if (this.#clock.now() - this.#stalledAt >= STALLED_MS) this.#socket.terminate();
  }

  /** Sends a message that must arrive; a client that does not read it is disconnected. */
  send(message: object): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#socket.bufferedAmount > 2 * BUFFERED_BYTES_MAX) this.#socket.terminate();
    else this.#socket.send(JSON.stringify(message));
  }

  close(code: number, reason: string): void {
    closeSoon(this.#socket, this.#clock, { code, reason });
  }
}

interface MessageOptions {
  clock: Clock;
  allowance: StreamAllowance;
  /** How many audio messages one text message counts for, at least. */
  textCost: number;
  /** A longer message counts once for each `unitBytes`; 64 KiB by default. */
  unitBytes?: number;
  /** The same of text; as `unitBytes` by default. JSON costs more to read than audio. */
  textUnitBytes?: number;
}

/** Calls `onMessage` for each message. When there are too many, closes the socket with 1008 and stops reading. */
export function onMessages(
  socket: WebSocket,
  { allowance, clock, textCost, unitBytes = MESSAGE_UNIT_BYTES, textUnitBytes = unitBytes }: MessageOptions,
  onMessage: (data: Buffer, isBinary: boolean) => void,
): void {
  socket.on('message', (data: Buffer, isBinary) => {
    if (socket.readyState !== socket.OPEN) return;
    const cost = Math.ceil(data.length / (isBinary ? unitBytes : textUnitBytes));
    if (allowance.limit.tryTake(Math.max(cost, isBinary ? 1 : textCost))) {
      onMessage(data, isBinary);
      return;
    }
    closeSoon(socket, clock, { code: STREAM_CLOSE.tooManyMessages, reason: 'too many messages' });
    socket.pause();
  });
}

/** Closes a socket; cuts it off if the peer does not respond. */
export function closeSoon(
  socket: WebSocket,
  clock: Clock,
  { code, reason }: { code: number; reason: string },
): void {
  if (socket.readyState !== socket.OPEN) return;
  const timer = clock.after(CLOSE_TIMEOUT_MS, () => socket.terminate());
  socket.once('close', () => timer.cancel());
  socket.close(code, reason);
}

/** A longer message of plain audio, which costs little to read, counts as several. */
const MESSAGE_UNIT_BYTES = 64 * 1024;
