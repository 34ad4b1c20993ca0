// The times of disturbances, and the excuses that a checker may take from them. Pure.
import type { DisturbanceRecord } from './record.ts';

/** After a fault a modem needs to be found, set up and swept; after a kill a program needs to start. */
const RECOVERY_MS = 15_000;

/** Disturbances by what they touch, for questions about an interval of time. */
export class Disturbances {
  readonly #all: readonly DisturbanceRecord[];

  constructor(all: readonly DisturbanceRecord[]) {
    this.#all = all;
  }

  /** Those that touched a modem, or the programs behind it, in an interval or shortly before it. */
  around(modem: number, fromMs: number, untilMs: number): DisturbanceRecord[] {
    return this.#all.filter(
      ({ target, ...when }) =>
        (typeof target === 'string' || target === modem) &&
        when.fromMs <= untilMs &&
        when.untilMs + RECOVERY_MS >= fromMs,
    );
  }

  /** Whether nothing was broken, or recovering, on the path of this modem's messages. */
  isCalm(modem: number, fromMs: number, untilMs: number): boolean {
    return this.around(modem, fromMs, untilMs).length === 0;
  }

  /** The faults of a kind that a modem ever had. */
  ofKind(modem: number, what: string): DisturbanceRecord[] {
    return this.#all.filter((each) => each.target === modem && each.what === what);
  }

  /** In words, for a report. */
  story(modem: number, fromMs: number, untilMs: number): string {
    const around = this.around(modem, fromMs, untilMs).map(
      ({ what, target, detail, ...when }) =>
        `${what}${typeof target === 'string' ? ` ${target}` : ''} ${clock(when.fromMs)}–${clock(when.untilMs)} ${detail}`,
    );
    return around.length === 0 ? 'nothing was broken' : around.join('; ');
  }
}

/** Time of day with milliseconds, UTC. */
export const clock = (ms: number): string =>
  Number.isFinite(ms) ? new Date(ms).toISOString().slice(11, 23) : '…';
