// Tracks whether the disk refuses writes, for alarms and metrics.
import type { Clock, Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';

/**
 * A full disk may accept a small record and refuse the next message. A refused write is repeated every 30 s. The trouble is over when the
 * disk accepts writes and has refused none for longer than that.
 */
export const CALM_MS = 45_000;

/** Whether the disk refuses the writes of one journal. */
export class DiskTrouble {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #handlers = new Set<() => void>();
  #isOn = false;
  #calmTimer: Timer | undefined;

  constructor({ clock, log }: { clock: Clock; log: Logger }) {
    this.#clock = clock;
    this.#log = log;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  /** `handler` is called after `isOn` has changed. */
  onChange(handler: () => void): void {
    this.#handlers.add(handler);
  }

  /** Call it when the disk refused a write. */
  refused(cause: unknown): void {
    this.stop();
    if (this.#isOn) return;
    this.#log.error({ err: cause }, 'journal writes failed');
    this.#set(true);
  }

  /** Call it when the disk accepted a write. */
  took(): void {
    if (!this.#isOn) return;
    this.#calmTimer ??= this.#clock.after(CALM_MS, () => {
      this.#calmTimer = undefined;
      this.#log.info({}, 'journal writes succeed again');
      this.#set(false);
    });
  }

  /** Stops the timer. */
  stop(): void {
    this.#calmTimer?.cancel();
    this.#calmTimer = undefined;
  }

  #set(isOn: boolean): void {
    this.#isOn = isOn;
    for (const handler of [...this.#handlers]) handler();
  }
}
