// How much of the journal and of the link one modem may use: a flood of its texts or calls must not hold up the others of the rack.
import type { Clock } from '#shared/clock.ts';
import { MODEM_FACTS } from '#shared/link/messages.ts';
import type { Journal } from './journal.ts';

/** With as many facts that wait, the control plane is behind, or away: a share grows again when they are fewer. */
const BEHIND = 1_000;

/** The share of one modem in facts of one kind, over all its sessions. */
class Share {
  readonly #parts: { readonly journal: Journal; readonly clock: Clock };
  readonly #size: { readonly burst: number; readonly perSecond: number };
  #left: number;
  #filledAt: number;

  constructor(parts: { journal: Journal; clock: Clock }, size: { burst: number; perSecond: number }) {
    this.#parts = parts;
    this.#size = size;
    this.#left = size.burst;
    this.#filledAt = parts.clock.now();
  }

  /** Counts one. Returns false beyond the share. */
  take(): boolean {
    this.#fill();
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  /** Undoes `take`: the journal has nothing of it. */
  giveBack(): void {
    this.#left += 1;
  }

  #fill(): void {
    const { clock, journal } = this.#parts;
    const { burst, perSecond } = this.#size;
    const passedMs = Math.max(0, clock.now() - this.#filledAt);
    this.#filledAt = clock.now();
    if (journal.state.facts.size >= BEHIND) return;
    this.#left = Math.min(burst, this.#left + (passedMs * perSecond) / 1_000);
  }
}

/** The shares of one modem, whichever cards it reports. */
export interface ModemShares {
  readonly messages: Share;
  readonly calls: Share;
}

export const modemShares = (parts: { journal: Journal; clock: Clock }): ModemShares => ({
  messages: new Share(parts, MODEM_FACTS.messages),
  calls: new Share(parts, MODEM_FACTS.calls),
});
