// Costs and earnings of SIMs, summed by node or carrier. Pure.
import { formatUnits, parseUnits } from 'viem';
import * as z from 'zod';
import { decimalsOf, shownValue } from './shown-value.ts';

/** Amount of one token, in its smallest unit. */
export const earnedSchema = z.object({
  chain_id: z.number(),
  asset: z.string(),
  value: z.string(),
});
export type Earned = z.output<typeof earnedSchema>;

interface SimCost {
  node: string | null;
  carrier: string | null;
  /** Dollars. */
  cost: string | null;
  earned: readonly Earned[];
  is_sold: boolean;
}

/** The SIMs of one node or carrier in a month. */
export const costGroupSchema = z.object({
  /** Null for SIMs that are in no node, or of an unknown carrier. */
  name: z.string().nullable(),
  sims: z.number(),
  sold: z.number(),
  /** SIMs without a known cost. */
  unpriced: z.number(),
  /** Dollars, of the SIMs with a cost; null if none has one. */
  cost: z.string().nullable(),
  earned: z.array(earnedSchema),
});
export type CostGroup = z.output<typeof costGroupSchema>;

const CENTS = 2;
/** As dollars have: the rest of a share is rounded. */
const DOLLAR_DIGITS = 6;

/** By name; SIMs without one come last. */
export function groupCosts(sims: readonly SimCost[], by: 'node' | 'carrier'): CostGroup[] {
  const groups = new Map<string | null, SimCost[]>();
  for (const sim of sims) groups.set(sim[by], [...(groups.get(sim[by]) ?? []), sim]);
  return [...groups]
    .map(([name, members]) => ({
      name,
      sims: members.length,
      sold: members.filter(({ is_sold }) => is_sold).length,
      unpriced: members.filter(({ cost }) => cost === null).length,
      cost: sumOfCosts(members.flatMap(({ cost }) => cost ?? [])),
      earned: sumOf(members.flatMap(({ earned }) => earned)),
    }))
    .sort((one, other) =>
      one.name === null ? 1 : other.name === null ? -1 : one.name < other.name ? -1 : 1,
    );
}

const sumOfCosts = (costs: readonly string[]): string | null =>
  costs.length === 0
    ? null
    : Number(
        formatUnits(
          costs.reduce((sum, cost) => sum + parseUnits(cost, CENTS), 0n),
          CENTS,
        ),
      ).toFixed(CENTS);

function sumOf(amounts: readonly Earned[]): Earned[] {
  const sums = new Map<string, Earned>();
  for (const amount of amounts) {
    const key = `${amount.chain_id} ${amount.asset}`;
    const value = BigInt(sums.get(key)?.value ?? 0) + BigInt(amount.value);
    sums.set(key, { ...amount, value: String(value) });
  }
  return [...sums.values()];
}

/** Dollars with two digits, if all is USDC; else each token with its amount. */
export function shownEarned(earned: readonly Earned[]): string {
  const dollars = dollarsOf(earned);
  return dollars === undefined ? earned.map(shownValue).join(' + ') : toCents(dollars);
}

/** Earnings minus cost in dollars; null if either is unknown in dollars, also if only some SIMs of a group have a cost. */
export function monthResultOf({
  cost,
  earned,
  unpriced = 0,
}: {
  cost: string | null;
  earned: readonly Earned[];
  unpriced?: number;
}): string | null {
  const dollars = dollarsOf(earned);
  if (dollars === undefined || cost === null || unpriced > 0) return null;
  return toCents(dollars - parseUnits(cost, DOLLAR_DIGITS));
}

/** In the smallest unit of USDC; undefined if there is another token. */
function dollarsOf(earned: readonly Earned[]): bigint | undefined {
  if (earned.some((amount) => decimalsOf(amount) !== DOLLAR_DIGITS)) return undefined;
  return earned.reduce((sum, { value }) => sum + BigInt(value), 0n);
}

const toCents = (dollars: bigint): string => Number(formatUnits(dollars, DOLLAR_DIGITS)).toFixed(CENTS);
