// The share of each payment that is refunded when a subscription ends. Pure.
import { OperatorRefusal } from './refusal.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** A payment and the period that it bought. */
interface PaidPeriod {
  id: string;
  /** Smallest units of the token. */
  value: bigint;
  /** Null in both: nothing of it is left. */
  paidFrom: Date | null;
  paidUntil: Date | null;
}

export interface RefundShare {
  id: string;
  /** Smallest units of the token, more than 0. */
  value: bigint;
  /** If the value is that of the unused days: whole days that are left of the period, and all its days. */
  daysLeft?: number;
  days?: number;
}

/**
 * The unused share of each price: by whole days left, rounded down to the token's smallest unit. Days that were added as goodwill belong to
 * no payment, and so are worth nothing. Payments without a share are left out.
 */
export function unusedShares(periods: readonly PaidPeriod[], now: Date): RefundShare[] {
  return periods.flatMap((period) => {
    const { daysLeft, days } = daysOf(period, now);
    if (daysLeft === 0) return [];
    const value = unusedValue(period, { daysLeft, days });
    return value === 0n ? [] : [{ id: period.id, value, daysLeft, days }];
  });
}

/**
 * An amount, from the first period on, at most the value of each. `shown`: the amount as an operator writes it. Throws `OperatorRefusal` if
 * it is more than all of them together.
 */
export function sharesOf(
  periods: readonly PaidPeriod[],
  amount: bigint,
  { now, shown }: { now: Date; shown: (value: bigint) => string },
): RefundShare[] {
  const paid = periods.reduce((sum, { value }) => sum + value, 0n);
  if (amount > paid)
    throw new OperatorRefusal(
      `Nothing was done: the refund may be at most ${shown(paid)}, which was paid and not refunded before.`,
    );
  let left = amount;
  return periods.flatMap((period) => {
    const value = smaller(left, period.value);
    left -= value;
    if (value === 0n) return [];
    const { daysLeft, days } = daysOf(period, now);
    const isUnusedShare = days > 0 && value === unusedValue(period, { daysLeft, days });
    return [{ id: period.id, value, ...(isUnusedShare ? { daysLeft, days } : {}) }];
  });
}

const unusedValue = ({ value }: PaidPeriod, { daysLeft, days }: { daysLeft: number; days: number }): bigint =>
  (value * BigInt(daysLeft)) / BigInt(days);

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);

function daysOf({ paidFrom, paidUntil }: PaidPeriod, now: Date): { daysLeft: number; days: number } {
  if (paidFrom === null || paidUntil === null) return { daysLeft: 0, days: 0 };
  const from = Math.max(now.getTime(), paidFrom.getTime());
  const days = Math.round((paidUntil.getTime() - paidFrom.getTime()) / DAY_MS);
  const daysLeft = Math.floor((paidUntil.getTime() - from) / DAY_MS);
  return { daysLeft: Math.max(0, Math.min(daysLeft, days)), days };
}

/** An amount as an operator writes it, such as `899.50`, in smallest units. Throws `OperatorRefusal` for more digits than the token has. */
export function amountOf(text: string, decimals: number): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  if (fraction.length > decimals)
    throw new OperatorRefusal(
      decimals === 0
        ? 'Nothing was done: the amount of this token is a whole number of its smallest unit.'
        : `Nothing was done: the amount has more than ${decimals} digits after the point.`,
    );
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}
