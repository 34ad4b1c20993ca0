// The list of subscriptions.
import type { Cell, Listing } from '#shared/operator/listing.ts';
import type { Json } from '#shared/operator/procedure.ts';
import { type Status, soldStatus } from '#shared/operator/slot-health.ts';
import { maskedNumber, maskedWallet } from '../../domain/shown-value.ts';
import type { SubscriptionRow } from '../../store/money/subscription-list.ts';
import { carrierCell, nodeCell, numberCell, slotCell, walletCell } from './cells.ts';

const EXPIRED: Status = { health: 'off', sign: 'wait', words: 'expired' };

function stateCell({ expires_at, reason, service }: Json<SubscriptionRow>, nowMs: number): Cell {
  if (Date.parse(expires_at) <= nowMs) return { status: EXPIRED, text: 'expired' };
  return { status: soldStatus(service), text: reason === null ? service : `${service} (${reason})` };
}

export const SUBSCRIPTIONS: Listing<Json<SubscriptionRow>> = {
  name: 'subscriptions',
  title: 'Subscriptions',
  empty: 'No subscriptions.',
  columns: [
    { title: 'Subscription', sort: 'id', cell: ({ id }) => id },
    { title: 'Number', sort: 'number', cell: ({ number }, { isFull }) => numberCell(number, !isFull) },
    { title: 'State', sort: 'state', cell: (row, { nowMs }) => stateCell(row, nowMs) },
    { title: 'Node', sort: 'node', cell: ({ node }) => nodeCell(node) },
    { title: 'Slot', sort: 'slot', cell: ({ node, slot }) => slotCell(node, slot) },
    { title: 'Carrier', sort: 'carrier', cell: ({ carrier }) => carrierCell(carrier) },
    { title: 'Wallet', sort: 'wallet', cell: ({ wallet }, { isFull }) => walletCell(wallet, isFull) },
    { title: 'Since', sort: 'since', cell: ({ created_at }) => ({ time: created_at }) },
    { title: 'Until', sort: 'until', cell: ({ expires_at }) => ({ time: expires_at }) },
  ],
  masked: (row) => ({ ...row, number: maskedNumber(row.number), wallet: maskedWallet(row.wallet) }),
};
