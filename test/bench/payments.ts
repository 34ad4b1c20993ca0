// Renewals paid on the local chain through one relayer, and what others notice while they are under way.
import { setTimeout as pause } from 'node:timers/promises';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { type Database, openDatabase } from '#control-plane/store/database/database.ts';
import { type Account, subscribeInStore } from '../fixtures/agents/subscribed.ts';
import { PRICE } from '../fixtures/chain/paid-chain.ts';
import { signPaymentHeader } from '../fixtures/payments/payer.ts';
import { perSecond } from './compare.ts';
import { type Measurement, percentile } from './report.ts';
import { startBenchService } from './voice/voice-service.ts';

const ROUNDS = 5;
const IN_FLIGHT = 50;
/** Clients that ask `/number`, each some time after its last answer. */
const ASKERS = 4;
const ASK_PAUSE_MS = 5;
const QUIET_MS = 3_000;
/** Block time of Base. The chain of the other measurement mines each transaction at once. */
const BLOCK_SECONDS = 2;
const PASSES = 2;

export async function benchPayments(): Promise<Measurement[]> {
  // The year of each buyer, one of each round, and one of the first round of a pass, which does not count.
  const service = await startBenchService({ PAID_AHEAD_YEARS_MAX: String(PASSES * (ROUNDS + 1) + 1) });
  const { url, databaseUrl, chain } = service;
  const { db, close } = await openDatabase({ url: databaseUrl, connectionsMax: 1 });
  try {
    const keys = Array.from({ length: IN_FLIGHT }, () => generatePrivateKey());
    let account: Account | undefined;
    for (const [index, key] of keys.entries()) {
      const { address } = privateKeyToAccount(key);
      await chain.dollar.fund(address, BigInt(PASSES * (ROUNDS + 1)) * PRICE);
      account = await subscribeInStore(databaseUrl, { address }, await addNumber(db, index));
    }
    if (account === undefined) throw new Error('no buyer');
    const atOnce = await measure(url, keys, account, 'each mined at once');
    await chain.control.setAutomine(false);
    await chain.control.setIntervalMining({ interval: BLOCK_SECONDS });
    return [...atOnce, ...(await measure(url, keys, account, `blocks of ${BLOCK_SECONDS} s`))];
  } finally {
    await close();
    await service.stop();
  }
}

async function addNumber(db: Database, index: number): Promise<string> {
  const number = `+1206555${String(index).padStart(4, '0')}`;
  const iccid = `89010000000000${String(index).padStart(5, '0')}`;
  await db.insertInto('numbers').values({ number, iccid, created_at: new Date() }).execute();
  return number;
}

async function measure(
  url: string,
  keys: readonly Hex[],
  account: Account,
  mining: string,
): Promise<Measurement[]> {
  const rates: number[] = [];
  const ratios: number[] = [];
  let remark = '';
  for (let round = -1; round < ROUNDS; round += 1) {
    const headers: string[] = [];
    for (const key of keys) headers.push(await signPaymentHeader(url, key));
    const quiet = await asked(url, account, pause(QUIET_MS));
    let rate = 0;
    const paying = perSecond(headers.length, () => Promise.all(headers.map((header) => pay(url, header))));
    const busy = await asked(
      url,
      account,
      paying.then((value) => (rate = value)),
    );
    // The first one warms up.
    if (round < 0) continue;
    const [a, b] = [percentile(busy, 99), percentile(quiet, 99)];
    rates.push(rate);
    ratios.push(a / b);
    remark = `last round ${a.toFixed(1)} ms against ${b.toFixed(1)} ms`;
  }
  const name = `p99 of /number, ${IN_FLIGHT} payments in flight, ${mining} : none`;
  return [
    { name: `paid renewals, one relayer, ${mining}`, rounds: rates, unit: '/s' },
    { name, rounds: ratios, unit: '×', target: { atMost: 2 }, remark },
  ];
}

async function pay(url: string, header: string): Promise<void> {
  const response = await fetch(`${url}/subscribe`, { method: 'POST', headers: { 'X-PAYMENT': header } });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}

/** Milliseconds of each answer to `/number` until `end`. */
async function asked(url: string, { headers }: Account, end: Promise<unknown>): Promise<number[]> {
  let isOver = false;
  const over = end.finally(() => (isOver = true));
  const latencies: number[] = [];
  const ask = async (): Promise<void> => {
    while (!isOver) {
      const startedAt = performance.now();
      const response = await fetch(`${url}/number`, { headers });
      await response.arrayBuffer();
      latencies.push(performance.now() - startedAt);
      await pause(ASK_PAUSE_MS);
    }
  };
  await Promise.all([over, ...Array.from({ length: ASKERS }, ask)]);
  return latencies;
}
