// What an operator does with numbers, subscriptions and payments: on the database here, or through the service that has it.
import type { Clock } from '#shared/clock.ts';
import { OperatorRefusal } from '../domain/operator-refusal.ts';
import type { RefundLedger } from '../payments/refund.ts';
import type { Database } from '../store/database.ts';
import {
  importNumbers,
  listNumbers,
  type NumberRow,
  retireNumber,
  setOutOfService,
} from '../store/numbers.ts';
import { listPaymentEvents, type PaymentEvent } from '../store/payment-events.ts';
import { findPaymentRow, listPayments, type PaymentRow } from '../store/payment-list.ts';
import { createRefundLedger } from '../store/refunds.ts';
import { listSubscriptions, type SubscriptionRow } from '../store/subscription-list.ts';
import { DESK_INPUTS, type DeskCall, type DeskInput } from './desk-inputs.ts';

/** What JSON makes of a value. */
export type Told<T> = T extends Date | bigint
  ? string
  : T extends object
    ? { [K in keyof T]: Told<T[K]> }
    : T;

export interface Page<R> {
  rows: R[];
  /** What the next page is asked for `after`; null on the last. */
  next: string | null;
}

type Refundable = Awaited<ReturnType<RefundLedger['find']>>;
type StoredRefund = Awaited<ReturnType<RefundLedger['start']>>;

/** What each call answers. */
interface Answers {
  numbers: Page<NumberRow>;
  takeOutOfService: null;
  putInService: null;
  retire: null;
  importNumbers: Awaited<ReturnType<typeof importNumbers>>;
  subscriptions: Page<SubscriptionRow>;
  payments: Page<PaymentRow>;
  payment: PaymentRow & { events: PaymentEvent[]; refund_hash: string | null };
  refundable: Refundable;
  startRefund: StoredRefund;
  replaceRefund: StoredRefund;
  adoptRefund: null;
  endRefund: null;
}

export interface Desk {
  /** Throws `OperatorRefusal` when the state of things does not allow it. */
  ask<C extends DeskCall>(call: C, input: DeskInput<C>): Promise<Told<Answers[C]>>;
}

export const isDeskCall = (name: string): name is DeskCall => Object.hasOwn(DESK_INPUTS, name);

export function createDesk({ db, clock }: { db: Database; clock: Clock }): Desk {
  const now = (): Date => new Date(clock.now());
  const ledger = createRefundLedger(db, now);
  const calls: { [C in DeskCall]: (input: DeskInput<C>) => Promise<Answers[C]> } = {
    numbers: async (query) => page(await listNumbers(db, query, now()), query.limit, ({ number }) => number),
    takeOutOfService: async ({ number, reason }) => {
      await setOutOfService(db, number, reason, now());
      return null;
    },
    putInService: async ({ number }) => {
      await setOutOfService(db, number, undefined, now());
      return null;
    },
    retire: async ({ number }) => {
      await retireNumber(db, number, now());
      return null;
    },
    importNumbers: ({ rows }) => importNumbers(db, rows, now()),
    subscriptions: async (query) =>
      page(await listSubscriptions(db, query, now()), query.limit, ({ id }) => id),
    payments: async (query) => page(await listPayments(db, query, now()), query.limit, ({ id }) => id),
    payment: async ({ id }) => {
      const row = await findPaymentRow(db, id);
      if (row === undefined) throw new OperatorRefusal(`there is no payment ${id}`);
      const { refund } = await ledger.find(id);
      return { ...row, refund_hash: refund?.hash ?? null, events: await listPaymentEvents(db, id) };
    },
    refundable: ({ id }) => ledger.find(id),
    startRefund: ({ id, refund, transferHash, reason }) => ledger.start(id, refund, transferHash, reason),
    replaceRefund: ({ id, hash, refund, reason }) => ledger.replace(id, hash, refund, reason),
    adoptRefund: async ({ id, hash, mined }) => {
      await ledger.adopt(id, hash, mined);
      return null;
    },
    endRefund: async ({ id, hash }) => {
      await ledger.end(id, hash);
      return null;
    },
  };
  return {
    async ask(call, input) {
      const parsed = DESK_INPUTS[call].parse(input) as DeskInput<typeof call>;
      return told(await calls[call](parsed));
    },
  };
}

/** The same form here as over the socket. */
const told = <T>(value: T): Told<T> =>
  JSON.parse(
    JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part)),
  ) as Told<T>;

function page<R>(rows: R[], limit: number, keyOf: (row: R) => string): Page<R> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { rows: shown, next: rows.length > limit && last !== undefined ? keyOf(last) : null };
}

/** The ledger of refunds behind a desk. */
export function refundLedgerOf(desk: Desk): RefundLedger {
  return {
    async find(id) {
      const { transfer, ...payment } = await desk.ask('refundable', { id });
      return {
        ...payment,
        transfer: { ...transfer, value: BigInt(transfer.value) },
      };
    },
    start: (id, refund, transferHash, reason) =>
      desk.ask('startRefund', { id, refund, transferHash, reason }),
    replace: (id, hash, refund, reason) => desk.ask('replaceRefund', { id, hash, refund, reason }),
    adopt: async (id, hash, mined) => {
      await desk.ask('adoptRefund', { id, hash, mined });
    },
    end: async (id, hash) => {
      await desk.ask('endRefund', { id, hash });
    },
  };
}
