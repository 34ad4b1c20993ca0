// The state of a modem in one word. Pure.
import { isRegistered, type Registration, STAT_DENIED, STAT_OFF } from '../equipment/registration.ts';
import type { SimState } from '../equipment/sim-card.ts';
import type { PlugState } from './usb-plug.ts';

/** `registered`: messages flow. The others name the first obstacle. */
export type ModemState =
  | 'registered'
  | 'searching'
  | 'denied'
  | 'radio_off'
  | 'no_sim'
  | 'sim_locked'
  | 'silent'
  | 'storage'
  | 'unauthorized'
  | 'unplugged';

const STATES_BY_STAT: Readonly<Record<number, ModemState>> = {
  [STAT_OFF]: 'radio_off',
  [STAT_DENIED]: 'denied',
};

/** The first obstacle for a message. */
export function modemStateOf(facts: {
  plug: PlugState;
  isDeaf: boolean;
  sim: SimState;
  registration: Registration;
}): ModemState {
  const { plug, isDeaf, sim, registration } = facts;
  if (plug !== 'modem') return plug === 'absent' ? 'unplugged' : plug;
  if (isDeaf) return 'silent';
  if (sim === 'not_inserted') return 'no_sim';
  if (sim !== 'ready') return 'sim_locked';
  if (isRegistered(registration)) return 'registered';
  return STATES_BY_STAT[registration.circuitSwitched] ?? 'searching';
}
