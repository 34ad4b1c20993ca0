// How long a received text takes from its commit to the receiver of a webhook, beside a bare POST that a listener of the commit makes.
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import { Client } from 'pg';
import { listen } from '#shared/process/listen.ts';
import { jsonPost } from '../fixtures/agents/json-post.ts';
import type { Account } from '../fixtures/agents/subscribed.ts';
import { received } from '../fixtures/agents/subscriber.ts';
import { ScriptedNode, slotAt } from '../fixtures/nodes/scripted-node.ts';
import { until } from '../fixtures/until.ts';
import { type Measurement, percentile } from './report.ts';
import { startBenchService } from './voice/voice-service.ts';

const ROUNDS = 5;
const WARM_UPS = 2;
const TEXTS_A_ROUND = 200;
const P50_MS = 5;
const P99_MS = 50;

/** Milliseconds of each text of a round. */
interface Round {
  delivered: number[];
  bare: number[];
  /** From the node's frame, with the commit. */
  whole: number[];
}

export async function benchWebhooks(): Promise<Measurement[]> {
  const bench = await startBenchService({ WEBHOOK_ALLOW_PRIVATE: 'true' });
  const times = await startReceiver();
  const listener = await listenToCommits(bench.databaseUrl);
  const node = await ScriptedNode.connect(bench.url, { journalId: 'journal-1' });
  try {
    const [account] = await bench.hold([String(slotAt(1).number)]);
    if (account === undefined) throw new Error('no account');
    await addWebhook(bench.url, account, times.url);
    const rounds: Round[] = [];
    let sequence = 0;
    for (let index = -WARM_UPS; index < ROUNDS; index += 1) {
      const round: Round = { delivered: [], bare: [], whole: [] };
      for (let text = 0; text < TEXTS_A_ROUND; text += 1) {
        sequence += 1;
        const body = `text ${sequence}`;
        const sentAt = performance.now();
        const bare = listener.next().then(async (committedAt) => {
          await post(`${times.url}/bare`);
          return { committedAt, ms: performance.now() - committedAt };
        });
        node.sendFact(sequence, received(body));
        const [{ committedAt, ms }, deliveredAt] = await Promise.all([bare, times.arrival(body)]);
        round.bare.push(ms);
        round.delivered.push(Math.max(0, deliveredAt - committedAt));
        round.whole.push(deliveredAt - sentAt);
      }
      if (index >= 0) rounds.push(round);
    }
    const of = (kind: keyof Round, percent: number): number[] =>
      rounds.map((round) => percentile(round[kind], percent));
    const remark = `a bare POST after the commit: ${percentile(of('bare', 50), 50).toFixed(2)} ms, p99 ${percentile(of('bare', 99), 50).toFixed(2)} ms`;
    return [
      {
        name: 'commit → webhook, p50',
        rounds: of('delivered', 50),
        unit: 'ms',
        target: { atMost: P50_MS },
        remark,
      },
      { name: 'commit → webhook, p99', rounds: of('delivered', 99), unit: 'ms', target: { atMost: P99_MS } },
      { name: "node's frame → webhook, p50", rounds: of('whole', 50), unit: 'ms', remark: 'with the commit' },
    ];
  } finally {
    await node.drop();
    await listener.close();
    await times.stop();
    await bench.stop();
  }
}

async function addWebhook(url: string, { headers }: Account, receiver: string): Promise<void> {
  const response = await fetch(
    `${url}/webhooks`,
    jsonPost({ url: `${receiver}/in`, events: ['sms.received'] }, headers),
  );
  if (!response.ok) throw new Error(await response.text());
}

async function startReceiver() {
  const arrivals = new Map<string, number>();
  const server = createServer((message, response) => {
    const at = performance.now();
    let text = '';
    message.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    message.on('end', () => {
      response.writeHead(204).end();
      if (message.url === '/in') arrivals.set((JSON.parse(text) as { data: { body: string } }).data.body, at);
    });
  });
  const { port, stop } = await listen(server, { port: 0, option: 'port' });
  return {
    url: `http://127.0.0.1:${port}`,
    arrival: (body: string) => until(`${body} arrives`, () => arrivals.get(body)),
    stop,
  };
}

/** Notifications of commits. */
async function listenToCommits(databaseUrl: string) {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`
    create function report_insert() returns trigger language plpgsql as
      $$ begin perform pg_notify('inserted', new.id::text); return new; end $$;
    create trigger report_insert after insert on messages for each row execute function report_insert();
    listen inserted`);
  client.on('error', () => undefined);
  return {
    next: (): Promise<number> =>
      new Promise((resolve) => client.once('notification', () => resolve(performance.now()))),
    close: () => client.end(),
  };
}

const agent = new Agent({ keepAlive: true });

async function post(url: string): Promise<void> {
  const sent = request(url, { method: 'POST', agent });
  sent.end('{}');
  const [response] = (await once(sent, 'response')) as [NodeJS.ReadableStream];
  response.resume();
  await once(response, 'end');
}
