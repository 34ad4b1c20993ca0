// Waits until the modem has a usable SIM, and reports the reason while it has none.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { AtChannel } from '../../at/channel.ts';
import type { SimSettings } from '../../config/sim-settings.ts';
import type { Journal } from '../../journal/journal.ts';
import type { ModemProfile } from '../profiles/profile.ts';
import { SessionEndedError } from '../recovery/trouble.ts';
import type { SlotReport } from '../slot/slot-record.ts';
import { readIccid, readSimState } from './sim-card.ts';
import type { Sim } from './sim-guard.ts';
import { SimLoss } from './sim-loss.ts';
import { SimUnlock } from './sim-unlock.ts';

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
  readonly report: (report: SlotReport) => void;
  readonly pause: (delayMs: number) => Promise<void>;
}

/** Resolves with the SIM when its ICCID can be read. Rejects with `SessionEndedError` if a restart may help, and as `pause` does. */
export async function awaitSim(parts: SimWaitParts): Promise<Sim> {
  const { channel, clock, imei, journal, pause, profile, report } = parts;
  const unlock = new SimUnlock(parts);
  // Time since which the SIM has been busy.
  let busySince = clock.now();
  const polledSince = busySince;
  const loss = SimLoss.of(journal, imei);
  for (;;) {
    const state = await readSimState(channel);
    const found = state.kind === 'ready' ? await readIccid(channel, profile.iccidCommands) : undefined;
    if (found !== undefined || state.kind === 'locked') loss.found();
    if (found !== undefined) return found;
    let isBusy = state.kind === 'busy' || state.kind === 'ready';
    if (state.kind === 'locked') {
      const unlocked = await unlock.open(state.reason);
      isBusy = unlocked.kind !== 'locked';
      if (unlocked.kind === 'opened') busySince = clock.now();
      if (unlocked.kind === 'locked') {
        const { iccid = null, reason } = unlocked;
        report({ state: 'sim_locked', iccid, number: null, reason });
      }
    }
    if (state.kind === 'absent') {
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
