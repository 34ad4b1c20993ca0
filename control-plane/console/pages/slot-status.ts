// The status of slots and nodes on the pages.
import {
  CLAIM_REFUSED,
  CLAIMED,
  OUT_OF_SERVICE,
  SLOT_STATUS,
  type Status,
} from '#shared/operator/slot-health.ts';
import { NODE_STATUS } from '../../operator/listings/nodes.ts';
import type { FleetNode, FleetSlot } from '../../store/fleet/fleet-nodes.ts';

const CALL_WORDS = { dialing: 'dialling', ringing: 'ringing', active: 'on a call' } as const;

export function slotStatusOf(slot: FleetSlot): Status {
  const { state, call, numberOutReason, outOfService } = slot;
  if (isClaim(slot)) return CLAIMED;
  if (state !== 'registered') return SLOT_STATUS[state];
  if (call !== null) return { health: 'busy', sign: 'phone', words: CALL_WORDS[call.state] };
  if (outOfService !== null || numberOutReason !== null) return OUT_OF_SERVICE;
  return SLOT_STATUS[state];
}

/** A slot that reports a SIM which another node holds. */
export const isClaim = ({ reason, state }: FleetSlot): boolean =>
  state !== 'node_away' && reason === CLAIM_REFUSED;

/** Slots that serve, or would if they were let. */
export const isUp = (slot: FleetSlot): boolean => slot.state === 'registered' && !isClaim(slot);

/** The number of a slot that serves and is unassigned: an end of a test SMS. */
export const spareNumberOf = ({ number, outOfService, state, use }: FleetSlot): string | undefined => {
  const isSpare = use === 'on_sale' || (use === 'quarantined' && outOfService === null);
  return state === 'registered' && isSpare && number !== null ? number : undefined;
};

export const USE_WORDS = {
  on_sale: 'on sale',
  unswept: 'waits for a sweep of its SIM',
  held: 'held',
  reserved: 'reserved',
  quarantined: 'quarantined',
  unadmitted: 'not admitted, not sold',
  out_of_service: 'not sold',
  offline: 'offline, not sold',
} as const;

/** Bars, 0 to 4, for an RSSI (3GPP TS 27.007 §8.5), as phones draw them. */
export function barsOf(signalDbm: number | null): number {
  if (signalDbm === null) return 0;
  return [-110, -100, -85, -70].filter((bound) => signalDbm >= bound).length;
}

/** By the state of a page: that of `node list`. */
const LISTED_STATE = {
  linked: 'linked',
  away: 'enrolled',
  pending: 'pending',
  revoked: 'revoked',
  not_enrolled: 'waiting',
} as const satisfies Record<FleetNode['state'], keyof typeof NODE_STATUS>;

export const statusOfNode = ({ state }: FleetNode): Status => NODE_STATUS[LISTED_STATE[state]];
