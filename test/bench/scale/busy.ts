// The load of a machine during some work: processor time of each program, and what the connections of Postgres wait for.
import { setTimeout as pause } from 'node:timers/promises';
import { processorSeconds } from '../child.ts';
import type { Cluster } from './cluster.ts';

const SAMPLE_MS = 50;

/** Processor seconds a second. */
type Cores = Record<'instances' | 'Postgres' | 'nodes', number>;

/** Runs `work`, and says where its time went: "instances 0.9, Postgres 0.7 cores; connections: …". */
export async function whereTimeGoes<T>(
  { instances, proxyPid, query }: Pick<Cluster, 'instances' | 'proxyPid' | 'query'>,
  clients: readonly number[],
  work: () => Promise<T>,
): Promise<{ result: T; cores: Cores; remark: string }> {
  const processes = await query<{ pid: number }>(
    'select pid from pg_stat_activity where pid <> pg_backend_pid()',
  );
  const groups: Record<keyof Cores, number[]> = {
    instances: instances.map(({ pid }) => pid),
    Postgres: processes.map(({ pid }) => pid),
    nodes: [...clients, proxyPid],
  };
  const waits = new Map<string, number>();
  const over = new AbortController();
  const sampling = sample(query, waits, over.signal);
  const [before, startedAt] = [usedBy(groups), performance.now()];
  const result = await work();
  const seconds = (performance.now() - startedAt) / 1000;
  const after = usedBy(groups);
  over.abort();
  await sampling;
  const of = (name: keyof Cores): number => (after[name] - before[name]) / seconds;
  const cores: Cores = { instances: of('instances'), Postgres: of('Postgres'), nodes: of('nodes') };
  const total = [...waits.values()].reduce((sum, count) => sum + count, 0);
  const shares = [...waits]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 4)
    .map(([wait, count]) => `${wait} ${Math.round((100 * count) / total)} %`);
  const spent = Object.entries(cores).map(([name, used]) => `${name} ${used.toFixed(2)}`);
  return {
    result,
    cores,
    remark: `cores: ${spent.join(', ')}; busy connections: ${shares.join(', ')}`,
  };
}

function usedBy(groups: Record<keyof Cores, number[]>): Cores {
  const of = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + secondsOf(pid), 0);
  return { instances: of(groups.instances), Postgres: of(groups.Postgres), nodes: of(groups.nodes) };
}

async function sample(
  query: Cluster['query'],
  waits: Map<string, number>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const rows = await query<{ wait: string; count: number }>(
      `select coalesce(wait_event, 'processor') as wait, count(*)::int from pg_stat_activity
      where backend_type = 'client backend' and state <> 'idle' and pid <> pg_backend_pid() group by 1`,
    );
    for (const { wait, count } of rows) waits.set(wait, (waits.get(wait) ?? 0) + count);
    await pause(SAMPLE_MS);
  }
}

/** 0 once it has ended. */
function secondsOf(pid: number): number {
  try {
    return processorSeconds(pid);
  } catch {
    return 0;
  }
}
