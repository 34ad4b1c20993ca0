// Checks that the SIM is still the one that the session serves, before the session acts for that SIM.
import { type Clock, sleep } from '#shared/clock.ts';
import type { AtChannel } from '../../at/channel.ts';
import { SessionEndedError } from '../recovery/trouble.ts';
import { readIccid } from './sim-card.ts';

/** The maximum age of a reading. Changing a card takes longer, and no modem detects a new card within 2 s. */
export const SIM_READING_MAX_MS = 1_000;
/** Attempts, because a temporary error does not mean another card. */
const ATTEMPTS = 3;
const ATTEMPT_PAUSE_MS = 250;

/** A card, and the command that returns its ICCID. */
export interface Sim {
  readonly iccid: string;
  readonly command: string;
}

/** The parts that the guard of one session uses. */
interface SimGuardParts {
  readonly channel: AtChannel;
  readonly clock: Clock;
  readonly sim: Sim;
}

/** Makes sure that one session works with one card only. */
export class SimGuard {
  readonly #parts: SimGuardParts;
  #readAt: number;
  #reading: Promise<void> | undefined;

  /** Makes the guard of a card that was read just now. */
  constructor(parts: SimGuardParts) {
    this.#parts = parts;
    this.#readAt = parts.clock.now();
  }

  /**
   * Resolves if the card was the same within the last second. Ends the session and rejects with `SessionEndedError` if it is another
   * card. Rejects with the same error if the modem does not report the card. Rejects with `AtTimeoutError` and
   * `PortClosedError`.
   */
  async confirm(): Promise<void> {
    const ageMs = this.#parts.clock.now() - this.#readAt;
    if (ageMs >= 0 && ageMs < SIM_READING_MAX_MS) return;
    await this.confirmNow();
  }

  /** As `confirm`, but always reads the card. */
  confirmNow(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    const { channel, clock, sim } = this.#parts;
    for (let attempt = 1; ; attempt += 1) {
      const askedAt = clock.now();
      const iccid = (await readIccid(channel, [sim.command], 'urgent'))?.iccid;
      if (iccid === sim.iccid) {
        this.#readAt = askedAt;
        return;
      }
      if (iccid !== undefined) {
        const changed = new SessionEndedError('sim_changed', 'the SIM was changed');
        await channel.close(changed);
        throw changed;
      }
      if (attempt === ATTEMPTS) {
        throw new SessionEndedError('sim_changed', 'the modem does not report which SIM it has');
      }
      await sleep(clock, ATTEMPT_PAUSE_MS);
    }
  }
}
