// Status callbacks to apps: in order for each call or text, a few at once, and no more than fit into a bounded queue.
import { KeyedQueue } from '#shared/keyed-queue.ts';
import { Semaphore } from '#shared/semaphore.ts';
import { BotError } from '../bridge/bot.ts';
import { askTwilioApp, type TwilioRequest } from '../bridge/twilio-request.ts';

/** Callbacks that are sent at once; each takes 15 s at most. */
const RUNNING_MAX = 32;

/** An app that hangs must not fill the memory. */
const WAITING_MAX = 1_000;

export class Callbacks {
  readonly #authToken: string;
  readonly #signal: AbortSignal;
  readonly #onNote: (words: string) => void;
  /** By call or text. */
  readonly #queue = new KeyedQueue();
  readonly #running = new Semaphore(RUNNING_MAX);

  constructor(
    authToken: string,
    { signal, onNote }: { signal: AbortSignal; onNote: (words: string) => void },
  ) {
    this.#authToken = authToken;
    this.#signal = signal;
    this.#onNote = onNote;
  }

  /** Sends it after the earlier ones of `key`. One that fails is dropped, with a note, as Twilio does. */
  send(key: string, request: Omit<TwilioRequest, 'authToken'>): void {
    if (this.#queue.size >= WAITING_MAX) {
      this.#onNote(`a callback to ${request.url} was dropped: ${WAITING_MAX} others wait`);
      return;
    }
    void this.#queue.run(key, () => this.#running.run(() => this.#post(request)));
  }

  /** Resolves when the callbacks of `key` so far were sent, or dropped. */
  sent(key: string): Promise<void> {
    return this.#queue.run(key, () => Promise.resolve());
  }

  async #post(request: Omit<TwilioRequest, 'authToken'>): Promise<void> {
    if (isAborted(this.#signal)) return;
    try {
      await askTwilioApp({ ...request, authToken: this.#authToken }, this.#signal);
    } catch (error) {
      if (isAborted(this.#signal)) return;
      this.#onNote(`a callback failed: ${error instanceof BotError ? error.message : String(error)}`);
    }
  }
}

// A function, because the compiler must not assume that the value stays the same across an await.
const isAborted = ({ aborted }: AbortSignal): boolean => aborted;
