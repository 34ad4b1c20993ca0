// A command goes to the link that its node has by then. After a bus that came and went, each link is checked once.
import t from 'tap';
import { LocalBus } from '#control-plane/bus/local-bus.ts';
import { Fleet } from '#control-plane/nodes/fleet.ts';
import type { NodeLink } from '#control-plane/nodes/node-link.ts';
import { systemClock } from '#shared/clock.ts';
import { until } from '../../fixtures/until.ts';

t.test('a node that links here after it was reached gets its command here', async (t) => {
  const fleet = new Fleet(new LocalBus(systemClock));
  const link = fleet.reach('a');
  const hangUp = () =>
    link.command(
      'hang_up',
      { call_id: 'call_1', reason: 'local_hangup' },
      { id: 'c', timeLeftMs: 1, timeoutMs: 1 },
    );
  await t.rejects(hangUp(), { name: 'NodeUnavailable', isSent: false });
  const got: unknown[] = [];
  const command = async (name: string) => {
    got.push(name);
    return {};
  };
  fleet.attach({ nodeId: 'a', command } as unknown as NodeLink);
  await hangUp();
  t.same(got, ['hang_up']);
});

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
