// A call without a client's stream: tools speak and listen on it in turns. One tool at a time; without tools it is hung up.
import { randomUUID } from 'node:crypto';
import type { Clock, Timer } from '#shared/clock.ts';
import { STREAM_CLOSE } from '#shared/voice/close-code.ts';
import { SAMPLE_RATE_HZ } from '#shared/voice/media.ts';
import { Refusal } from '../domain/refusal.ts';
import { type HeardTurn, Turn } from '../hearing/turn.ts';
import type { CallRow } from '../store/messages/calls.ts';
import type { CallSession } from '../voice/call-session.ts';
import type { StreamClient } from '../voice/stream-client.ts';

/** An agent that uses no tool for this long has gone. It may think between two tools. */
const IDLE_MS = 60_000;
/** How long speech waits for the answer of the far end. */
const ANSWER_WAIT_MS = 25_000;
/** Beyond the length of the speech: the line must play it. */
const PLAY_GRACE_MS = 10_000;
const KEYS_MAX = 64;

type Closing = { code: number; reason: string };

/** The call has ended. */
export class CallOver extends Error {
  override name = 'CallOver';
}

interface SpokenCallParts {
  session: CallSession;
  clock: Clock;
  /** The call has ended, or a client has opened its stream. */
  onGone(): void;
}

export class SpokenCall implements StreamClient {
  readonly undeliveredFrames = 0;
  readonly #parts: SpokenCallParts;
  readonly #turn = new Turn();
  #isAnswered = false;
  #hasEnded = false;
  #closing: Closing | undefined;
  #keys = '';
  #isBusy = false;
  #isGone = false;
  #idle: Timer | undefined;
  readonly #over = new AbortController();
  /** The mark at the end of what is spoken; undefined once it was played. */
  #unplayed: string | undefined;
  /** Wakes the tool that waits. */
  #wake: () => void = () => undefined;

  constructor(parts: SpokenCallParts) {
    this.#parts = parts;
    this.#awaitTool();
  }

  get state(): 'dialing' | 'ringing' | 'active' | 'ended' {
    if (this.#hasEnded) return 'ended';
    return this.#isAnswered ? 'active' : this.#parts.session.call.state;
  }

  /** Aborted when nothing more can be said: with `CallOver`, or with a `Refusal` once a client has the stream. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  get #isPlayed(): boolean {
    return this.#unplayed === undefined;
  }

  get call(): CallRow {
    return this.#parts.session.call;
  }

  /** Runs a tool on the call. Throws `Refusal` `speech_in_progress` while another one runs. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isBusy)
      throw new Refusal(
        'speech_in_progress',
        'Another tool speaks or listens on this call. Wait for its answer.',
      );
    this.#isBusy = true;
    this.#idle?.cancel();
    try {
      return await work();
    } finally {
      this.#isBusy = false;
      this.#awaitTool();
    }
  }

  /**
   * Plays 16 kHz samples once the far end has answered. True when it has heard them; false if it has not answered, or the call has ended.
   * Throws `Refusal`, and the signal's reason: then the far end hears no more.
   */
  async play(samples: Int16Array, signal: AbortSignal): Promise<boolean> {
    const { session } = this.#parts;
    await this.#until(() => this.#isAnswered, ANSWER_WAIT_MS, signal);
    if (!this.#isAnswered || this.#hasEnded) return false;
    // A name that no client of the stream has chosen.
    const mark = randomUUID();
    this.#unplayed = mark;
    session.play(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
    session.mark(mark);
    const speechMs = (samples.length * 1_000) / SAMPLE_RATE_HZ;
    try {
      await this.#until(() => this.#isPlayed, speechMs + PLAY_GRACE_MS, signal);
    } catch (error) {
      session.clear();
      throw error;
    }
    if (this.#isPlayed) return true;
    if (this.state === 'ended') return false;
    session.clear();
    throw new Refusal('phone_node_error', 'The modem did not play the speech.');
  }

  /** Waits until the far end has said something and fallen silent, up to `waitMs`. Undefined if it said nothing. Throws as `play`. */
  async hear(waitMs: number, signal: AbortSignal): Promise<HeardTurn | undefined> {
    await this.#until(() => this.#turn.isReady, waitMs, signal);
    return this.#turn.take();
  }

  /** Returns and forgets the keys that the far end pressed. */
  takeKeys(): string {
    const keys = this.#keys;
    this.#keys = '';
    return keys;
  }

  /** Undoes `hear` and `takeKeys`, for the next tool. */
  putBack(turn: HeardTurn, keys: string): void {
    this.#turn.putBack(turn);
    this.#keys = (keys + this.#keys).slice(-KEYS_MAX);
  }

  audio(frame: Uint8Array): void {
    // Before the answer the far end is the network: it rings.
    if (!this.#isAnswered) return;
    this.#turn.add(frame);
    if (this.#turn.isReady) this.#wake();
  }

  answered(): void {
    this.#isAnswered = true;
    this.#wake();
  }

  mark(name: string): void {
    if (name !== this.#unplayed) return;
    this.#unplayed = undefined;
    this.#wake();
  }

  digit(digit: string): void {
    this.#keys = (this.#keys + digit).slice(-KEYS_MAX);
  }

  cleared(): void {}

  overflow(): void {}

  /** Words from before the end stay for the next tool. */
  ended(): void {
    this.#hasEnded = true;
    this.#over.abort(new CallOver());
    this.#wake();
    if (!this.#isBusy) this.#awaitTool();
  }

  close(code: number, reason: string): void {
    this.#closing = { code, reason };
    this.#over.abort(refusalOf(code, reason));
    this.#gone();
  }

  #gone(): void {
    this.#idle?.cancel();
    this.#isGone = true;
    this.#parts.onGone();
    this.#wake();
  }

  #awaitTool(): void {
    this.#idle?.cancel();
    if (this.#isGone) return;
    if (this.#hasEnded && !this.#turn.hasSound && this.#keys === '') {
      this.#gone();
      return;
    }
    this.#idle = this.#parts.clock.after(IDLE_MS, () => {
      this.#parts.session.leave(this, 'closed');
      this.#hasEnded = true;
      this.#gone();
    });
  }

  /** Resolves when `isMet`, when the time is over, or when the call has ended. */
  #until(isMet: () => boolean, waitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (outcome: () => void): void => {
        timer.cancel();
        signal.removeEventListener('abort', onAbort);
        this.#wake = () => undefined;
        outcome();
      };
      const onAbort = (): void => finish(() => reject(signal.reason));
      const timer = this.#parts.clock.after(waitMs, () => finish(resolve));
      signal.addEventListener('abort', onAbort, { once: true });
      this.#wake = () => {
        const { code, reason } = this.#closing ?? {};
        if (code !== undefined) finish(() => reject(refusalOf(code, reason ?? '')));
        else if (this.#hasEnded || isMet()) finish(resolve);
      };
      if (signal.aborted) onAbort();
      else this.#wake();
      // Not by a timer: the agent waits for nothing.
      if (waitMs <= 0) finish(resolve);
    });
  }
}

function refusalOf(code: number, reason: string): Refusal {
  if (code === STREAM_CLOSE.replaced) return streamOpen();
  if (code === STREAM_CLOSE.restart)
    return new Refusal('restarting', 'The service is restarting. Send the request again.');
  return new Refusal('phone_node_error', `The call has no audio: ${reason}`);
}

export const streamOpen = (): Refusal =>
  new Refusal('stream_open', 'A client has the stream of this call: speak and listen there.');
