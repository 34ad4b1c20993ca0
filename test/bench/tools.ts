// The tools for agents: a list of services against a bare Koa route, and a stored SMS against those who wait for it.
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import type { Account } from '../fixtures/agents/subscribed.ts';
import { received } from '../fixtures/agents/subscriber.ts';
import { toolRequest } from '../fixtures/agents/tool-client.ts';
import { ScriptedNode, slotAt } from '../fixtures/nodes/scripted-node.ts';
import { until } from '../fixtures/until.ts';
import { startChild } from './child.ts';
import { type Measurement, percentile } from './report.ts';
import { type BenchService, startBenchService } from './voice/voice-service.ts';

const ROUNDS = 7;
const WARM_UPS = 3;

const LISTS_A_ROUND = 500;

const WAITERS = 200;
/** All of them have asked by then. */
const SETTLE_MS = 2_000;

type Ask = ReturnType<typeof toolRequest>;

export async function benchTools(): Promise<Measurement[]> {
  const plane = await startBenchService();
  const slots = Array.from({ length: WAITERS }, (_, index) => slotAt(index + 1));
  const node = await ScriptedNode.connect(plane.url, { slots });
  const bare = await startChild('test/bench/bare-koa.ts');
  try {
    const accounts = await plane.hold(slots.map(({ number }) => String(number)));
    return [
      await benchList(plane, `http://127.0.0.1:${bare.ready['port']}/json`),
      ...(await benchWaits(plane, node, accounts)),
    ];
  } finally {
    await bare.stop();
    await node.drop();
    await plane.stop();
  }
}

/** One client that asks again and again, of both in turns. */
async function benchList({ url }: BenchService, bare: string): Promise<Measurement> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const list = toolRequest('tools/call', { name: 'list_services', arguments: {} });
  const p50 = async (to: string): Promise<number> => {
    const times: number[] = [];
    for (let each = 0; each < LISTS_A_ROUND; each += 1) {
      const askedAt = performance.now();
      await ask(to, list, agent);
      times.push(performance.now() - askedAt);
    }
    return percentile(times, 50);
  };
  const rounds: number[] = [];
  let remark = '';
  for (let round = -WARM_UPS; round < ROUNDS; round += 1) {
    const [ours, theirs] = [await p50(`${url}/mcp`), await p50(bare)];
    if (round >= 0) rounds.push(ours / theirs);
    remark = `last round ${ours.toFixed(2)} ms against ${theirs.toFixed(2)} ms`;
  }
  agent.destroy();
  return { name: 'list_services p50 : bare Koa route', rounds, unit: '×', target: { atMost: 2 }, remark };
}

function ask(url: string, { body, headers, method }: Ask, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers: { ...headers, 'Content-Length': body.length }, agent });
    asked.once('error', reject);
    asked.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () => {
        const text = Buffer.concat(chunks).toString();
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`${url}: ${response.statusCode} ${text}`));
      });
    });
    asked.end(body);
  });
}
/** Each number has one waiting client. The clients get a message one after the other, and wait again. */
async function benchWaits(
  { databaseUrl, url }: BenchService,
  node: ScriptedNode,
  accounts: readonly Account[],
): Promise<Measurement[]> {
  const agent = new Agent({ keepAlive: true });
  const committed = new Map<string, number>();
  const answered = new Map<string, number>();
  const listener = await listenForCommits(databaseUrl, (number) => committed.set(number, performance.now()));
  let isOver = false;
  const wait = async ({ headers, number }: Account): Promise<void> => {
    const call = { name: 'receive_sms', arguments: { wait_seconds: 50 } };
    while (!isOver) {
      const text = await ask(`${url}/mcp`, toolRequest('tools/call', call, { ...headers }), agent);
      if (text.includes('"count":1')) answered.set(number, performance.now());
    }
  };
  const waiting = accounts.map((account) => wait(account).catch(() => undefined));
  await pause(SETTLE_MS);
  const rounds: number[][] = [];
  let sequence = 0;
  for (let round = -1; round < ROUNDS; round += 1) {
    const times: number[] = [];
    for (const [index, { number }] of accounts.entries()) {
      sequence += 1;
      node.sendFact(sequence, { ...received('hello'), iccid: String(slotAt(index + 1).iccid) });
      await until('it is stored and answered', () => committed.has(number) && answered.has(number));
      times.push((answered.get(number) ?? Number.NaN) - (committed.get(number) ?? Number.NaN));
      for (const times of [committed, answered]) times.delete(number);
    }
    if (round >= 0) rounds.push(times);
  }
  isOver = true;
  agent.destroy();
  await Promise.all(waiting);
  await listener.end();
  return [
    [50, 3],
    [99, 15],
  ].map(([percent = 0, atMost = 0]) => ({
    name: `SMS committed → receive_sms answered p${percent}`,
    rounds: rounds.map((times) => percentile(times, percent)),
    unit: 'ms',
    target: { atMost },
    remark: `${WAITERS} wait`,
  }));
}

/** Calls `onCommit` when Postgres notifies of the commit. */
async function listenForCommits(databaseUrl: string, onCommit: (number: string) => void): Promise<Client> {
  const listener = new Client({ connectionString: databaseUrl });
  await listener.connect();
  listener.on('error', () => undefined);
  await listener.query(`
    create function report_insert() returns trigger language plpgsql as
      $$ begin perform pg_notify('inserted', new.to_number || ' ' || new.id); return new; end $$;
    create trigger report_insert after insert on messages for each row execute function report_insert();
    listen inserted`);
  listener.on('notification', ({ payload }) => onCommit(String(payload?.split(' ')[0])));
  return listener;
}
