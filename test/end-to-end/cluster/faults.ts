// The parts that die in a round, and how they come back.
import { kill } from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../fixtures/until.ts';
import type { Cluster, Instance } from './cluster.ts';

/** Longer than heartbeats of media links take, shorter than a node keeps calls without a control plane. */
const HOLED_MS = 8_000;
const NATS_AWAY_MS = 3_000;
const RESTART_TIMEOUT_MS = 90_000;

export interface Fault {
  name: string;
  /** Index of the instance that dies with its streams; undefined where all streams must go on. */
  dies?: number;
  /** For how long audio itself is held back. */
  silentMs?: number;
  /** Resolves when the part is back. */
  run(cluster: Cluster): Promise<void>;
}

type LinkName = keyof Instance['links'];

const killInstance = (index: number): Fault => ({
  name: `kill -9 of instance ${index + 1}`,
  dies: index,
  async run({ instances }) {
    const { name, program } = instances[index] as Instance;
    const { pid } = program;
    kill(pid, 'SIGKILL');
    await until(`${name} is started again`, () => program.pid !== pid, RESTART_TIMEOUT_MS);
  },
});

const linksOf = ({ instances }: Cluster, name: LinkName) => instances.map(({ links }) => links[name]);

const cut = (name: LinkName, between: string): Fault => ({
  name: `connections reset between ${between}`,
  async run(cluster) {
    for (const link of linksOf(cluster, name)) link.cut();
  },
});

const hole = (name: LinkName, between: string): Fault => ({
  name: `nothing delivered for ${HOLED_MS / 1_000} s between ${between}`,
  silentMs: name === 'node' ? HOLED_MS : 0,
  async run(cluster) {
    for (const link of linksOf(cluster, name)) link.setHoled(true);
    await pause(HOLED_MS);
    for (const link of linksOf(cluster, name)) link.setHoled(false);
  },
});

const killNats: Fault = {
  name: 'kill -9 of NATS',
  async run({ nats }) {
    await nats.kill();
    await pause(NATS_AWAY_MS);
    await nats.start();
  },
};

const failOver: Fault = {
  name: 'kill -9 of the primary Postgres, its standby promoted',
  async run(cluster) {
    const { postgres } = cluster;
    await postgres.killPrimary();
    await postgres.promote();
    for (const link of linksOf(cluster, 'postgres')) link.target = postgres.ports().primary;
    await postgres.addStandby();
  },
};

export const FAULTS: readonly Fault[] = [
  killInstance(0),
  killInstance(1),
  killInstance(2),
  killNats,
  failOver,
  cut('node', 'the node and the instances'),
  hole('node', 'the node and the instances'),
  cut('nats', 'the instances and NATS'),
  hole('nats', 'the instances and NATS'),
  cut('postgres', 'the instances and Postgres'),
  hole('postgres', 'the instances and Postgres'),
];
