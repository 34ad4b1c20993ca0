// Tracks a SIM that disappeared or fails, and decides whether to restart the modem for it.
import type { Journal } from '../../journal/journal.ts';

/** Longer than a modem needs for its SIM after any restart. */
export const SIM_GONE_MAX_MS = 60_000;
/** Wait in later sessions of the same loss. Cards are ready within 20 s of power (Quectel's advice). */
const SIM_AWAITED_MS = 20_000;
/** Number of sessions that end for one loss: two to open the port again, settings, radio, restart. Then the card counts as removed. */
export const SIM_LOSS_ENDS_MAX = 5;
/** Limits restarts for a card with a bad contact, which disappears again and again. */
const SIM_LOSS_GAP_MS = 60 * 60_000;
/** More modems than one daemon serves. */
const MODEMS_MAX = 256;

/** The SIM losses of all modems by IMEI, for the lifetime of a daemon and its journal. */
const LOSSES = new WeakMap<Journal, Map<string, SimLoss>>();

/** The next step of the session: it `waits`, `waits_quietly` for the effect of a recovery step, or `ends`. */
type SimLossVerdict = 'waits' | 'waits_quietly' | 'ends';

/** The SIM of one modem over all its sessions. Times in ms since the Unix epoch. */
export class SimLoss {
  #wasThere = false;
  #since: number | undefined;
  #ends = 0;
  #endsFrom = Number.NEGATIVE_INFINITY;

  /** Returns the SIM loss of the modem with this IMEI. A modem without an IMEI gets a new one each time. */
  static of(journal: Journal, imei: string | undefined): SimLoss {
    const losses = LOSSES.get(journal) ?? new Map<string, SimLoss>();
    LOSSES.set(journal, losses);
    const loss = losses.get(imei ?? '') ?? new SimLoss();
    if (imei !== undefined && losses.size < MODEMS_MAX) losses.set(imei, loss);
    return loss;
  }

  /** Call it when there is a card, ready or locked. */
  found(): void {
    this.#wasThere = true;
    this.#since = undefined;
    this.#ends = 0;
  }

  /** Call it when there is no SIM, with the `reason` of `SimState`. The session has searched for it since `searchedSince`. */
  missed(reason: string, now: number, searchedSince: number): SimLossVerdict {
    if (!this.#wasThere && reason !== 'sim_failure') return 'waits';
    this.#since ??= now;
    if (this.#ends === 0) {
      const isDue = now - this.#since >= SIM_GONE_MAX_MS && now - this.#endsFrom >= SIM_LOSS_GAP_MS;
      if (!isDue) return 'waits';
      this.#endsFrom = now;
    } else {
      if (this.#ends >= SIM_LOSS_ENDS_MAX) return 'waits';
      // A report would count as service, and the recovery would start from the beginning.
      if (now - searchedSince < SIM_AWAITED_MS) return 'waits_quietly';
    }
    this.#ends += 1;
    return 'ends';
  }
}
