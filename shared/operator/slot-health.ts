// The health of a slot: one definition for pages, commands and alerts.
import { type SlotState, slotStateSchema } from '../link/slot.ts';

/** `good`, `busy`: in service; `warn`: starting or searching; `bad`: a person has to act; `off`: not in service. */
export type Health = 'good' | 'busy' | 'warn' | 'bad' | 'off';

/** Names of drawings, for readers who do not see colors. */
export type Sign =
  | 'check'
  | 'phone'
  | 'wait'
  | 'search'
  | 'cross'
  | 'lock'
  | 'empty'
  | 'pause'
  | 'away'
  | 'barred';

/** A state as people see it: a color, a sign and words. */
export interface Status {
  readonly health: Health;
  readonly sign: Sign;
  readonly words: string;
}

/** All states of a health together, as legends show them. */
export const HEALTH_STATUS: Readonly<Record<Health, Status>> = {
  good: { health: 'good', sign: 'check', words: 'in service' },
  busy: { health: 'busy', sign: 'phone', words: 'on a call' },
  warn: { health: 'warn', sign: 'search', words: 'starting or searching' },
  bad: { health: 'bad', sign: 'cross', words: 'needs attention' },
  off: { health: 'off', sign: 'empty', words: 'not in service' },
};

/**
 * State of a slot, or of a number that is sold. `node_away`: its node has no link, so its own state is not known. `journal_unavailable`: it is on the
 * network, but the disk of its node refuses the journal, so the node keeps no text and sends none. Only of a number: `node_revoked`,
 * an operator revoked the node that had its SIM; `sim_missing`, the SIM is in no slot; `unbound`, its node has not confirmed the SIM for the subscriber; `unreached`, it is on the network, but texts to it
 * do not arrive.
 */
export type ServiceState =
  | SlotState
  | ('node_away' | 'journal_unavailable' | 'node_revoked' | 'sim_missing' | 'unbound' | 'unreached');

/** States that end by themselves while a slot is started. */
export const PASSING_STATES: ReadonlySet<ServiceState> = new Set(['starting', 'searching', 'unbound']);

export const SLOT_STATUS: Readonly<Record<ServiceState, Status>> = {
  registered: { health: 'good', sign: 'check', words: 'in service' },
  starting: { health: 'warn', sign: 'wait', words: 'starting' },
  searching: { health: 'warn', sign: 'search', words: 'searching for a network' },
  denied: { health: 'bad', sign: 'barred', words: 'refused by the network' },
  sim_absent: { health: 'bad', sign: 'empty', words: 'no SIM' },
  sim_locked: { health: 'bad', sign: 'lock', words: 'SIM locked' },
  lost: { health: 'bad', sign: 'cross', words: 'modem lost' },
  node_away: { health: 'off', sign: 'away', words: 'node away' },
  journal_unavailable: { health: 'bad', sign: 'cross', words: 'its node cannot write its journal' },
  node_revoked: { health: 'bad', sign: 'barred', words: 'its node is revoked' },
  sim_missing: { health: 'bad', sign: 'empty', words: 'SIM in no slot' },
  unbound: { health: 'warn', sign: 'wait', words: 'not confirmed by its node' },
  unreached: { health: 'bad', sign: 'cross', words: 'texts to it do not arrive' },
};

/** Status of a slot on the network that is not sold: an operator or a probe took it out of service. */
export const OUT_OF_SERVICE: Status = { health: 'off', sign: 'pause', words: 'out of service' };

/** The reason of a slot that reports a SIM which another node holds. */
export const CLAIM_REFUSED = 'claim_refused';
export const CLAIMED: Status = { health: 'bad', sign: 'barred', words: 'SIM of another node' };

/** The states that slots can be listed by. */
export const SLOT_LIST_STATES = ['node_away', 'journal_unavailable', ...slotStateSchema.options] as const;

export const SERVICE_STATES = Object.keys(SLOT_STATUS) as readonly ServiceState[];

/** A paid number without service needs a person, whatever the cause. */
export const soldStatus = (state: ServiceState): Status =>
  state === 'registered' ? SLOT_STATUS.registered : { ...SLOT_STATUS[state], health: 'bad' };
