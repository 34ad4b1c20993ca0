// Whether the disk refuses writes, for alarms and metrics.
import type { Clock, Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';

/**
 * A full disk takes a small record and refuses the next message. A refused write is tried again every 30 s. The trouble is over when the
 * disk takes writes and has refused nothing for longer than that.
 */
export const CALM_MS = 45_000;

/** The trouble of one journal with its disk. */
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

  /** Called after `isOn` has changed. */
  onChange(handler: () => void): void {
    this.#handlers.add(handler);
  }

  /** The disk refused. */
  refused(cause: unknown): void {
    this.stop();
    if (this.#isOn) return;
    this.#log.error({ err: cause }, 'journal writes failed');
    this.#set(true);
  }

  /** The disk took a write. */
  took(): void {
    if (!this.#isOn) return;
    this.#calmTimer ??= this.#clock.after(CALM_MS, () => {
      this.#calmTimer = undefined;
      this.#log.info({}, 'journal writes succeed again');
      this.#set(false);
    });
  }

  /** Waits for no calm any more. */
  stop(): void {
    this.#calmTimer?.cancel();
    this.#calmTimer = undefined;
  }

  #set(isOn: boolean): void {
    this.#isOn = isOn;
    for (const handler of [...this.#handlers]) handler();
  }
}
