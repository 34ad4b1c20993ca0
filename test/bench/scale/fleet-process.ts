// A part of the fleet in a process of its own. Takes JSON lines, answers each with one.
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { enrollKey } from '../../fixtures/nodes/enroll-key.ts';
import { FleetNode } from './fleet-node.ts';

/** A lost link waits 50 ms at least, so that no loss is missed. */
const WATCH_MS = 20;
/** An instance refuses more than ten at once from one address. */
const ENROLLMENTS_AT_ONCE = 4;

type Request =
  | { do: 'enroll'; url: string; codes: Array<[node: number, code: string]> }
  | { do: 'link'; count: number; withinMs: number }
  | { do: 'watch' }
  | { do: 'watched' }
  | { do: 'facts'; nodes: number; outstanding: number; warmUpMs: number; forMs: number };

const nodes: FleetNode[] = [];
let started = 0;
/** When each lost link was replaced (ms since the Unix epoch), by node; 0: not yet. */
const lost = new Map<FleetNode, number>();

setInterval(() => {
  const now = Date.now();
  for (const node of nodes.slice(0, started)) {
    if (!node.isLinked) lost.set(node, 0);
    else if (lost.get(node) === 0) lost.set(node, now);
  }
}, WATCH_MS);

async function answer(request: Request): Promise<object> {
  switch (request.do) {
    case 'enroll':
      await enrollAll(request);
      return {};
    case 'link':
      for (const node of nodes.slice(started, started + request.count)) node.start();
      started = Math.min(nodes.length, started + request.count);
      return { linked: await linkedWithin(request.withinMs), started };
    case 'watch':
      lost.clear();
      return {};
    case 'watched':
      return { lost: lost.size, linkedAt: [...lost.values()], linked: linked() };
    case 'facts':
      return produce(request);
  }
}

const linked = (): number => nodes.filter(({ isLinked }) => isLinked).length;

async function enrollAll({ url, codes }: Extract<Request, { do: 'enroll' }>): Promise<void> {
  const waiting = [...codes];
  const enrollOne = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [node, code] = next;
      nodes.push(new FleetNode(node, { key: await enrollKey(url, code), url }));
    }
  };
  await Promise.all(Array.from({ length: ENROLLMENTS_AT_ONCE }, enrollOne));
}

async function linkedWithin(ms: number): Promise<number> {
  const deadline = Date.now() + ms;
  while (linked() < started && Date.now() < deadline) await pause(WATCH_MS);
  return linked();
}

/** Texts arrive as fast as they are acknowledged, `outstanding` at most of each node. Counts them after the warm-up. */
async function produce({ outstanding, warmUpMs, forMs, ...request }: Extract<Request, { do: 'facts' }>) {
  const producers = nodes.slice(0, request.nodes);
  let isOver = false;
  for (const node of producers) {
    const refill = (): void => {
      while (!isOver && node.journal.state.facts.size < outstanding) node.receive();
    };
    node.journal.onAcknowledged = refill;
    refill();
  }
  const acknowledged = (): number => producers.reduce((sum, { journal }) => sum + journal.acknowledged, 0);
  await pause(warmUpMs);
  const before = acknowledged();
  const startedAt = performance.now();
  await pause(forMs);
  const facts = acknowledged() - before;
  const seconds = (performance.now() - startedAt) / 1000;
  isOver = true;
  while (producers.some(({ journal }) => journal.state.facts.size > 0)) await pause(WATCH_MS);
  return { facts, seconds };
}

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  void answer(JSON.parse(line) as Request).then((answered) =>
    process.stdout.write(`${JSON.stringify(answered)}\n`),
  );
});
lines.on('close', () => process.exit());
process.on('SIGTERM', () => process.exit());
process.stdout.write('{"event":"ready"}\n');
