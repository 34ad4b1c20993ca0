// The memory that an instance keeps for each node that has a link, and for each client that watches presence, while nothing happens.
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import WebSocket from 'ws';
import type { Child } from '../child.ts';
import type { Measurement } from '../report.ts';
import { startCluster } from './cluster.ts';
import { Fleet } from './fleet.ts';
import { SLOTS_A_NODE } from './numbered-sims.ts';
import { type Subscriber, subscribeMany } from './subscribers.ts';

/** The first ones make what all share, and the compiled code. */
const FIRST_NODES = 100;
const NODES = 500;
const AT_ONCE = 50;
const FIRST_SOCKETS = 500;
const SOCKETS = 2_000;
const SUBSCRIBERS = 500;
/** Each node has reported its slots again, and has had a heartbeat. */
const SETTLE_MS = 12_000;
const KB = 1024;

interface Memory {
  rss: number;
  heapUsed: number;
  external: number;
}

export async function benchMemory(): Promise<Measurement[]> {
  const nodeFlags = ['--expose-gc', '--import', resolve('test/bench/scale/memory-report.mjs')];
  const cluster = await startCluster({ instances: 1, nodeFlags });
  const [instance] = cluster.instances;
  const url = String(cluster.urls[0]);
  if (instance === undefined) throw new Error('no instance');
  let fleet: Fleet | undefined;
  const sockets: WebSocket[] = [];
  try {
    const nodes = FIRST_NODES + NODES;
    fleet = await Fleet.enrolled(url, { databaseUrl: cluster.databaseUrl, nodes });
    await linkSlowly(fleet, FIRST_NODES);
    const subscribers = await subscribeMany(cluster, SUBSCRIBERS);
    sockets.push(...(await watchPresence(url, subscribers, FIRST_SOCKETS)));
    const before = await memoryOf(instance);
    sockets.push(...(await watchPresence(url, subscribers, SOCKETS)));
    const withSockets = await memoryOf(instance);
    for (const socket of sockets) socket.terminate();
    const withoutSockets = await memoryOf(instance);
    await linkSlowly(fleet, NODES);
    const withNodes = await memoryOf(instance);
    return [
      ...each('presence socket', { before, after: withSockets, count: SOCKETS, atMost: 15 }),
      ...each(`node with ${SLOTS_A_NODE} slots`, {
        before: withoutSockets,
        after: withNodes,
        count: NODES,
        atMost: 40,
      }),
    ];
  } finally {
    for (const socket of sockets) socket.terminate();
    await fleet?.stop();
    await cluster.stop();
  }
}

async function linkSlowly(fleet: Fleet, nodes: number): Promise<void> {
  for (let linked = 0; linked < nodes; linked += AT_ONCE) await fleet.link(AT_ONCE);
}

async function memoryOf(instance: Child): Promise<Memory> {
  await pause(SETTLE_MS);
  return (await instance.ask({})) as unknown as Memory;
}

async function watchPresence(
  url: string,
  subscribers: readonly Subscriber[],
  count: number,
): Promise<WebSocket[]> {
  const sockets: WebSocket[] = [];
  while (sockets.length < count) {
    const { headers, number } = subscribers[sockets.length % subscribers.length] as Subscriber;
    const socket = new WebSocket(`${url.replace('http', 'ws')}/voice/presence/${number}`, {
      headers,
      perMessageDeflate: false,
    });
    socket.on('error', () => undefined);
    await once(socket, 'open');
    sockets.push(socket);
  }
  return sockets;
}

function each(
  what: string,
  { before, after, count, atMost }: { before: Memory; after: Memory; count: number; atMost: number },
): Measurement[] {
  const kilobytes = (bytes: (memory: Memory) => number): number =>
    (bytes(after) - bytes(before)) / KB / count;
  const megabytes = ({ rss }: Memory): string => (rss / KB / KB).toFixed(0);
  const remark = `${count} more; RSS from ${megabytes(before)} to ${megabytes(after)} MB`;
  const target = { atMost };
  return [
    { name: `idle ${what}, RSS`, rounds: [kilobytes(({ rss }) => rss)], unit: 'KB', target, remark },
    {
      name: `idle ${what}, heap`,
      rounds: [kilobytes(({ heapUsed, external }) => heapUsed + external)],
      unit: 'KB',
      target,
    },
  ];
}
