// How many reads many callers cost the database: of a thousand wrong keys at once, or of numbers on sale.
import t from 'tap';
import { FreshRead } from '#control-plane/bus/fresh-read.ts';

t.test(
  'however many ask, one read at a time answers them, and none that began before they asked',
  async (t) => {
    const ends: ((value: number) => void)[] = [];
    const reads = new FreshRead(() => new Promise<number>((resolve) => ends.push(resolve)));
    const first = reads.ask();
    const others = Array.from({ length: 1_000 }, () => reads.ask());
    t.equal(ends.length, 1);
    ends[0]?.(1);
    t.equal(await first, 1);
    const late = reads.ask();
    t.equal(ends.length, 2);
    ends[1]?.(2);
    t.same(new Set(await Promise.all(others)), new Set([2]));
    ends[2]?.(3);
    t.equal(await late, 3);
    t.equal(ends.length, 3);
  },
);

t.test('a read that fails fails for those who asked until it began, and for no others', async (t) => {
  let count = 0;
  const reads = new FreshRead(async () => {
    count += 1;
    if (count === 1) throw new Error('the database is away');
    return count;
  });
  const first = reads.ask();
  const second = reads.ask();
  await t.rejects(first, /away/);
  t.equal(await second, 2);
  t.equal(await reads.ask(), 3);
});
