// The state of one slot, and the time for which its modem answered.
import type { Clock } from '#shared/clock.ts';
import type { Slot } from '#shared/link/slot.ts';
import type { Place } from './place.ts';

/** States in which the modem answers. */
const ANSWERING: ReadonlySet<Slot['state']> = new Set(['registered', 'sim_absent', 'sim_locked', 'denied']);

/** Fields that change all the time. A change is sent with the next report. */
const QUIET: ReadonlySet<string> = new Set(['storage', 'swept_at'] satisfies (keyof Slot)[]);

/** The network and storage values of a modem out of service. */
export const UNKNOWN_SERVICE = {
  operator: null,
  signal_dbm: null,
  storage: null,
  swept_at: null,
  voice_settings: null,
} as const;

/** A slot without its name. */
type NamelessSlot = Omit<Slot, 'slot'>;

/** The part of a slot that a session reports. */
export type SlotReport = Partial<NamelessSlot>;

/** The latest report of a slot. For a lost modem it keeps the last values. */
export class SlotRecord {
  readonly #clock: Clock;
  readonly #onChange: (before: NamelessSlot) => void;
  #slot: NamelessSlot;
  #named: Slot | undefined;
  #answeringSince: number | undefined;
  #answeredMs = 0;

  /** `onChange` is called after a report with changes, unless only the storage use or the time of the sweep changed. */
  constructor(place: Place | undefined, clock: Clock, onChange: (before: NamelessSlot) => void) {
    this.#clock = clock;
    this.#onChange = onChange;
    this.#slot = {
      ...UNKNOWN_SERVICE,
      device_id: null,
      iccid: null,
      number: null,
      model: null,
      state: place === undefined ? 'lost' : 'starting',
      usb_path: place?.usb?.path ?? null,
      reason: place === undefined ? 'absent' : null,
    };
  }

  get slot(): NamelessSlot {
    return this.#slot;
  }

  /** Returns the slot with this name: the same object until the name or the state changes. */
  named(name: string): Slot {
    if (this.#named?.slot !== name) this.#named = { slot: name, ...this.#slot };
    return this.#named;
  }

  get isAnswering(): boolean {
    return ANSWERING.has(this.#slot.state);
  }

  /** The longest time in ms, since the last `beginCounting`, for which the modem answered without a break. */
  get answeredMs(): number {
    const since = this.#answeringSince;
    return Math.max(this.#answeredMs, since === undefined ? 0 : this.#clock.now() - since);
  }

  beginCounting(): void {
    this.#answeringSince = undefined;
    this.#answeredMs = 0;
  }

  reportLost(reason: string): void {
    this.report({ ...UNKNOWN_SERVICE, state: 'lost', reason });
  }

  report(report: SlotReport): void {
    const before = this.#slot;
    const isServed = report.state === 'registered' && before.failed_step != null;
    const slot = { ...before, ...report, ...(isServed ? { failed_step: null } : {}) };
    if ((Object.keys(slot) as (keyof NamelessSlot)[]).every((key) => slot[key] === before[key])) return;
    this.#slot = slot;
    this.#named = undefined;
    const isFirstSweep = before.swept_at === null && slot.swept_at !== null;
    if (!isFirstSweep && Object.keys(report).every((key) => QUIET.has(key))) return;
    if (this.isAnswering) this.#answeringSince ??= this.#clock.now();
    else {
      this.#answeredMs = this.answeredMs;
      this.#answeringSince = undefined;
    }
    this.#onChange(before);
  }
}
