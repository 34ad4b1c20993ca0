// A thousand nodes on three instances; one of the instances is killed.
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../fixtures/until.ts';
import { type Measurement, percentile } from '../report.ts';
import { whereTimeGoes } from './busy.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { Fleet } from './fleet.ts';
import { SLOTS_A_NODE } from './numbered-sims.ts';
import { type Load, receiveLoad } from './receive-load.ts';
import { type Subscriber, subscribeMany } from './subscribers.ts';

const NODES = 1_000;
const INSTANCES = 3;
const SUBSCRIBERS = 100;
/** The nodes have reported a few times by then. */
const SETTLE_MS = 12_000;
const QUIET_MS = 12_000;
const LINKED_MAX_MS = 120_000;
const RELINKED_MAX_MS = 60_000;
/** The load goes on for this long after the last node is back. */
const AFTER_MS = 3_000;

export async function benchInstanceDeath({
  nodes = NODES,
}: {
  nodes?: number | undefined;
} = {}): Promise<Measurement[]> {
  const cluster = await startCluster({ instances: INSTANCES });
  let fleet: Fleet | undefined;
  try {
    const enrolledAt = performance.now();
    fleet = await Fleet.enrolled(cluster.url, { databaseUrl: cluster.databaseUrl, nodes });
    const enrolled = (performance.now() - enrolledAt) / 1000;
    const fleetOf = fleet;
    const linkedAt = performance.now();
    const { remark } = await whereTimeGoes(cluster, fleet.pids, () => fleetOf.link(nodes, LINKED_MAX_MS));
    const linked = (performance.now() - linkedAt) / 1000;
    note(`enrolled in ${enrolled.toFixed(1)} s, linked in ${linked.toFixed(1)} s; ${remark}`);
    const subscribers = await subscribeMany(cluster, SUBSCRIBERS);
    await pause(SETTLE_MS);
    return [
      { name: `${nodes} nodes enroll`, rounds: [enrolled], unit: 's' },
      {
        name: `${nodes} new nodes × ${SLOTS_A_NODE} SIMs link at once`,
        rounds: [linked],
        unit: 's',
        remark: `${INSTANCES} instances; ${remark}`,
      },
      ...(await kill(cluster, { fleet, nodes }, subscribers)),
    ];
  } finally {
    await fleet?.stop();
    await cluster.stop();
  }
}

async function kill(
  cluster: Cluster,
  { fleet, nodes }: { fleet: Fleet; nodes: number },
  subscribers: readonly Subscriber[],
): Promise<Measurement[]> {
  const { instances, url } = cluster;
  const idle = await whereTimeGoes(cluster, fleet.pids, () => pause(QUIET_MS));
  const quiet = await during(url, subscribers, () => pause(QUIET_MS));
  await fleet.watch();
  let killedAt = 0;
  const away = await during(url, subscribers, async () => {
    killedAt = Date.now();
    process.kill(instances.at(-1)?.pid ?? 0, 'SIGKILL');
    await until('nodes lose their links', async () => (await fleet.watched()).lost > 0);
    await until(
      'all nodes have a link',
      async () => (await fleet.watched()).linked === nodes,
      RELINKED_MAX_MS,
    );
    note('all nodes have a link again');
    await pause(AFTER_MS);
  });
  const { lost, linkedAt } = await fleet.watched();
  const waits = linkedAt.map((at) => (at - killedAt) / 1000);
  const ms = ({ times }: Load, percent: number): string => percentile(times, percent).toFixed(1);
  return [
    {
      name: `${nodes} idle nodes at ${INSTANCES} instances`,
      rounds: [idle.cores.instances + idle.cores.Postgres],
      unit: 'cores',
      remark: idle.remark,
    },
    {
      name: `one of ${INSTANCES} instances is killed: all its nodes are linked elsewhere`,
      rounds: [Math.max(...waits)],
      unit: 's',
      target: { atMost: 10 },
      remark: `${lost} of ${nodes} nodes, median ${percentile(waits, 50).toFixed(1)} s`,
    },
    {
      name: '/sms/receive through it : quiet, p99',
      rounds: [percentile(away.times, 99) / percentile(quiet.times, 99)],
      unit: '×',
      target: { atMost: 3 },
      remark: `p50, p99, slowest ${[50, 99, 100].map((percent) => ms(away, percent)).join(', ')} ms against ${[50, 99, 100].map((percent) => ms(quiet, percent)).join(', ')} ms; ${away.repeated} requests repeated`,
    },
  ];
}

const note = (text: string): void => void process.stderr.write(`  ${text}\n`);

async function during(
  url: string,
  subscribers: readonly Subscriber[],
  work: () => Promise<unknown>,
): Promise<Load> {
  const stop = new AbortController();
  const load = receiveLoad(url, subscribers, stop.signal);
  await work();
  stop.abort();
  return load;
}
