// Detects whether a client sends in real time, as a person speaks, or ahead of it, as a program with a ready answer. Pure.

const BUCKET_MS = 1_000;

/** A live source never deviates more from its own pace: chunks of a client, and pauses of its network. */
const SPREAD_MAX_MS = 300;

/** How far the audio is ahead of the elapsed time. */
interface Spread {
  min: number;
  max: number;
}

const nothing = (): Spread => ({ min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY });

export class LiveSourceDetector {
  #leadMs = 0;
  #lastMs: number | undefined;
  #bucketEndMs = 0;
  #current = nothing();
  #previous: Spread | undefined;

  /** True after sending in real time for one second at least, two at most. */
  get isLive(): boolean {
    const { min, max } = this.#current;
    const before = this.#previous;
    return before !== undefined && Math.max(max, before.max) - Math.min(min, before.min) <= SPREAD_MAX_MS;
  }

  /** Records that audio of `audioMs` arrived at `nowMs`. */
  arrived(audioMs: number, nowMs: number): void {
    if (this.#lastMs === undefined) this.#bucketEndMs = nowMs + BUCKET_MS;
    else this.#leadMs -= nowMs - this.#lastMs;
    this.#lastMs = nowMs;
    if (nowMs >= this.#bucketEndMs) {
      this.#previous = this.#current;
      this.#current = nothing();
      this.#bucketEndMs = nowMs + BUCKET_MS;
    }
    this.#current.min = Math.min(this.#current.min, this.#leadMs);
    this.#leadMs += audioMs;
    this.#current.max = Math.max(this.#current.max, this.#leadMs);
  }
}
