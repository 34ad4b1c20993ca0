// A node that links again and again: reports of its replaced links take no turns of other nodes.
import t from 'tap';
import { LocalBus } from '#control-plane/bus/local-bus.ts';
import { Fleet } from '#control-plane/nodes/fleet.ts';
import type { NodeLink } from '#control-plane/nodes/node-link.ts';
import { ReportBudget } from '#control-plane/nodes/report-budget.ts';
import { SlotSnapshots, type SnapshotParts } from '#control-plane/nodes/slot-snapshots.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';

/** As many reports as are stored at a time. */
const TURNS = 3;

t.test('of the waiting reports of one node, only that of its present link uses the database', async (t) => {
  const clock = new ManualClock();
  const bus = new LocalBus(clock);
  const fleet = new Fleet(bus);
  let asked = 0;
  const failing = new Proxy(
    {},
    {
      get() {
        asked += 1;
        throw new Error('asked');
      },
    },
  );
  const reportBudget = new ReportBudget(clock);
  const parts = {
    db: failing,
    bus,
    clock,
    fleet,
    log: silentLogger,
    reportBudget,
  } as unknown as SnapshotParts;
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const others = Array.from({ length: TURNS }, () => fleet.reporting.run(() => held));
  const links = Array.from({ length: 50 }, (_, index) => {
    const link = { nodeId: 'rogue', linkId: String(index) } as NodeLink;
    fleet.attach(link);
    const failures: unknown[] = [];
    const snapshots = new SlotSnapshots(parts, link, link.linkId, (error) => failures.push(error));
    snapshots.put({ slots: [], alarms: ['an alarm'] });
    return { snapshots, failures };
  });
  release();
  await Promise.all([...others, ...links.map(({ snapshots }) => snapshots.written())]);
  t.same(
    links.slice(0, -1).flatMap(({ failures }) => failures),
    [],
  );
  t.equal(links.at(-1)?.failures.length, 1, 'the present one');
  t.equal(asked, 1);
});
