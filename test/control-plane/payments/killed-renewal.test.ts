// A kill at every await between credential and answer of a renewal: the money moves once and buys one year, or does not move.
import t from 'tap';
import { dieAtEveryAwait } from '../../fixtures/payment-lives.ts';

t.test('killed at every await', { timeout: 380_000 }, async (t) => {
  const points = (await dieAtEveryAwait(t, { isRenewal: true })).join('\n');
  t.comment(points);
  t.match(points, 'payments/relayer.ts');
  t.match(points, 'store/payments.ts');
});
