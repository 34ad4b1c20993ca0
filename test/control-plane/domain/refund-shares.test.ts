// The unused share of a price: by whole days, rounded down.
import t from 'tap';
import { amountOf, sharesOf, unusedShares } from '#control-plane/domain/refund-shares.ts';

const PRICE = 1_800_000_000n;
const at = (text: string): Date => new Date(text);
const year = (id: string, from: string, until: string) => ({
  id,
  value: PRICE,
  paidFrom: at(from),
  paidUntil: at(until),
});
const ONE = year('a', '2027-03-01T12:00:00Z', '2028-03-01T12:00:00Z');

t.test('whole days that are left, of 365 or 366', async (t) => {
  for (const [now, daysLeft] of [
    ['2027-03-01T12:00:00Z', 366],
    ['2027-03-01T12:00:00.001Z', 365],
    ['2028-02-28T12:00:00Z', 2],
    ['2028-02-29T12:00:00Z', 1],
  ] as const) {
    const [share] = unusedShares([ONE], at(now));
    t.same(share, { id: 'a', value: (PRICE * BigInt(daysLeft)) / 366n, daysLeft, days: 366 }, now);
  }
  for (const now of ['2028-02-29T12:00:00.001Z', '2028-03-01T12:00:00Z', '2030-01-01T00:00:00Z'])
    t.same(unusedShares([ONE], at(now)), [], `${now}: no whole day`);
  t.same(unusedShares([{ ...ONE, value: 1n }], at('2027-06-01T00:00:00Z')), [], 'rounded down to nothing');
  t.same(unusedShares([{ ...ONE, paidFrom: null, paidUntil: null }], at('2027-06-01T00:00:00Z')), []);
});

t.test(
  'a year that has not begun is unused, days of goodwill between two years belong to none',
  async (t) => {
    const next = year('b', '2028-04-01T12:00:00Z', '2029-04-01T12:00:00Z');
    const shares = unusedShares([next, ONE], at('2028-03-15T00:00:00Z'));
    t.same(shares, [{ id: 'b', value: PRICE, daysLeft: 365, days: 365 }]);
  },
);

t.test('an amount is spread over the payments, each up to its value', async (t) => {
  const now = at('2027-06-01T00:00:00Z');
  const spread = (amount: bigint) =>
    sharesOf([ONE, { ...ONE, id: 'b' }], amount, { now, shown: String }).map(({ id, value }) => [id, value]);
  t.same(spread(1n), [['a', 1n]]);
  t.same(spread(PRICE), [['a', PRICE]]);
  t.same(spread(PRICE + 1n), [
    ['a', PRICE],
    ['b', 1n],
  ]);
  t.throws(() => spread(2n * PRICE + 1n), /at most 3600000000/);
});

t.test('amounts as operators write them', async (t) => {
  for (const [text, decimals, value] of [
    ['900', 6, 900_000_000n],
    ['899.5', 6, 899_500_000n],
    ['0.000001', 6, 1n],
    ['007.50', 6, 7_500_000n],
    ['12', 0, 12n],
  ] as const)
    t.equal(amountOf(text, decimals), value, text);
  t.throws(() => amountOf('0.0000001', 6), /more than 6 digits/);
  t.throws(() => amountOf('1.5', 0), /whole number/);
});
