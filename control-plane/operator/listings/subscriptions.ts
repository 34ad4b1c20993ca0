// The list of subscriptions.
import type { Listing } from '#shared/operator/listing.ts';
import type { Json } from '#shared/operator/procedure.ts';
import type { Status } from '#shared/operator/slot-health.ts';
import { maskedNumber, maskedWallet } from '../../domain/shown-value.ts';
import type { SubscriptionRow } from '../../store/money/subscription-list.ts';
import { numberCell, walletCell } from './cells.ts';

const STATUS = {
  expired: { health: 'off', sign: 'wait', words: 'expired' },
  bound: { health: 'good', sign: 'check', words: 'bound' },
  unbound: { health: 'warn', sign: 'search', words: 'unbound' },
} as const satisfies Record<string, Status>;

function stateAt({ expires_at, is_bound }: Json<SubscriptionRow>, nowMs: number): keyof typeof STATUS {
  if (Date.parse(expires_at) <= nowMs) return 'expired';
  return is_bound ? 'bound' : 'unbound';
}

export const SUBSCRIPTIONS: Listing<Json<SubscriptionRow>> = {
  name: 'subscriptions',
  title: 'Subscriptions',
  empty: 'No subscriptions.',
  columns: [
    { title: 'Subscription', cell: ({ id }) => id },
    { title: 'Number', cell: ({ number }, { isFull }) => numberCell(number, !isFull) },
    {
      title: 'State',
      cell(row, { nowMs }) {
        const state = stateAt(row, nowMs);
        return { status: STATUS[state], text: state };
      },
    },
    { title: 'Wallet', cell: ({ wallet }, { isFull }) => walletCell(wallet, isFull) },
    { title: 'Since', cell: ({ created_at }) => ({ time: created_at }) },
    { title: 'Until', cell: ({ expires_at }) => ({ time: expires_at }) },
  ],
  masked: (row) => ({ ...row, number: maskedNumber(row.number), wallet: maskedWallet(row.wallet) }),
};
