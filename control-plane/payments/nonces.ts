// The nonces of a relayer's wallet: each signature gets its own, because signatures take turns.
import type { Clock } from '#shared/clock.ts';

/** After this time every node behind an RPC has a transaction that one of them accepted, unless it was dropped. */
const NONCE_MEMORY_MS = 30_000;

/** A turn. */
export interface NonceTurn {
  /** No nonce below it is free, whatever the RPC counts. */
  readonly nonceMin: number;
  /** The RPC has accepted a transaction with this nonce. */
  taken(nonce: number): void;
}

export interface Nonces {
  /** Settles as `work` does. No other turn of the wallet overlaps it. */
  inTurn<T>(work: (turn: NonceTurn) => Promise<T>): Promise<T>;
}

/** The lowest free nonce after one that the RPC accepted `ageMs` ago, by the clock that measured both moments. */
export const nonceAfter = ({ nonce, ageMs }: { nonce: number; ageMs: number }): number =>
  ageMs < NONCE_MEMORY_MS ? nonce + 1 : 0;

/** Nonces of a wallet that only this process uses. */
export class LocalNonces implements Nonces {
  readonly #clock: Clock;
  #turn: Promise<unknown> = Promise.resolve();
  #last: { nonce: number; atMs: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  inTurn<T>(work: (turn: NonceTurn) => Promise<T>): Promise<T> {
    const done = this.#turn.then(() =>
      work({
        nonceMin: this.#nonceMin(),
        taken: (nonce) => {
          this.#last = { nonce, atMs: this.#clock.now() };
        },
      }),
    );
    this.#turn = done.catch(() => undefined);
    return done;
  }

  #nonceMin(): number {
    if (this.#last === undefined) return 0;
    const { nonce, atMs } = this.#last;
    const nowMs = this.#clock.now();
    // A clock that was set back: the memory begins again, and ends.
    this.#last = { nonce, atMs: Math.min(atMs, nowMs) };
    return nonceAfter({ nonce, ageMs: nowMs - this.#last.atMs });
  }
}
