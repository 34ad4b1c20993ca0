// Requests that take long end when the token of their caller is revoked: it must learn nothing more, and do nothing more.
import { every } from '#shared/clock.ts';
import type { Base } from '../bus/base.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Subscription } from '../domain/subscription.ts';

/** A revocation whose event was lost ends a request within this time. */
const CHECK_EVERY_MS = 5_000;

/** The sender of a request. */
interface Caller {
  subscription: Subscription;
  /** Throws `Refusal` `unauthorized` once the token is no longer valid. */
  check(): Promise<unknown>;
}

interface Watched {
  subscriptionId: string;
  check(): void;
}

export class ValidCallers {
  readonly #clock: Base['clock'];
  readonly #watched = new Set<Watched>();

  constructor({ bus, clock }: Pick<Base, 'bus' | 'clock'>) {
    this.#clock = clock;
    bus.subscribe((event) => {
      if (event.kind !== 'subscription_changed') return;
      for (const each of this.#watched) if (each.subscriptionId === event.subscriptionId) each.check();
    });
  }

  /** Runs `work` with a signal that aborts when `signal` does, or the token is no longer valid: then it throws `Refusal` `unauthorized`. */
  async during<T>(
    { check, subscription }: Caller,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const revoked = new AbortController();
    const watched: Watched = {
      subscriptionId: subscription.id,
      // A database that does not answer proves nothing about a token.
      check: () =>
        void check().catch((error: unknown) => {
          if (error instanceof Refusal) revoked.abort(error);
        }),
    };
    const timer = every(this.#clock, CHECK_EVERY_MS, watched.check);
    this.#watched.add(watched);
    try {
      const result = await work(AbortSignal.any([signal, revoked.signal]));
      // An outcome that the database cannot vouch for is still better known than lost.
      await check().catch((error: unknown) => {
        if (error instanceof Refusal) throw error;
      });
      return result;
    } catch (error) {
      // Another instance does not say why it stopped.
      throw revoked.signal.aborted ? revoked.signal.reason : error;
    } finally {
      timer.cancel();
      this.#watched.delete(watched);
    }
  }
}
