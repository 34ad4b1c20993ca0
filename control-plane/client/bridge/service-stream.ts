// The service's end of a bridged call: its stream, which is opened again when it breaks.
import type WebSocket from 'ws';
import { type StreamProtocol, VOICE_SUBPROTOCOL } from '#shared/api/voice-frames.ts';
import { sleep, systemClock } from '#shared/clock.ts';
import { jsonOf } from '#shared/json.ts';
import { ApiError } from '../api-error.ts';
import type { SimrackClient } from '../simrack-client.ts';
import { closed, openSocket } from '../socket.ts';
import { type StreamEnd, streamEndOf } from '../stream-end.ts';

/** The service keeps a call without a stream for 5 s by default. */
const REOPEN_MS = 5_000;
const REOPEN_PAUSE_MS = 250;

/** A stream that takes no more than this at once makes the bot wait. */
const UNSENT_BYTES_MAX = 4 * 1024 * 1024;

/** The longest audio of a goodbye, and some seconds. */
const GOODBYE_MS = 75_000;

/** A modem and its network hold speech for this long after the service has played it. A `raw` stream hangs up by itself. */
const UNDERWAY_MS = 300;

const GOODBYE = 'simrack bridge: end';

/** The request that is answered when the far end has heard all audio before it. */
const LAST_WORDS: Readonly<Record<StreamProtocol, object>> = {
  raw: { type: 'hangup', when: 'played' },
  twilio: { event: 'mark', mark: { name: GOODBYE } },
  vonage: { action: 'notify', payload: { name: GOODBYE } },
};

interface StreamListener {
  receive(data: Buffer, isBinary: boolean): void;
  reopened(): void;
  pause(): void;
  resume(): void;
}

export class ServiceStream {
  readonly #client: SimrackClient;
  readonly #callId: string;
  readonly #protocol: StreamProtocol;
  readonly #listener: StreamListener;
  #socket: WebSocket | undefined;
  #isWaiting = true;
  #wasOpen = false;
  #isLeaving = false;
  #isClosing = false;
  #isOver = false;
  #leaving: NodeJS.Timeout | undefined;

  constructor(
    client: SimrackClient,
    { callId, protocol }: { callId: string; protocol: StreamProtocol },
    listener: StreamListener,
  ) {
    this.#client = client;
    this.#callId = callId;
    this.#protocol = protocol;
    this.#listener = listener;
  }

  /** Resolves when the stream has ended for good. Throws `ApiError` if it could not be opened at first. */
  async run(signal: AbortSignal): Promise<StreamEnd> {
    try {
      let end = await this.#once(signal);
      while ((end.kind === 'lost' || end.kind === 'restarting') && !this.#isClosing && !signal.aborted) {
        const next = await this.#again(signal);
        if (next === undefined) return end;
        end = next;
      }
      return end;
    } finally {
      this.#isOver = true;
      clearTimeout(this.#leaving);
    }
  }

  send(data: Buffer | string): void {
    const socket = this.#socket;
    if (socket === undefined || this.#isLeaving || socket.readyState !== socket.OPEN) return;
    socket.send(data, { binary: typeof data !== 'string' }, () => this.#pace());
    this.#pace();
  }

  /** Hangs up when the far end has heard all that was sent; at once if the stream was never open. */
  finish(): void {
    // A bot closes its connection after the end of the call, too.
    if (this.#isLeaving || this.#isOver) return;
    this.#isLeaving = true;
    if (!this.#wasOpen) {
      this.close();
      return;
    }
    this.#sayGoodbye();
    this.#closeAfter(GOODBYE_MS);
  }

  /** Hangs up. */
  close(): void {
    this.#isClosing = true;
    this.#socket?.close(1000);
  }

  /** A stream that is being opened again says it then: the service keeps what it has not played. */
  #sayGoodbye(): void {
    const socket = this.#socket;
    if (socket?.readyState === socket?.OPEN) socket?.send(JSON.stringify(LAST_WORDS[this.#protocol]));
  }

  #closeAfter(ms: number): void {
    clearTimeout(this.#leaving);
    this.#leaving = setTimeout(() => this.close(), ms);
  }

  async #again(signal: AbortSignal): Promise<StreamEnd | undefined> {
    const until = Date.now() + REOPEN_MS;
    while (Date.now() < until && !this.#isClosing && !signal.aborted) {
      try {
        return await this.#once(signal, () => this.#listener.reopened());
      } catch (error) {
        if (!(error instanceof ApiError) || error.status === 401) return undefined;
        await sleep(systemClock, REOPEN_PAUSE_MS, signal).catch(() => undefined);
      }
    }
    return undefined;
  }

  /** From the opening of a socket to its end. */
  async #once(signal: AbortSignal, onOpen: () => void = () => undefined): Promise<StreamEnd> {
    // The first messages come together with the end of the upgrade.
    let isOpen = false as boolean;
    const socket = await openSocket({
      ...this.#client.streamAddress(this.#callId, this.#protocol),
      // Only with it has a `raw` stream text frames.
      protocols: this.#protocol === 'raw' ? [VOICE_SUBPROTOCOL] : [],
      signal,
      onMessage: (data, isBinary) => {
        if (!isOpen) onOpen();
        isOpen = true;
        this.#onMessage(Buffer.from(data.buffer, data.byteOffset, data.byteLength), isBinary);
      },
    });
    if (!isOpen) onOpen();
    isOpen = true;
    this.#socket = socket;
    this.#wasOpen = true;
    if (this.#isClosing) socket.close(1000);
    else if (this.#isLeaving) this.#sayGoodbye();
    this.#pace();
    const end = await closed(socket);
    this.#socket = undefined;
    this.#wait(true);
    return streamEndOf(end);
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    if (this.#isLeaving && !isBinary && isGoodbye(data)) this.#closeAfter(UNDERWAY_MS);
    else this.#listener.receive(data, isBinary);
  }

  #pace(): void {
    this.#wait((this.#socket?.bufferedAmount ?? 0) > UNSENT_BYTES_MAX);
  }

  #wait(isWaiting: boolean): void {
    if (isWaiting === this.#isWaiting) return;
    this.#isWaiting = isWaiting;
    if (isWaiting) this.#listener.pause();
    else this.#listener.resume();
  }
}

function isGoodbye(data: Buffer): boolean {
  if (!data.includes(GOODBYE)) return false;
  const message = jsonOf(data.toString()) as { mark?: { name?: string }; payload?: { name?: string } };
  return message.mark?.name === GOODBYE || message.payload?.name === GOODBYE;
}
