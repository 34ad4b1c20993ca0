// How many frames the modem has to play still, by what it gave and was given: its two directions have one clock. Pure.

/** Frames that were written so shortly before cannot have been there when the modem took its next frame. */
const ON_ITS_WAY_MS = 5;
/** The least that was left in so many frames (1 s) is more than the modem needs. */
const WINDOW_FRAMES = 50;
/** A pause comes more rarely than once in so many frames (5 s). */
const RARE_FRAMES = 250;

export class LineLevel {
  #held = 0;
  /** Of those, frames that were written at `#writtenAtMs` or a little before. */
  #onTheirWay = 0;
  #writtenAtMs = Number.NEGATIVE_INFINITY;
  #windowMin = Number.POSITIVE_INFINITY;
  #windowLeft = WINDOW_FRAMES;
  /** Frames since it ran dry; and whether it had not for long, before what it gives now. */
  #sinceDry = Number.POSITIVE_INFINITY;
  #isDryRarely = true;

  /**
   * It gave so many frames at once, and has played as many; where it had fewer it played silence. How many it is to be
   * given for them: after a pause of this host not those whose time is over, but all to a modem that gives in bursts,
   * which runs dry again and again.
   */
  gave(frames: number, nowMs: number): number {
    const isSameBurst = nowMs - this.#writtenAtMs < ON_ITS_WAY_MS;
    if (!isSameBurst) {
      this.#onTheirWay = 0;
      this.#isDryRarely = this.#sinceDry >= RARE_FRAMES;
    }
    const left = this.#held - this.#onTheirWay - frames;
    this.#held = Math.max(0, left) + this.#onTheirWay;
    this.#windowMin = Math.min(this.#windowMin, left);
    this.#windowLeft -= frames;
    this.#sinceDry += frames;
    if (left >= 0) return frames;
    this.#sinceDry = 0;
    return this.#isDryRarely ? Math.max(isSameBurst ? 0 : 1, frames + left) : frames;
  }

  /**
   * Whether it is to be given one now. Not when a frame was left over all the time: one that came too late once would
   * make everything behind it late for the rest of the call. Left out, nothing is missing: it had enough.
   */
  takes(): boolean {
    if (this.#windowLeft > 0) return true;
    const hasSurplus = this.#windowMin >= 1;
    this.#windowLeft = WINDOW_FRAMES;
    this.#windowMin = Number.POSITIVE_INFINITY;
    return !hasSurplus;
  }

  given(nowMs: number): void {
    this.#held += 1;
    this.#onTheirWay += 1;
    this.#writtenAtMs = nowMs;
  }
}
