// Tracks when each message storage of a modem was last swept. A message that was not there at that time came later.

/** Interval of reports of sweeps to the control plane. It is long, because each report repeats all slots of the node. */
const REPORT_EVERY_MS = 5 * 60_000;

/** The sweeps of one session of a modem. */
export class SweepTimes {
  readonly #storages: readonly string[];
  readonly #report: (at: string) => void;
  /** Start of the last sweep whose messages are all in the journal, by storage, milliseconds since the epoch. */
  readonly #began = new Map<string, number>();
  #reportedPeriod: number | undefined;

  /**
   * `report` is called with the start of a sweep of all storages: after the first sweep, then once in each period of five minutes,
   * so that all modems of a host report together.
   */
  constructor(storages: readonly string[], report: (at: string) => void = () => undefined) {
    this.#storages = storages;
    this.#report = report;
  }

  /** Call it when everything in the storage at that time, milliseconds since the epoch, is in the journal. */
  note(storage: string, beganAt: number): void {
    this.#began.set(storage, beganAt);
    const times = this.#storages.flatMap((each) => this.#began.get(each) ?? []);
    if (times.length < this.#storages.length) return;
    const sweptAt = Math.min(...times);
    const period = Math.floor(sweptAt / REPORT_EVERY_MS);
    if (period === this.#reportedPeriod) return;
    this.#reportedPeriod = period;
    this.#report(new Date(sweptAt).toISOString());
  }

  /** Returns the start of the last such sweep of a storage, RFC 3339; `undefined` before the first of the session. */
  lastOf(storage: string): string | undefined {
    const beganAt = this.#began.get(storage);
    return beganAt === undefined ? undefined : new Date(beganAt).toISOString();
  }
}
