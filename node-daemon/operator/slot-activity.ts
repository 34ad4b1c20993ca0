// Counts the events in each slot since the daemon began, for a table that an operator watches. Contains no number and no text.
import { every, type Timer } from '#shared/clock.ts';
import type { Fact } from '#shared/link/messages.ts';
import type { Host } from '../host/host.ts';
import { type ShownSlot, shownSlots } from '../host/shown-slots.ts';
import type { ControlLink, LinkFailure, LinkState } from '../link/control-link.ts';
import { countFacts } from '../metrics/counting.ts';

/** A slot, and its events since the daemon began. */
export interface WatchedSlot extends ShownSlot {
  /** Signal in dBm, oldest first; null where there was none. */
  readonly signals: readonly (number | null)[];
  readonly sms_received: number;
  readonly sms_sent: number;
  readonly sms_failed: number;
  /** Calls that are up. */
  readonly calls: number;
  readonly last_event: { readonly at: string; readonly text: string } | null;
}

/** All slots at one moment. */
export interface WatchedHost {
  readonly at: string;
  /** Null where no daemon runs. */
  readonly link: LinkState | null;
  /** Why there is no link, if that is known. */
  readonly link_failure?: LinkFailure | undefined;
  readonly alarms: readonly string[];
  readonly journal_depth: number;
  readonly slots: readonly WatchedSlot[];
}

/** Ten minutes of signal: a modem is asked for it every 30 s. */
const SIGNALS_MAX = 40;
const SIGNAL_EVERY_MS = 15_000;
/** While everything changes at once, a watcher gets the state this often. */
const WATCH_EVERY_MS = 200;

type Activity = Pick<WatchedSlot, 'signals' | 'sms_received' | 'sms_sent' | 'sms_failed' | 'last_event'>;
const NOTHING: Activity = { signals: [], sms_received: 0, sms_sent: 0, sms_failed: 0, last_event: null };

/** Follows a host until `stop`. */
export class SlotActivity {
  readonly #host: Host;
  readonly #link: Pick<ControlLink, 'state' | 'failure'> | undefined;
  readonly #bySlot = new Map<string, Activity>();
  readonly #states = new Map<string, string>();
  readonly #watchers = new Set<() => void>();
  readonly #timer: Timer;

  /** `link`: of a daemon. */
  constructor(host: Host, link?: Pick<ControlLink, 'state' | 'failure'>) {
    this.#host = host;
    this.#link = link;
    host.observe({
      slotsChanged: () => this.#onSlots(),
      stepTaken: (slot, step, trouble) => this.#note(slot, `recovery: ${step} (${trouble})`),
      stepFailed: (slot, step, why) => this.#note(slot, `recovery step failed: ${step}: ${why}`),
      callChanged: ({ iccid, direction, state }) =>
        this.#note(this.#slotOf(iccid), `${direction} call ${state}`),
    });
    countFacts(host.journal, (fact, iccid) => this.#onFact(fact, this.#slotOf(iccid ?? null)));
    host.journal.onFailing(() => this.#notify());
    this.#timer = every(host.clock, SIGNAL_EVERY_MS, () => this.#sample());
  }

  /** The state of all slots now, and after each change, until the signal. */
  async *follow(signal: AbortSignal): AsyncGenerator<WatchedHost> {
    const { clock } = this.#host;
    let hasChanged = true;
    let wakeUp = (): void => undefined;
    const onChange = (): void => {
      hasChanged = true;
      wakeUp();
    };
    this.#watchers.add(onChange);
    signal.addEventListener('abort', onChange);
    try {
      while (!signal.aborted) {
        if (hasChanged) {
          hasChanged = false;
          yield this.now;
          await new Promise<void>((resolve) => clock.after(WATCH_EVERY_MS, resolve));
        } else await new Promise<void>((resolve) => (wakeUp = resolve));
      }
    } finally {
      this.#watchers.delete(onChange);
      signal.removeEventListener('abort', onChange);
    }
  }

  get now(): WatchedHost {
    const { calls, clock, journal } = this.#host;
    return {
      at: new Date(clock.now()).toISOString(),
      link: this.#link?.state ?? null,
      link_failure: this.#link?.failure,
      alarms: this.#host.alarms(),
      journal_depth: journal.state.facts.size,
      slots: shownSlots(this.#host).map((slot) => ({
        ...slot,
        ...NOTHING,
        ...this.#bySlot.get(slot.slot),
        calls: calls.live.filter(({ iccid }) => iccid === slot.iccid).length,
      })),
    };
  }

  stop(): void {
    this.#timer.cancel();
  }

  #sample(): void {
    for (const { slot, signal_dbm: signal } of this.#host.rack.slots()) {
      this.#change(slot, ({ signals }) => ({ signals: [...signals, signal].slice(-SIGNALS_MAX) }));
    }
    this.#notify();
  }

  #onSlots(): void {
    for (const { slot, state, reason } of this.#host.rack.slots()) {
      const now = reason === null ? state : `${state}: ${reason}`;
      if (this.#states.get(slot) === now) continue;
      this.#states.set(slot, now);
      this.#note(slot, now);
    }
    this.#notify();
  }

  #onFact(fact: Fact, slot: string | undefined): void {
    if (fact.kind === 'sms_received') {
      this.#change(slot, ({ sms_received: count }) => ({ sms_received: count + 1 }));
      this.#note(slot, 'SMS received');
    } else if (fact.kind === 'sms_outcome') {
      const isSent = fact.outcome.status === 'accepted';
      this.#change(slot, ({ sms_sent: sent, sms_failed: failed }) =>
        isSent ? { sms_sent: sent + 1 } : { sms_failed: failed + 1 },
      );
      this.#note(slot, isSent ? 'SMS sent' : `SMS ${fact.outcome.status}`);
    } else if (fact.kind === 'call_ended') {
      this.#note(slot, `call ended: ${fact.reason}`);
    }
  }

  #slotOf(iccid: string | null): string | undefined {
    return iccid === null ? undefined : this.#host.rack.find(iccid)?.name;
  }

  #note(slot: string | undefined, text: string): void {
    const at = new Date(this.#host.clock.now()).toISOString();
    this.#change(slot, () => ({ last_event: { at, text } }));
    this.#notify();
  }

  #change(slot: string | undefined, change: (before: Activity) => Partial<Activity>): void {
    if (slot === undefined) return;
    const before = this.#bySlot.get(slot) ?? NOTHING;
    this.#bySlot.set(slot, { ...before, ...change(before) });
  }

  #notify(): void {
    for (const watcher of this.#watchers) watcher();
  }
}
