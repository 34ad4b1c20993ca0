// Received texts that are committed and acknowledged in a second, by one instance and by three on the same Postgres.
import type { Measurement } from '../report.ts';
import { median } from '../report.ts';
import { whereTimeGoes } from './busy.ts';
import { startCluster } from './cluster.ts';
import { Fleet } from './fleet.ts';
import { SLOTS_A_NODE } from './numbered-sims.ts';
import { subscribeMany } from './subscribers.ts';

const INSTANCES = 3;
const NODES = 60;
/** A node with this many texts that wait keeps each commit large; a fleet at rest has one text a commit. */
const OUTSTANDING = [1, 64] as const;
const ROUNDS = 3;
const WARM_UP_MS = 1_000;
const ROUND_MS = 5_000;

export async function benchFacts(): Promise<Measurement[]> {
  const cluster = await startCluster({ instances: INSTANCES });
  const { databaseUrl } = cluster;
  const fleets: Fleet[] = [];
  try {
    for (const [index, url] of [String(cluster.urls[0]), cluster.url].entries()) {
      const fleet = await Fleet.enrolled(url, { databaseUrl, nodes: NODES, first: index * NODES });
      fleets.push(fleet);
      await fleet.link(NODES);
    }
    await subscribeMany(cluster, 2 * NODES * SLOTS_A_NODE);
    const [one, three] = fleets as [Fleet, Fleet];
    const measured: Measurement[] = [];
    for (const outstanding of OUTSTANDING) {
      const rounds: Array<{ one: number; three: number }> = [];
      let remarks = { one: '', three: '' };
      for (let round = 0; round < ROUNDS; round += 1) {
        const load = { nodes: NODES, outstanding, warmUpMs: WARM_UP_MS, forMs: ROUND_MS };
        const alone = await whereTimeGoes(cluster, one.pids, () => one.factsPerSecond(load));
        const spread = await whereTimeGoes(cluster, three.pids, () => three.factsPerSecond(load));
        rounds.push({ one: alone.result, three: spread.result });
        remarks = { one: alone.remark, three: spread.remark };
      }
      const name = `${NODES} nodes with ${outstanding} unacknowledged`;
      measured.push(
        {
          name: `texts committed, 1 instance, ${name}`,
          rounds: rounds.map((each) => each.one),
          unit: '/s',
          remark: remarks.one,
        },
        {
          name: `texts committed, ${INSTANCES} instances, ${name}`,
          rounds: rounds.map((each) => each.three),
          unit: '/s',
          remark: remarks.three,
        },
        {
          name: `texts committed, ${INSTANCES} instances : 1, ${name}`,
          rounds: rounds.map((each) => each.three / each.one),
          unit: '×',
          remark: `${median(rounds.map((each) => each.three)).toFixed(0)}/s against ${median(rounds.map((each) => each.one)).toFixed(0)}/s`,
        },
      );
    }
    return measured;
  } finally {
    for (const fleet of fleets) await fleet.stop();
    await cluster.stop();
  }
}
