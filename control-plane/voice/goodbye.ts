// The end of a call that waits for the client's last words: hangs up once the far end has heard them.
import type { Clock, Timer } from '#shared/clock.ts';
import type { LiveCallState } from '#shared/voice/call.ts';
import { FRAME_MS } from '#shared/voice/media.ts';
import type { AudioBridge } from './audio-bridge.ts';

/** A modem and its network hold speech for this long after the modem took it. */
const UNDERWAY_MS = 300;

/** Beyond the length of the queue: a line that stops playing must not keep the call. */
const GRACE_MS = 10_000;

interface GoodbyeParts {
  clock: Clock;
  audio: AudioBridge;
  /** The longest audio that may wait. */
  queueFrames: number;
  hangUp(): void;
}

export class Goodbye {
  readonly #parts: GoodbyeParts;
  #timer: Timer | undefined;
  #limit: Timer | undefined;

  constructor(parts: GoodbyeParts, state: LiveCallState) {
    this.#parts = parts;
    if (state === 'active') this.answered();
    parts.audio.whenPlayed(() => {
      this.#timer = parts.clock.after(UNDERWAY_MS, parts.hangUp);
    });
  }

  /** The far end hears from now on. */
  answered(): void {
    const { clock, queueFrames, hangUp } = this.#parts;
    this.#limit ??= clock.after(queueFrames * FRAME_MS + GRACE_MS, hangUp);
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#limit?.cancel();
  }
}
