// The bus of a single instance, in its process.
import { type Clock, withTimeout } from '#shared/clock.ts';
import { type Bus, type BusEvent, type Finding, NoAnswer, NoResponder, type Responder } from './bus.ts';

/** Listeners are called before `publish` returns. */
export class LocalBus implements Bus {
  readonly isConnected = true;
  readonly #clock: Clock;
  readonly #listeners: Array<(event: BusEvent) => void> = [];
  readonly #responders = new Map<string, Responder>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  trouble(): undefined {
    return undefined;
  }

  publish(event: BusEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  subscribe(listener: (event: BusEvent) => void): void {
    this.#listeners.push(listener);
  }

  /** Asks nothing: a request finds its responder at once. */
  find(): Finding {
    return { askedAt: this.#clock.now(), served: Promise.resolve() };
  }

  async request(subject: string, request: unknown, { timeoutMs }: { timeoutMs: number }): Promise<unknown> {
    const responder = this.#responders.get(subject);
    if (responder === undefined) throw new NoResponder(`no part serves ${subject}`);
    const answer = responder(request).catch((error: unknown) => {
      throw new NoAnswer(`serving ${subject} failed`, { cause: error });
    });
    return withTimeout(this.#clock, answer, timeoutMs, () => new NoAnswer(`no answer in ${timeoutMs} ms`));
  }

  serve(subject: string, responder: Responder): () => void {
    this.#responders.set(subject, responder);
    return () => {
      if (this.#responders.get(subject) === responder) this.#responders.delete(subject);
    };
  }

  async stop(): Promise<void> {}
}
