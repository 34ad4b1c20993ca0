// How a slot looks: a colour, a sign for who does not see colours, and words.
import type { PicturedNode, PicturedSlot } from '../../store/fleet/fleet-picture.ts';
import { CLAIM_REFUSED } from '../../store/fleet/slots.ts';

/** `good`, `busy`: it serves; `warn`: on its way; `bad`: the operator must act; `off`: nothing is expected of it. */
export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'off';

/** Names of drawings in `signs.ts`. */
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

export interface Look {
  tone: Tone;
  sign: Sign;
  words: string;
}

const LOOKS: Readonly<Record<PicturedSlot['state'], Look>> = {
  registered: { tone: 'good', sign: 'check', words: 'in service' },
  starting: { tone: 'warn', sign: 'wait', words: 'starting' },
  searching: { tone: 'warn', sign: 'search', words: 'searching for a network' },
  denied: { tone: 'bad', sign: 'barred', words: 'refused by the network' },
  sim_absent: { tone: 'off', sign: 'empty', words: 'no SIM' },
  sim_locked: { tone: 'bad', sign: 'lock', words: 'SIM locked' },
  lost: { tone: 'bad', sign: 'cross', words: 'modem lost' },
  node_away: { tone: 'off', sign: 'away', words: 'node away' },
};

const CALL_WORDS = { dialing: 'dialling', ringing: 'ringing', active: 'on a call' } as const;

export function lookOf(slot: PicturedSlot): Look {
  const { state, call, numberOutReason, outOfService } = slot;
  const look = LOOKS[state];
  if (isClaim(slot)) return { tone: 'bad', sign: 'barred', words: 'SIM of another node' };
  if (state !== 'registered') return look;
  if (call !== null) return { tone: 'busy', sign: 'phone', words: CALL_WORDS[call.state] };
  if (outOfService !== null || numberOutReason !== null)
    return { tone: 'off', sign: 'pause', words: 'out of service' };
  return look;
}

/** A slot that reports a SIM which another node holds. */
export const isClaim = ({ reason, state }: PicturedSlot): boolean =>
  state !== 'node_away' && reason === CLAIM_REFUSED;

/** Slots that serve, or would if they were let. */
export const isUp = (slot: PicturedSlot): boolean => slot.state === 'registered' && !isClaim(slot);

/** The number of a slot that serves and is unassigned: an end of a test SMS. */
export const spareNumberOf = ({ number, outOfService, state, use }: PicturedSlot): string | undefined => {
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

/** 3GPP TS 27.007 §8.5 tells RSSI; four bars as telephones draw them. */
export function barsOf(signalDbm: number | null): number {
  if (signalDbm === null) return 0;
  return [-110, -100, -85, -70].filter((bound) => signalDbm >= bound).length;
}

const STANDINGS: Readonly<Record<PicturedNode['standing'], Look>> = {
  linked: { tone: 'good', sign: 'check', words: 'linked' },
  away: { tone: 'bad', sign: 'away', words: 'away' },
  pending: { tone: 'warn', sign: 'lock', words: 'waits for approval' },
  revoked: { tone: 'off', sign: 'barred', words: 'revoked' },
  not_enrolled: { tone: 'warn', sign: 'wait', words: 'not enrolled' },
};

export const lookOfNode = ({ standing }: PicturedNode): Look => STANDINGS[standing];
