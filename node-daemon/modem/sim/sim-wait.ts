// Waits until the modem has a usable SIM, and reports the reason while it has none.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { AtChannel } from '../../at/channel.ts';
import type { SimSettings } from '../../config/node-config.ts';
import type { Journal } from '../../journal/journal.ts';
import type { ModemProfile } from '../../profiles/profile.ts';
import type { SlotReport } from '../../slot/slot-record.ts';
import { SessionEndedError } from '../recovery/trouble.ts';
import { DUPLICATE_ICCID, type ModemClaims } from './claims.ts';
import { LOCKED_BY_PIN, readIccid, readSimState } from './sim-card.ts';
import type { Sim } from './sim-guard.ts';
import { SimLoss } from './sim-loss.ts';
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
type Unlocked = { readonly kind: 'busy' | 'opened' } | { readonly kind: 'locked'; readonly reason: string };

/** The locked cards of one session with a modem. */
class SimUnlock {
  readonly #parts: SimUnlockParts;
  /** Cards that this session unlocked. A card that locks itself again is not tried twice. */
  readonly #opened = new Set<string>();
  /** Time since which the locked card has returned no ICCID. */
  #namelessSince: number | undefined;

  constructor(parts: SimUnlockParts) {
    this.#parts = parts;
  }

  /** Enters the PIN if that is allowed. `iccid`: most cards return it while locked. Rejects with `AtTimeoutError` and `PortClosedError`. */
  async open(lock: string, iccid: string | undefined): Promise<Unlocked> {
    const { clock, imei, profile, sims } = this.#parts;
    if (lock !== LOCKED_BY_PIN) return { kind: 'locked', reason: lock };
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
    if (refusal !== undefined) return { kind: 'locked', reason: refusal };
    this.#opened.add(iccid ?? device);
    return { kind: 'opened' };
  }
}

/** Poll interval without a usable SIM. Modems that report SIM changes are quicker. */
const SIM_POLL_MS = 5_000;
const SIM_BUSY_POLL_MS = 1_000;
/** Cards are ready within 20 s of power (Quectel's advice). After this time the modem must be restarted. */
export const SIM_BUSY_MAX_MS = 60_000;

/** The parts that the wait uses. */
interface SimWaitParts {
  readonly channel: AtChannel;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly log: Logger;
  readonly sims: SimSettings;
  readonly profile: ModemProfile;
  readonly imei: string | undefined;
  readonly claims: ModemClaims;
  readonly report: (report: SlotReport) => void;
  readonly pause: (delayMs: number) => Promise<void>;
}

/** Resolves with the SIM when its ICCID can be read. Rejects with `SessionEndedError` if a restart may help, and as `pause` does. */
export async function awaitSim(parts: SimWaitParts): Promise<Sim> {
  const { channel, claims, clock, imei, journal, pause, profile, report } = parts;
  const unlock = new SimUnlock(parts);
  // Time since which the SIM has been busy.
  let busySince = clock.now();
  const polledSince = busySince;
  const loss = SimLoss.of(journal, imei);
  for (;;) {
    const state = await readSimState(channel);
    const isThere = state.kind === 'ready' || state.kind === 'locked';
    const card = isThere ? await readIccid(channel, profile.iccidCommands) : undefined;
    if (card !== undefined || state.kind === 'locked') loss.found();
    const claim = card && claims.takeSim(card.iccid);
    if (claim === 'wait' || claim === 'refused') {
      if (claim === 'refused')
        report({ state: 'sim_absent', iccid: null, number: null, reason: DUPLICATE_ICCID });
      busySince = clock.now();
      await pause(SIM_POLL_MS);
      continue;
    }
    if (card !== undefined && state.kind === 'ready') return card;
    let isBusy = state.kind === 'busy' || state.kind === 'ready';
    if (state.kind === 'locked') {
      const unlocked = await unlock.open(state.reason, card?.iccid);
      isBusy = unlocked.kind !== 'locked';
      if (unlocked.kind === 'opened') busySince = clock.now();
      if (unlocked.kind === 'locked') {
        report({ state: 'sim_locked', iccid: card?.iccid ?? null, number: null, reason: unlocked.reason });
      }
    }
    if (state.kind === 'absent') {
      claims.leaveSim();
      const { reason } = state;
      const verdict = loss.missed(reason, clock.now(), polledSince);
      if (verdict === 'ends') throw new SessionEndedError('faulty', `the SIM did not come back: ${reason}`);
      if (verdict === 'waits') report({ state: 'sim_absent', iccid: null, number: null, reason });
    }
    if (!isBusy) busySince = clock.now();
    else if (clock.now() - busySince >= SIM_BUSY_MAX_MS) {
      throw new SessionEndedError('faulty', 'the SIM did not become ready');
    }
    await pause(isBusy ? SIM_BUSY_POLL_MS : SIM_POLL_MS);
  }
}
