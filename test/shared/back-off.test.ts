// Waits between attempts: quick once, then longer up to the cap, jittered, and quick again after a reset.
import t from 'tap';
import { BackOff, doubledMs } from '#shared/back-off.ts';

const LIMITS = { firstMinMs: 50, firstMaxMs: 250, capMs: 10_000 };

t.test('the waits stay within their bounds whatever chance does', async (t) => {
  for (const random of [0, 0.5, 0.999]) {
    const backOff = new BackOff(LIMITS, () => random);
    const waits = Array.from({ length: 60 }, () => backOff.next());
    t.ok((waits[0] ?? 0) >= 50 && (waits[0] ?? 0) <= 250);
    t.ok(waits.every((wait) => wait <= 10_000));
    t.ok((waits.at(-1) ?? 0) >= 5_000);
    t.ok(
      waits.slice(1, 6).every((wait, index) => wait >= (waits[index] ?? 0)),
      'they grow',
    );
    backOff.reset();
    t.ok(backOff.next() <= 250);
  }
});

t.test('a wait without chance doubles up to its cap, however often', async (t) => {
  t.same(
    [1, 2, 3, 4, 5, 2_000].map((count) => doubledMs(15, count, 200)),
    [15, 30, 60, 120, 200, 200],
  );
});
