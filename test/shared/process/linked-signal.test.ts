// A signal for one task: aborted with the first of its signals, and nothing stays on those that live longer.
import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { linkedSignal } from '#shared/process/linked-signal.ts';

t.test('a linked signal is aborted with the first one, and with its reason', async (t) => {
  const [one, two] = [new AbortController(), new AbortController()];
  const { signal, unlink } = linkedSignal(one.signal, undefined, two.signal);
  t.notOk(signal.aborted);
  two.abort('second');
  one.abort('first');
  t.equal(signal.reason, 'second');
  unlink();
  t.equal(linkedSignal(two.signal).signal.reason, 'second', 'one that is aborted already');
  const late = new AbortController();
  const linked = linkedSignal(late.signal);
  linked.unlink();
  late.abort();
  t.notOk(linked.signal.aborted, 'not after the task');
});

t.test('a hundred thousand tasks leave nothing on a signal of the process', async (t) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heapAfter = async (tasks: number): Promise<number> => {
    for (let task = 0; task < tasks; task += 1) {
      linkedSignal(stop.signal, new AbortController().signal).unlink();
      if (task % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    collect();
    return process.memoryUsage().heapUsed;
  };
  const stop = new AbortController();
  const warnings: Error[] = [];
  process.on('warning', (warning) => warnings.push(warning));
  const before = await heapAfter(10_000);
  const grown = (await heapAfter(100_000)) - before;
  // AbortSignal.any: 6 MB.
  t.ok(grown < 2_000_000, `${grown} bytes`);
  const links = Array.from({ length: 100 }, () => linkedSignal(stop.signal));
  t.equal(getEventListeners(stop.signal, 'abort').length, 100);
  for (const { unlink } of links) unlink();
  t.equal(getEventListeners(stop.signal, 'abort').length, 0);
  await new Promise((resolve) => setImmediate(resolve));
  t.same(warnings, []);
});
