// Work of one key waits for the earlier work of that key alone.
import t from 'tap';
import { KeyedQueue } from '#shared/keyed-queue.ts';

t.test('work of a key runs in order, also after work that failed; another key does not wait', async (t) => {
  const queue = new KeyedQueue();
  const begun: string[] = [];
  let fail = (): void => undefined;
  const failing = queue.run('a', () => {
    begun.push('a1');
    return new Promise<void>((_, reject) => {
      fail = () => reject(new Error('lost'));
    });
  });
  const failed = t.rejects(failing, { message: 'lost' });
  const next = queue.run('a', async () => begun.push('a2'));
  t.equal(await queue.run('b', async () => begun.push('b1')), 2);
  t.same(begun, ['a1', 'b1']);
  t.equal(queue.size, 2);
  fail();
  await failed;
  await queue.ended();
  t.same(begun, ['a1', 'b1', 'a2']);
  t.equal(await next, 3);
  await queue.run('a', async () => t.equal(queue.size, 1));
  t.equal(queue.size, 0);
});
