// Three instances on one Postgres: a text through the instance that has the node's link and through another one, a ring at one for
// the watchers of the two others, and payers at all of them at once.
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { NatsServer } from '../dev-stack/nats.ts';
import { PRICE } from '../fixtures/paid-chain.ts';
import { signPaymentHeader } from '../fixtures/payer.ts';
import { ScriptedLine } from '../fixtures/scripted-line.ts';
import { ScriptedNode, slotAt } from '../fixtures/scripted-node.ts';
import type { Account } from '../fixtures/subscribed.ts';
import { until } from '../fixtures/until.ts';
import { ringMeasurements, ringTimes, watchPresence } from './presence-watch.ts';
import { type Measurement, percentile } from './report.ts';
import { type BenchService, startBenchService } from './voice-service.ts';

const ROUNDS = 5;
const TEXTS = 150;
const SOCKETS = 1_000;
const RINGS = 10;
const PAYERS = 48;

export async function benchScale(): Promise<Measurement[]> {
  const nats = await NatsServer.start();
  const plane = await startBenchService({ NATS_URL: nats.url, SMS_PER_MINUTE: '100000' });
  try {
    const others = [await plane.beside(), await plane.beside()] as const;
    const line = new ScriptedLine(plane.url);
    line.node = await ScriptedNode.connect(plane.url, { slots: [slotAt(1)], onCommand: line.onCommand });
    const [account] = await plane.hold([String(slotAt(1).number)]);
    if (account === undefined) throw new Error('no account');
    const texts = await benchTexts([plane.url, others[0]], account);
    const rings = await benchRings(others, account, line);
    await line.node.drop();
    return [...texts, ...rings, await benchPayers([plane.url, ...others], plane)];
  } finally {
    await plane.stop();
    await nats.kill();
  }
}

async function benchTexts(
  [own, other]: readonly [string, string],
  { headers }: Account,
): Promise<Measurement[]> {
  const send = async (url: string): Promise<number> => {
    const startedAt = performance.now();
    const response = await fetch(`${url}/sms/send`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ to: '+13105550188', body: 'hello' }),
    });
    if (!response.ok) throw new Error(`not sent: ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
    return performance.now() - startedAt;
  };
  const rounds: Array<{ own: number[]; other: number[] }> = [];
  for (let round = -1; round < ROUNDS; round += 1) {
    const times = { own: [] as number[], other: [] as number[] };
    for (let text = 0; text < TEXTS; text += 1) {
      times.own.push(await send(own));
      times.other.push(await send(other));
    }
    if (round >= 0) rounds.push(times);
  }
  return [50, 99].map((percent, index) => ({
    name: `a text through another instance, more than through the link's own, p${percent}`,
    rounds: rounds.map((times) => percentile(times.other, percent) - percentile(times.own, percent)),
    unit: 'ms',
    target: { atMost: [2, 8][index] ?? 0 },
    remark: `${rounds.map((times) => percentile(times.own, percent).toFixed(1)).join(', ')} ms through its own`,
  }));
}

async function benchRings(
  urls: readonly string[],
  account: Account,
  line: ScriptedLine,
): Promise<Measurement[]> {
  const clients = Array.from({ length: SOCKETS }, (_, index) => ({
    url: String(urls[index % urls.length]),
    account,
  }));
  const watch = await watchPresence(clients);
  const iccidOf = (): string | null => slotAt(1).iccid;
  const rounds = await ringTimes(line, watch, { name: 'scale', rings: RINGS, perRing: SOCKETS, iccidOf });
  watch.stop();
  return ringMeasurements(`ring at one instance → ${SOCKETS} clients of two others,`, rounds, {
    remark: 'clients are one process',
    targets: [undefined, 40],
  });
}

async function benchPayers(urls: readonly string[], { chain, url }: BenchService): Promise<Measurement> {
  const keys = Array.from({ length: PAYERS }, () => generatePrivateKey());
  for (const key of keys) await chain.dollar.fund(privateKeyToAccount(key).address, PRICE);
  const slots = keys.map((_, index) => slotAt(index + 2));
  const node = await ScriptedNode.connect(url, { nodeId: 'sells', slots });
  await until('all are on sale', async () => {
    const { available } = (await (await fetch(`${url}/availability`)).json()) as { available: number };
    return available === PAYERS;
  });
  const payments = await Promise.all(
    keys.map(async (key, index) => {
      const at = String(urls[index % urls.length]);
      return { at, header: await signPaymentHeader(at, key) };
    }),
  );
  const startedAt = performance.now();
  const times = await Promise.all(
    payments.map(async ({ at, header }) => {
      const response = await fetch(`${at}/subscribe`, { method: 'POST', headers: { 'X-PAYMENT': header } });
      if (!response.ok) throw new Error(`not sold: ${response.status} ${await response.text()}`);
      return performance.now() - startedAt;
    }),
  );
  await node.drop();
  return {
    name: `slowest of ${PAYERS} payers at ${urls.length} instances at once`,
    rounds: [Math.max(...times) / 1000],
    unit: 's',
    target: { atMost: 3 },
    remark: `median ${(percentile(times, 50) / 1000).toFixed(1)} s`,
  };
}
