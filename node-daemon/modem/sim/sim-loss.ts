// A SIM that is gone or fails while it should be there: for how long, and whether the modem is to be restarted for it.
import type { Journal } from '../../journal/journal.ts';

/** Longer than a modem needs for its SIM after any restart. */
export const SIM_GONE_MAX_MS = 60_000;
/** In later sessions of the same loss: cards are ready within 20 s of power (Quectel's advice). */
const SIM_AWAITED_MS = 20_000;
/** Ends of sessions for one loss: two to open the port again, settings, radio, restart. After that the card counts as removed. */
export const SIM_LOSS_ENDS_MAX = 5;
/** A card with a bad contact comes and goes: its modem is not restarted all the time. */
const SIM_LOSS_GAP_MS = 60 * 60_000;
/** More modems than one daemon serves. */
const MODEMS_MAX = 256;

/** The losses of all modems by IMEI, as long as a daemon, and so its journal, lives. */
const LOSSES = new WeakMap<Journal, Map<string, SimLoss>>();

/** The verdict for the session: it `waits`, `waits_quietly` for the effect of the recovery's step, or `ends`. */
type SimLossVerdict = 'waits' | 'waits_quietly' | 'ends';

/** The SIM of one modem over the sessions of one daemon. Times in ms since the Unix epoch. */
export class SimLoss {
  #wasThere = false;
  #since: number | undefined;
  #ends = 0;
  #endsFrom = Number.NEGATIVE_INFINITY;

  /** The SIM loss of the modem with this IMEI; a modem without an IMEI gets a new one each time. */
  static of(journal: Journal, imei: string | undefined): SimLoss {
    const losses = LOSSES.get(journal) ?? new Map<string, SimLoss>();
    LOSSES.set(journal, losses);
    const loss = losses.get(imei ?? '') ?? new SimLoss();
    if (imei !== undefined && losses.size < MODEMS_MAX) losses.set(imei, loss);
    return loss;
  }

  /** There is a card, open or locked. */
  found(): void {
    this.#wasThere = true;
    this.#since = undefined;
    this.#ends = 0;
  }

  /** There is no SIM, for this `reason`, a word of `SimState`. The session has searched for it since `searchedSince`. */
  missed(reason: string, now: number, searchedSince: number): SimLossVerdict {
    if (!this.#wasThere && reason !== 'sim_failure') return 'waits';
    this.#since ??= now;
    if (this.#ends === 0) {
      const isDue = now - this.#since >= SIM_GONE_MAX_MS && now - this.#endsFrom >= SIM_LOSS_GAP_MS;
      if (!isDue) return 'waits';
      this.#endsFrom = now;
    } else {
      if (this.#ends >= SIM_LOSS_ENDS_MAX) return 'waits';
      // A report would count as service, and the recovery would begin from the start.
      if (now - searchedSince < SIM_AWAITED_MS) return 'waits_quietly';
    }
    this.#ends += 1;
    return 'ends';
  }
}
