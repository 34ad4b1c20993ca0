// How many frames the modem has to play still, by what it gave and was given: its two directions have one clock. Pure.

/** What was written so shortly before cannot have been there when the modem took its next frame. */
const ON_ITS_WAY_MS = 5;
/** The least that was left in so many frames (1 s) is more than the modem needs. */
const WINDOW_FRAMES = 50;

export class LineLevel {
  #held = 0;
  /** Of those, frames that were written at `#writtenAtMs` or a little before. */
  #onTheirWay = 0;
  #writtenAtMs = Number.NEGATIVE_INFINITY;
  #windowMin = Number.POSITIVE_INFINITY;
  #windowLeft = WINDOW_FRAMES;

  /** It gave so many frames at once, and has played as many; where it had fewer it played silence. */
  gave(frames: number, nowMs: number): void {
    if (nowMs - this.#writtenAtMs >= ON_ITS_WAY_MS) this.#onTheirWay = 0;
    const left = this.#held - this.#onTheirWay - frames;
    this.#held = Math.max(0, left) + this.#onTheirWay;
    this.#windowMin = Math.min(this.#windowMin, left);
    this.#windowLeft -= frames;
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
