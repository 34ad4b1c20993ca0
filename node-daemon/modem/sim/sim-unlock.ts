// Unlocks a card: reads its identity, waits until it can decide, and enters the PIN.
import type { Clock } from '#shared/clock.ts';
import type { SimSettings } from '../../config/sim-settings.ts';
import type { ModemProfile } from '../profiles/profile.ts';
import { LOCKED_BY_PIN, readIccid } from './sim-card.ts';
import { enterPin, type PinParts } from './sim-pin.ts';

/** Cards are ready within 20 s of power (Quectel's advice). Cards that return their ICCID while locked do so by then. */
const ICCID_WAIT_MS = 20_000;

/** The parts that unlocking a card uses. */
interface SimUnlockParts extends Omit<PinParts, 'pinTries'> {
  readonly clock: Clock;
  readonly sims: SimSettings;
  readonly profile: ModemProfile;
  readonly imei: string | undefined;
}

/** `busy`: ask again soon. `opened`: the PIN has just unlocked it. `reason` is a word for the operator. */
type Unlocked =
  | { readonly kind: 'busy' | 'opened' }
  | { readonly kind: 'locked'; readonly reason: string; readonly iccid: string | undefined };

/** The locked cards of one session with a modem. */
export class SimUnlock {
  readonly #parts: SimUnlockParts;
  /** Cards that this session unlocked. A card that locks itself again is not tried twice. */
  readonly #opened = new Set<string>();
  /** Time since which the locked card has returned no ICCID. */
  #namelessSince: number | undefined;

  constructor(parts: SimUnlockParts) {
    this.#parts = parts;
  }

  /** Enters the PIN if that is allowed. Rejects with `AtTimeoutError` and `PortClosedError`. */
  async open(lock: string): Promise<Unlocked> {
    const { channel, clock, imei, profile, sims } = this.#parts;
    // Most cards return their ICCID while locked.
    const iccid = (await readIccid(channel, profile.iccidCommands))?.iccid;
    const locked = (reason: string): Unlocked => ({ kind: 'locked', reason, iccid });
    if (lock !== LOCKED_BY_PIN) return locked(lock);
    const device = `device ${imei ?? 'without IMEI'}`;
    if (this.#opened.has(device) || (iccid !== undefined && this.#opened.has(iccid))) return { kind: 'busy' };
    if (iccid !== undefined) this.#namelessSince = undefined;
    else {
      // Under its other identity the card could get a PIN again that it has refused.
      this.#namelessSince ??= clock.now();
      if (clock.now() - this.#namelessSince < ICCID_WAIT_MS) return { kind: 'busy' };
    }
    const refusal = await enterPin(
      { ...this.#parts, pinTries: profile.pinTries },
      { iccid, device },
      sims.pinOf(iccid),
    );
    if (refusal !== undefined) return locked(refusal);
    this.#opened.add(iccid ?? device);
    return { kind: 'opened' };
  }
}
