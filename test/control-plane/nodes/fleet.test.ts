// A bus that comes and goes: the links of an instance are checked once after the last time.
import t from 'tap';
import { LocalBus } from '#control-plane/bus/local-bus.ts';
import { Fleet } from '#control-plane/nodes/fleet.ts';
import type { NodeLink } from '#control-plane/nodes/node-link.ts';
import { systemClock } from '#shared/clock.ts';
import { until } from '../../fixtures/until.ts';

t.test('a check of all links ends when another one begins', async (t) => {
  const bus = new LocalBus(systemClock);
  const fleet = new Fleet(bus);
  const checked: string[] = [];
  const waiting: Array<() => void> = [];
  for (const nodeId of ['a', 'b', 'c'])
    fleet.attach({
      nodeId,
      recheck() {
        checked.push(nodeId);
        return new Promise<void>((resolve) => waiting.push(resolve));
      },
    } as unknown as NodeLink);
  for (let time = 0; time < 3; time += 1) bus.publish({ kind: 'bus_changed', isConnected: true });
  await until('each waits for its first answer', () => waiting.length === 3);
  await until('the last one is through', () => {
    waiting.shift()?.();
    return checked.includes('c');
  });
  t.same(checked, ['a', 'a', 'a', 'b', 'c']);
});
