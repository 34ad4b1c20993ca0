// The answer of each operator procedure.
import type { AlertRow } from '../domain/alert.ts';
import type { RefundLedger } from '../payments/refund.ts';
import type { Database } from '../store/database/database.ts';
import type { importNumbers, NumberRow } from '../store/fleet/numbers.ts';
import type { SlotRow } from '../store/fleet/slot-service.ts';
import type { PaymentEvent } from '../store/money/payment-events.ts';
import type { PaymentRow } from '../store/money/payment-list.ts';
import type { SubscriptionRow } from '../store/money/subscription-list.ts';
import type { AuditRow } from '../store/operations/audit-log.ts';
import type { OperatorRow } from '../store/operations/operators.ts';
import type { ProbeRow, ProbeSummaryRow } from '../store/operations/probe-list.ts';
import type { DeskCall, DeskInput } from './desk-inputs.ts';

/** The type of a value after a round trip through JSON. */
export type Told<T> = T extends Date | bigint
  ? string
  : T extends object
    ? { [K in keyof T]: Told<T[K]> }
    : T;

/** `next` is what the next page is asked for `after`; null on the last. */
export interface Page<R, K = string> {
  rows: R[];
  next: K | null;
}

type StoredRefund = Awaited<ReturnType<RefundLedger['start']>>;

export interface DeskAnswers {
  alerts: AlertRow[];
  numbers: Page<NumberRow>;
  takeOutOfService: null;
  putInService: null;
  retire: null;
  releaseNumber: null;
  admitNumber: null;
  importNumbers: Awaited<ReturnType<typeof importNumbers>>;
  subscriptions: Page<SubscriptionRow>;
  payments: Page<PaymentRow>;
  payment: PaymentRow & { events: PaymentEvent[]; refund_hash: string | null };
  refundable: Awaited<ReturnType<RefundLedger['find']>>;
  voidPayment: null;
  /** Where its end is now. */
  endSubscription: { expires_at: Date };
  startRefund: StoredRefund;
  replaceRefund: StoredRefund;
  adoptRefund: null;
  endRefund: null;
  slots: Page<SlotRow, { node: string; slot: string }>;
  takeSlotOutOfService: null;
  putSlotInService: null;
  /** The node that held it, if one did. */
  transferSim: { iccid: string; from: string | null };
  restartModem: null;
  revokeNode: null;
  /** The key that may connect now. */
  approveNode: { fingerprint: string };
  /** The probe that is under way; `probe` reports its end. */
  sendTest: { id: string };
  probe: ProbeRow;
  probes: Page<ProbeRow, number>;
  probeSummary: ProbeSummaryRow[];
  auditLog: Page<AuditRow, number>;
  operators: OperatorRow[];
  /** The key is returned this once. */
  addOperator: { key: string };
  removeOperator: null;
}

/** Implementations of some procedures, on the database or in the transaction that they are given. */
export type DeskCalls<C extends DeskCall> = {
  [K in C]: (input: DeskInput<K>, db: Database) => Promise<DeskAnswers[K]>;
};

export function page<R, K = string>(rows: R[], limit: number, keyOf: (row: R) => K): Page<R, K> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { rows: shown, next: rows.length > limit && last !== undefined ? keyOf(last) : null };
}
