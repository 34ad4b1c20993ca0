// Estimates how many frames the modem still has to play, from the frames in both directions, which share one clock. Pure.

/** Frames written within this time cannot have reached the modem before it took its next frame. */
const ON_ITS_WAY_MS = 5;
/** The least number of frames left over during this many (1 s) is more than the modem needs. */
const WINDOW_FRAMES = 50;
/** A pause of the host is rarer than one in this many frames (5 s). */
const RARE_FRAMES = 250;

export class LineLevel {
  #held = 0;
  /** The frames among those that were written at `#writtenAtMs` or shortly before. */
  #onTheirWay = 0;
  #writtenAtMs = Number.NEGATIVE_INFINITY;
  #windowMin = Number.POSITIVE_INFINITY;
  #windowLeft = WINDOW_FRAMES;
  /** Frames since it ran empty, and whether it had not run empty for a long time before its latest frames. */
  #sinceDry = Number.POSITIVE_INFINITY;
  #isDryRarely = true;

  /**
   * The modem sent this many frames at once, and so played as many; where it had fewer, it played silence. Returns how many
   * frames to write in return. After a pause of this host, frames whose time is over are left out. A modem that sends in
   * bursts runs empty again and again, so it gets all.
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
   * Returns whether to write a frame now. Returns false if the modem had a frame left over all the time: one late frame would
   * otherwise delay all later audio for the rest of the call. The modem has enough, so the omission is not heard.
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
