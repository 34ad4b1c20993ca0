// Keeps the latest events of this host for the status page, without phone numbers and texts.
import type { Slot } from '#shared/link/slot.ts';
import type { Host } from '../host/host.ts';
import { countFacts } from '../metrics/counting.ts';
import { describedState } from './words.ts';

/** Number of events to keep. Each slot has its share, so that one unstable modem does not displace all other events. */
export const EVENTS_MAX = 200;
export const EVENTS_PER_SLOT_MAX = 40;

export interface HostEvent {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Null for the whole host. */
  readonly slot: string | null;
  readonly text: string;
}

/** The parts of a host whose events are kept. */
interface FollowedHost extends Pick<Host, 'clock' | 'journal' | 'observe'> {
  readonly rack: { slots(): readonly Slot[]; find(iccid: string): { readonly name: string } | undefined };
}

/** Collects the events of a host from its construction on. */
export class RecentEvents {
  readonly #host: FollowedHost;
  readonly #states = new Map<string, string>();
  #events: readonly HostEvent[] = [];

  constructor(host: FollowedHost) {
    this.#host = host;
    host.observe({
      slotsChanged: () => this.#onSlots(),
      stepTaken: (slot, step, trouble) => this.#note(slot, `recovery: ${step} (${trouble})`),
      stepFailed: (slot, step, why) => this.#note(slot, `recovery step failed: ${step}: ${why}`),
      callChanged: ({ iccid, direction, state }) =>
        this.#note(this.#slotOf(iccid), `${direction} call: ${state}`),
    });
    countFacts(host.journal, (fact, iccid) => {
      if (fact.kind === 'call_ended')
        this.#note(this.#slotOf(iccid), `${fact.direction} call ended: ${fact.reason}`);
      else if (fact.kind === 'sms_outcome' && fact.outcome.status !== 'accepted')
        this.#note(this.#slotOf(iccid), `message not sent: ${fact.outcome.status}`);
      else if (fact.kind === 'sms_unreadable')
        this.#note(this.#slotOf(iccid), 'received an unreadable message');
    });
    host.journal.onFailing(() => {
      this.#note(null, host.journal.isFailing ? 'journal writes failed' : 'journal writes succeed again');
    });
  }

  /** The events, newest first. */
  get all(): readonly HostEvent[] {
    return this.#events;
  }

  #onSlots(): void {
    const slots = this.#host.rack.slots();
    const names = new Set(slots.map(({ slot }) => slot));
    for (const name of this.#states.keys()) if (!names.has(name)) this.#states.delete(name);
    for (const slot of slots) {
      const state = describedState(slot);
      if (this.#states.get(slot.slot) === state) continue;
      this.#states.set(slot.slot, state);
      this.#note(slot.slot, state);
    }
  }

  #slotOf(iccid: string | undefined): string | null {
    return (iccid === undefined ? undefined : this.#host.rack.find(iccid)?.name) ?? null;
  }

  #note(slot: string | null, text: string): void {
    const events = [{ at: this.#host.clock.now(), slot, text }, ...this.#events];
    let ofSlot = 0;
    this.#events = events
      .filter((event) => event.slot !== slot || ++ofSlot <= EVENTS_PER_SLOT_MAX)
      .slice(0, EVENTS_MAX);
  }
}
