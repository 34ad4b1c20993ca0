// Work takes turns at a limited number of places.
import t from 'tap';
import { Semaphore } from '#shared/semaphore.ts';
import { until } from '../fixtures/until.ts';

t.test('work is bounded and runs in order; failed work frees its place', async (t) => {
  const work = new Semaphore(2);
  const begun: number[] = [];
  const ends = new Map<number, (error?: Error) => void>();
  const runs = [0, 1, 2, 3].map((index) =>
    work.run(() => {
      begun.push(index);
      return new Promise<number>((resolve, reject) =>
        ends.set(index, (error) => (error === undefined ? resolve(index) : reject(error))),
      );
    }),
  );
  t.same(begun, [0, 1]);
  const failed = t.rejects(async () => void (await runs[1]), { message: 'lost' });
  ends.get(1)?.(new Error('lost'));
  await failed;
  await until('the third', () => begun.length === 3);
  t.same(begun, [0, 1, 2]);
  ends.get(0)?.();
  await until('the fourth', () => begun.length === 4);
  for (const index of [2, 3]) ends.get(index)?.();
  t.same(await Promise.all([runs[0], runs[2], runs[3]]), [0, 2, 3]);
  t.equal(await work.run(async () => 'free'), 'free');
});
