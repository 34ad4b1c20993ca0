// The list of numbers.
import type { Cell, Listing } from '#shared/operator/listing.ts';
import type { Json } from '#shared/operator/procedure.ts';
import type { Status } from '#shared/operator/slot-health.ts';
import type { NumberState } from '../../domain/number-state.ts';
import { listedNumber, maskedWallet } from '../../domain/shown-value.ts';
import type { NUMBER_SORTS, NumberRow } from '../../store/fleet/numbers.ts';
import { carrierCell, EXPIRED, nodeCell, numberCell, serviceCell, slotCell, walletCell } from './cells.ts';

export const NUMBER_STATUS: Readonly<Record<NumberState, Status>> = {
  available: { health: 'good', sign: 'check', words: 'on sale' },
  unswept: { health: 'warn', sign: 'wait', words: 'waits for a sweep' },
  offline: { health: 'warn', sign: 'away', words: 'offline' },
  reserved: { health: 'busy', sign: 'wait', words: 'reserved' },
  held: { health: 'busy', sign: 'check', words: 'held' },
  quarantined: { health: 'warn', sign: 'wait', words: 'quarantined' },
  out_of_service: { health: 'off', sign: 'pause', words: 'out of service' },
  unadmitted: { health: 'warn', sign: 'lock', words: 'not admitted' },
  retired: { health: 'off', sign: 'barred', words: 'retired' },
};

/** Service of a number that is sold or kept for the grace time; null for any other. */
function numberServiceCell(row: Json<NumberRow>, nowMs: number): Cell {
  const { expires_at: end, service, service_reason: reason } = row;
  if (end !== null && Date.parse(end) <= nowMs) return { status: EXPIRED, text: 'expired (grace time)' };
  return service === null ? null : serviceCell(service, reason);
}

export const NUMBERS: Listing<Json<NumberRow>, keyof typeof NUMBER_SORTS> = {
  name: 'numbers',
  title: 'Numbers',
  empty: 'No numbers.',
  columns: [
    {
      title: 'Number',
      sort: 'number',
      cell: ({ number, wallet }, { isFull }) => numberCell(number, wallet !== null && !isFull),
    },
    { title: 'State', sort: 'state', cell: ({ state }) => ({ status: NUMBER_STATUS[state], text: state }) },
    { title: 'Service', sort: 'service', cell: (row, { nowMs }) => numberServiceCell(row, nowMs) },
    { title: 'ICCID', sort: 'iccid', cell: ({ iccid }) => iccid },
    { title: 'Label', sort: 'label', cell: ({ label }) => label },
    { title: 'Node', sort: 'node', cell: ({ node }) => nodeCell(node) },
    { title: 'Slot', sort: 'slot', cell: ({ node, slot }) => slotCell(node, slot) },
    { title: 'Carrier', sort: 'carrier', cell: ({ carrier }) => carrierCell(carrier) },
    { title: 'Wallet', sort: 'wallet', cell: ({ wallet }, { isFull }) => walletCell(wallet, isFull) },
    { title: 'Until', sort: 'until', cell: (row) => ({ time: row.expires_at ?? row.quarantined_until }) },
    { title: 'Reason', sort: 'reason', cell: ({ reason }) => reason ?? '' },
  ],
  masked: (row) => ({
    ...row,
    number: listedNumber(row.number, row.wallet !== null),
    wallet: row.wallet && maskedWallet(row.wallet),
  }),
};
