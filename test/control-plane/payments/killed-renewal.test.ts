// A kill at each await between credential and answer of a renewal: the money moves once and buys one year, or does not move.
import t from 'tap';
import { dieAtAwaits } from '../../fixtures/payments/payment-lives.ts';
import { someOf } from '../../fixtures/sweep.ts';

t.test('killed at an await', { timeout: 380_000 }, async (t) => {
  const points = await dieAtAwaits(t, { isRenewal: true, choose: (points) => someOf(t, points, 6) });
  t.comment(points.join('\n'));
  for (const file of ['payments/relayer.ts', 'store/money/payment-application.ts'])
    t.ok(
      points.some((point) => point.includes(file)),
      file,
    );
});
