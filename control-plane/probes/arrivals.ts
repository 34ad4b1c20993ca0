// Waits for probes to arrive. The bus usually reports an arrival; the store always has it.
import type { Clock } from '#shared/clock.ts';
import type { Bus } from '../bus/bus.ts';

export class Arrivals {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, () => void>();

  constructor(bus: Bus, clock: Clock) {
    this.#clock = clock;
    bus.subscribe((event) => {
      if (event.kind === 'probe_arrived') this.#waiting.get(event.probeId)?.();
    });
  }

  /** Resolves when the probe has arrived, its time is over, or `signal` is aborted. */
  wait(probeId: string, { until, signal }: { until: Date; signal: AbortSignal }): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        timer.cancel();
        signal.removeEventListener('abort', end);
        this.#waiting.delete(probeId);
        resolve();
      };
      const timer = this.#clock.after(Math.max(0, until.getTime() - this.#clock.now()), end);
      signal.addEventListener('abort', end);
      this.#waiting.set(probeId, end);
      if (signal.aborted) end();
    });
  }
}
