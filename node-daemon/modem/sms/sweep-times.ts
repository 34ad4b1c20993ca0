// When each message storage of a modem was last read as a whole. A message that is read later and was not there came after that.

/** The control plane hears of a sweep this often: each report repeats all slots of the node. */
const REPORT_EVERY_MS = 5 * 60_000;

/** The sweeps of one session of a modem. */
export class SweepTimes {
  readonly #storages: readonly string[];
  readonly #report: (at: string) => void;
  /** When the last reading began whose messages are all journalled, milliseconds since the epoch. */
  readonly #began = new Map<string, number>();
  #reportedPeriod: number | undefined;

  /**
   * `report` is called with the time at which a sweep of all storages began: after the first, then once in each period of five
   * minutes, so that all modems of a host report together.
   */
  constructor(storages: readonly string[], report: (at: string) => void = () => undefined) {
    this.#storages = storages;
    this.#report = report;
  }

  /** Everything that lay in the storage at that time, milliseconds since the epoch, is journalled. */
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

  /** When the last such reading of a storage began, RFC 3339; `undefined` before the first of the session. */
  lastOf(storage: string): string | undefined {
    const beganAt = this.#began.get(storage);
    return beganAt === undefined ? undefined : new Date(beganAt).toISOString();
  }
}
