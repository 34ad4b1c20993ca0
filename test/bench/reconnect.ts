// How soon 200 nodes with 16 modems each are linked again after their control plane was killed, and after it was stopped.
import { startRestartedFleet } from '../fixtures/nodes/restarted-fleet.ts';
import { type Measurement, percentile } from './report.ts';

const P99_S_MAX = 5;

export async function benchReconnect(): Promise<Measurement[]> {
  const { restart, allOnSale, stop } = await startRestartedFleet();
  const measurements: Measurement[] = [];
  try {
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      const waits = await restart(signal);
      const seconds = (percent: number): number => percentile(waits, percent) / 1000;
      measurements.push({
        name: `200 nodes are linked after ${signal} and a start, p99`,
        rounds: [seconds(99)],
        unit: 's',
        target: { atMost: P99_S_MAX },
        remark: `median ${seconds(50).toFixed(1)} s, last ${seconds(100).toFixed(1)} s`,
      });
      await allOnSale();
    }
  } finally {
    await stop();
  }
  return measurements;
}
