// The current place of one modem, and notifications when it changes.
import type { Clock } from '#shared/clock.ts';
import type { Place } from './place.ts';

/** The place of one modem; `undefined` while it is not plugged in. */
export class ModemLocation {
  readonly #clock: Clock;
  #place: Place | undefined;
  #onChange: () => void = () => undefined;

  constructor(clock: Clock, place: Place | undefined) {
    this.#clock = clock;
    this.#place = place;
  }

  get place(): Place | undefined {
    return this.#place;
  }

  move(place: Place | undefined): void {
    this.#place = place;
    this.#onChange();
  }

  /**
   * Resolves with true when the modem moves, or with false after `timeoutMs` or when `signal` is aborted. Only
   * one caller at a time.
   */
  async moves(timeoutMs: number | undefined, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    return await new Promise<boolean>((resolve) => {
      const end = (hasMoved: boolean): void => {
        timer?.cancel();
        signal.removeEventListener('abort', onAbort);
        this.#onChange = () => undefined;
        resolve(hasMoved);
      };
      const onAbort = (): void => end(false);
      const timer = timeoutMs === undefined ? undefined : this.#clock.after(timeoutMs, () => end(false));
      signal.addEventListener('abort', onAbort);
      this.#onChange = () => end(true);
    });
  }
}
