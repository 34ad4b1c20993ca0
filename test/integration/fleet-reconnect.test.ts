// 200 nodes with 16 modems each after their control plane was killed, and after it was stopped. `npm run bench -- reconnect` says how soon.
import t from 'tap';
import { percentile } from '../bench/report.ts';
import { startRestartedFleet } from '../fixtures/nodes/restarted-fleet.ts';

t.test('200 nodes link again, not all at the same instant', { timeout: 300_000 }, async (t) => {
  const { restart, allOnSale, errors, stop } = await startRestartedFleet();
  t.teardown(stop);
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    const waits = await restart(signal);
    const spread = percentile(waits, 95) - percentile(waits, 5);
    t.ok(spread > 100, `after ${signal} they come over ${spread.toFixed(0)} ms`);
    await allOnSale();
  }
  t.same(errors.slice(0, 3), [], 'nothing failed');
});
