// The list of subscriptions.
import type { Listing } from '#shared/operator/listing.ts';
import type { Json } from '#shared/operator/procedure.ts';
import { maskedNumber, maskedWallet } from '../../domain/shown-value.ts';
import type { SUBSCRIPTION_SORTS, SubscriptionRow } from '../../store/money/subscription-list.ts';
import { carrierCell, EXPIRED, nodeCell, numberCell, serviceCell, slotCell, walletCell } from './cells.ts';

export const SUBSCRIPTIONS: Listing<Json<SubscriptionRow>, keyof typeof SUBSCRIPTION_SORTS> = {
  name: 'subscriptions',
  title: 'Subscriptions',
  empty: 'No subscriptions.',
  columns: [
    { title: 'Subscription', sort: 'id', cell: ({ id }) => id },
    { title: 'Number', sort: 'number', cell: ({ number }, { isFull }) => numberCell(number, !isFull) },
    {
      title: 'State',
      sort: 'state',
      cell: ({ expires_at, reason, service }, { nowMs }) =>
        Date.parse(expires_at) <= nowMs ? { status: EXPIRED, text: 'expired' } : serviceCell(service, reason),
    },
    // Where the SIM is, or where it was.
    {
      title: 'Node',
      sort: 'node',
      cell: ({ node, is_present }) =>
        node === null || is_present ? nodeCell(node) : { words: `was ${node}`, text: node },
    },
    { title: 'Slot', sort: 'slot', cell: ({ node, slot }) => slotCell(node, slot) },
    { title: 'Carrier', sort: 'carrier', cell: ({ carrier }) => carrierCell(carrier) },
    { title: 'Wallet', sort: 'wallet', cell: ({ wallet }, { isFull }) => walletCell(wallet, isFull) },
    { title: 'Since', sort: 'since', cell: ({ created_at }) => ({ time: created_at }) },
    { title: 'Until', sort: 'until', cell: ({ expires_at }) => ({ time: expires_at }) },
  ],
  masked: (row) => ({ ...row, number: maskedNumber(row.number), wallet: maskedWallet(row.wallet) }),
};
