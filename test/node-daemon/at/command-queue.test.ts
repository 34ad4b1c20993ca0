// The order of commands: priorities count, and every command has its turn.
import t from 'tap';
import { CommandQueue, PASSED_OVER_MAX, QUEUE_LENGTH_MAX } from '#node-daemon/at/command-queue.ts';

t.test('the higher priority first, each in its order', async (t) => {
  const queue = new CommandQueue<string>();
  for (const name of ['b1', 'b2']) queue.push(name, 'background');
  for (const name of ['n1', 'n2']) queue.push(name, 'normal');
  queue.push('u1', 'urgent');
  t.same(
    Array.from({ length: 6 }, () => queue.shift()),
    ['u1', 'n1', 'n2', 'b1', 'b2', undefined],
  );
});

t.test('no command starves: under a flood of urgent ones the others have their turn', async (t) => {
  const queue = new CommandQueue<string>();
  queue.push('n', 'normal');
  queue.push('b', 'background');
  const served: (string | undefined)[] = [];
  for (let turn = 0; turn < PASSED_OVER_MAX + 2; turn += 1) {
    queue.push('u', 'urgent');
    served.push(queue.shift());
  }
  t.same(served.slice(0, PASSED_OVER_MAX), Array(PASSED_OVER_MAX).fill('u'));
  t.same(served.slice(PASSED_OVER_MAX), ['n', 'b']);
});

t.test('each lane has a bound of its own', async (t) => {
  const queue = new CommandQueue<number>();
  for (let index = 0; index < QUEUE_LENGTH_MAX; index += 1) t.ok(queue.push(index, 'background'));
  t.notOk(queue.push(-1, 'background'));
  t.ok(queue.push(-2, 'urgent'));
  t.equal(queue.drain().length, QUEUE_LENGTH_MAX + 1);
  t.equal(queue.shift(), undefined);
});
