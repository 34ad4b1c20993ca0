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

/** The lowest free nonce after one that the RPC accepted at `atMs`. */
export function nonceAfter(last: { nonce: number; atMs: number } | undefined, nowMs: number): number {
  if (last === undefined) return 0;
  const ageMs = nowMs - last.atMs;
  return ageMs >= 0 && ageMs < NONCE_MEMORY_MS ? last.nonce + 1 : 0;
}

/** Of a wallet that only this process uses. */
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
        nonceMin: nonceAfter(this.#last, this.#clock.now()),
        taken: (nonce) => {
          this.#last = { nonce, atMs: this.#clock.now() };
        },
      }),
    );
    this.#turn = done.catch(() => undefined);
    return done;
  }
}
