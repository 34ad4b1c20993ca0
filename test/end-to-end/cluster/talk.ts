// A call whose client talks, hears its echo from the far end, and opens the stream again wherever it breaks.
import { setTimeout as pause } from 'node:timers/promises';
import WebSocket from 'ws';
import { until } from '../../fixtures/until.ts';
import type { Account } from './texts.ts';

/** 100 ms of a tone, sent every 100 ms. */
const BATCH_MS = 100;
const BATCH = Buffer.from(
  Int16Array.from(
    { length: 16 * BATCH_MS },
    (_, index) => 12_000 * Math.sin((2 * Math.PI * 400 * index) / 16_000),
  ).buffer,
);
/** Louder than noise of the line. */
const LOUD = 2_000;
const REOPEN_MS = 100;
const REOPEN_TIMEOUT_MS = 30_000;
const HEARD_TIMEOUT_MS = 20_000;

/** Closes after which a client opens the stream again: it broke, its instance stops, or it is not up yet. */
const BROKEN: ReadonlySet<number> = new Set([1006, 1012]);

export class Talk {
  readonly callId: string;
  readonly #urls: readonly string[];
  readonly #account: Account;
  /** Index of the instance with the stream. */
  place: number;
  /** Code with which the service ended it; undefined while it goes on. */
  endCode: number | undefined;
  #socket: WebSocket | undefined;
  #heardAt = Date.now();
  #longestMs = 0;
  #breaks = 0;
  #isEnding = false;
  readonly #talking: NodeJS.Timeout;

  constructor(callId: string, parts: { urls: readonly string[]; place: number; account: Account }) {
    this.callId = callId;
    this.#urls = parts.urls;
    this.place = parts.place;
    this.#account = parts.account;
    this.#talking = setInterval(() => {
      if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(BATCH);
    }, BATCH_MS);
    this.#open();
  }

  /** Since the last call: how often the stream broke, and the longest time without an echo. */
  takeFigures(): { breaks: number; longestSilenceMs: number } {
    const figures = { breaks: this.#breaks, longestSilenceMs: this.#longestMs };
    this.#breaks = 0;
    this.#longestMs = 0;
    this.#heardAt = Date.now();
    return figures;
  }

  /** Resolves when it hears itself now. */
  async goesOn(what: string): Promise<void> {
    const since = Date.now();
    await until(
      `the echo of ${this.callId} ${what}`,
      () => {
        if (this.endCode !== undefined) throw new Error(`the call ended with ${this.endCode} ${what}`);
        return this.#heardAt > since + BATCH_MS;
      },
      HEARD_TIMEOUT_MS,
    );
  }

  /** Hangs up. */
  async end(): Promise<void> {
    this.#isEnding = true;
    clearInterval(this.#talking);
    const socket = this.#socket;
    socket?.close(1000);
    await until('the stream is closed', () => socket === undefined || socket.readyState === WebSocket.CLOSED);
  }

  #open(): void {
    const url = String(this.#urls[this.place]).replace(/^http/, 'ws');
    const socket = new WebSocket(`${url}/voice/stream/${this.callId}`, ['voice.v1'], {
      headers: this.#account.headers,
      handshakeTimeout: 5_000,
    });
    this.#socket = socket;
    let isOpen = false;
    socket.on('open', () => {
      isOpen = true;
    });
    socket.on('error', () => undefined);
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary && isLoud(data)) this.#onEcho();
    });
    socket.on('close', (code) => {
      if (this.#isEnding) return;
      if (isOpen) this.#breaks += 1;
      if (isOpen && !BROKEN.has(code)) this.endCode = code;
      else void this.#reopen();
    });
  }

  async #reopen(): Promise<void> {
    if (Date.now() - this.#heardAt > REOPEN_TIMEOUT_MS) this.endCode = 1006;
    await pause(REOPEN_MS);
    this.place = (this.place + 1) % this.#urls.length;
    if (!this.#isEnding && this.endCode === undefined) this.#open();
  }

  #onEcho(): void {
    const now = Date.now();
    this.#longestMs = Math.max(this.#longestMs, now - this.#heardAt);
    this.#heardAt = now;
  }
}

function isLoud(frame: Buffer): boolean {
  for (let at = 0; at + 1 < frame.length; at += 32) if (Math.abs(frame.readInt16LE(at)) > LOUD) return true;
  return false;
}
