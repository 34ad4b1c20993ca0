// Cells that several listings have.
import { shownCarrier } from '#shared/carriers/carrier-name.ts';
import type { Cell } from '#shared/operator/listing.ts';
import { type ServiceState, type Status, soldStatus } from '#shared/operator/slot-health.ts';
import { stateWithReason } from '#shared/operator/slot-reasons.ts';
import { listedNumber, shownWallet } from '../../domain/shown-value.ts';

/** `isMasked`: it is a subscriber's. */
export const numberCell = (number: string | null, isMasked: boolean): Cell =>
  number === null ? null : { link: { number }, text: listedNumber(number, isMasked) };

export const walletCell = (wallet: string | null, isFull: boolean): Cell =>
  wallet && shownWallet(wallet, isFull);

export const nodeCell = (node: string | null): Cell =>
  node === null ? null : { link: { node }, text: node };

export const slotCell = (node: string | null, slot: string | null): Cell =>
  node === null || slot === null ? null : { link: { node, slot }, text: slot };

/** Both in one cell: "rack-7/m3". */
export const placeCell = (node: string, slot: string): Cell => ({
  link: { node, slot },
  text: `${node}/${slot}`,
});

/** "T-Mobile (310260)" */
export const carrierCell = (carrier: string | null): Cell => carrier && shownCarrier(carrier);

/** "3.2 s" */
export const secondsCell = (ms: number | null): Cell => (ms === null ? null : `${(ms / 1000).toFixed(1)} s`);

/** Percent; a smaller share is a warning. */
const GOOD_SHARE = 95;

function statusOf(share: number): Omit<Status, 'words'> {
  if (share >= GOOD_SHARE) return { health: 'good', sign: 'check' };
  return { health: share > 0 ? 'warn' : 'bad', sign: 'cross' };
}

/** Share of texts that were delivered, in percent: "97 %". */
export function shareCell(share: number): Cell {
  const words = `${Math.round(share)} %`;
  return { status: { ...statusOf(share), words }, text: words };
}

export const EXPIRED: Status = { health: 'off', sign: 'wait', words: 'ended, in its grace time' };

/** A state with its reason: "SIM locked: the card asks for its PUK", or "sim_locked (sim_puk)" for programs. */
export const stateCell = (status: Status, state: ServiceState, reason: string | null): Cell => ({
  status: { ...status, words: stateWithReason(status.words, state, reason) },
  text: reason === null ? state : `${state} (${reason})`,
});

/** Service of a sold number. */
export const serviceCell = (service: ServiceState, reason: string | null): Cell =>
  stateCell(soldStatus(service), service, reason);
