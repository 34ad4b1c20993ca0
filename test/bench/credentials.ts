// Floods of bad credentials: what they do to others' requests, and how many of them a core refuses.
import { setTimeout as pause } from 'node:timers/promises';
import autocannon from 'autocannon';
import { openDatabase } from '#control-plane/store/database/database.ts';
import { ALICE, BOB, PAY_TO, RELAYER } from '../dev-stack/wallets.ts';
import { type Account, subscribeInStore } from '../fixtures/agents/subscribed.ts';
import { startPaidChain } from '../fixtures/chain/paid-chain.ts';
import { AS_DEPLOYED, startPostgres } from '../fixtures/database/postgres.ts';
import { signPaymentHeader } from '../fixtures/payments/payer.ts';
import { type Child, processorSeconds, startChild } from './child.ts';
import { type Measurement, percentile } from './report.ts';

const ROUNDS = 5;
const SECONDS = 4;
const NUMBER = '+12065550100';

/** Others ask this often, so that they wait for the service and not for each other. */
const ASKED_EVERY_MS = 10;

/** Bad payments at once. */
const CONNECTIONS = 32;

export async function benchCredentials(): Promise<Measurement[]> {
  const [chain, postgres] = await Promise.all([startPaidChain(), startPostgres(AS_DEPLOYED)]);
  const start = async (env: Record<string, string>) => {
    const databaseUrl = await postgres.createDatabase();
    const service = await startChild('control-plane/bin.mjs', {
      PORT: '0',
      DATABASE_URL: databaseUrl,
      RPC_URL: chain.rpcUrl,
      PAY_TO: PAY_TO.address,
      RELAYER_KEY: RELAYER.privateKey,
      ADMIT_NEW_SIMS: 'true',
      ...env,
    });
    const account = await subscribe(databaseUrl);
    return { service, url: String(service.ready['base_url']), account };
  };
  // By default the service soon refuses one address without checking its signature. The flood of many addresses is one without limits.
  const limited = await start({});
  const unlimited = await start({ AUTH_ATTEMPTS_PER_MINUTE: '1000000', AUTH_NONCES_PER_MINUTE: '1000000' });
  const flood = await startChild('test/bench/auth-flood.ts');
  try {
    return [
      await benchFlood('from one address', { ...limited, flood }),
      await benchFlood('from many', { ...unlimited, flood }),
      ...(await benchRefusals(unlimited)),
    ];
  } finally {
    await Promise.all([flood, limited.service, unlimited.service].map((program) => program.stop()));
    await Promise.all([chain.stop(), postgres.stop()]);
  }
}

interface Target {
  service: Child;
  url: string;
  account: Account;
}

async function subscribe(databaseUrl: string): Promise<Account> {
  const { db, close } = await openDatabase({ url: databaseUrl, connectionsMax: 1 });
  try {
    const number = { number: NUMBER, iccid: '8901000000000000001', created_at: new Date() };
    await db.insertInto('numbers').values(number).execute();
    return await subscribeInStore(databaseUrl, ALICE, NUMBER);
  } finally {
    await close();
  }
}

/** p99 of GET /number while /auth gets wrong signatures over fresh nonces, and while it gets none. */
async function benchFlood(
  from: string,
  { flood, ...target }: Target & { flood: Child },
): Promise<Measurement> {
  const rounds: number[] = [];
  let remark = '';
  for (let round = -1; round < ROUNDS; round += 1) {
    const quiet = percentile(await waitsMs(target), 99);
    await flood.ask({ url: target.url });
    const flooded = percentile(await waitsMs(target), 99);
    const attempts = Number((await flood.ask({}))['attempts']);
    if (round >= 0) rounds.push(flooded - quiet);
    remark = `last round ${flooded.toFixed(1)} ms against ${quiet.toFixed(1)} ms, ${(attempts / SECONDS).toFixed(0)} attempts/s`;
  }
  const name = `GET /number p99, /auth flooded ${from} − quiet`;
  return { name, rounds, unit: 'ms', target: { atMost: 20 }, remark };
}

async function waitsMs({ url, account }: Target): Promise<number[]> {
  const waits: Promise<number>[] = [];
  const endsAt = performance.now() + SECONDS * 1000;
  while (performance.now() < endsAt) {
    waits.push(waitMs(`${url}/number`, account.headers));
    await pause(ASKED_EVERY_MS);
  }
  return Promise.all(waits);
}

async function waitMs(url: string, headers: Record<string, string>): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(url, { headers });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`GET /number: ${response.status}`);
  return performance.now() - startedAt;
}

/** Bad payments that are refused in a second of a core's time, whatever else the machine does. */
async function benchRefusals({ service, url }: Target): Promise<Measurement[]> {
  const header = await signPaymentHeader(url, ALICE.privateKey);
  const payment = JSON.parse(Buffer.from(header, 'base64').toString());
  payment.payload.authorization.from = BOB.address;
  const wrong = Buffer.from(JSON.stringify(payment)).toString('base64');
  const measurements: Measurement[] = [];
  for (const [name, bad] of [
    ['wrong signature', wrong],
    ['malformed', header.slice(0, header.length / 2)],
  ] as const) {
    const rounds: number[] = [];
    let remark = '';
    for (let round = -1; round < ROUNDS; round += 1) {
      const before = processorSeconds(service.pid);
      const { non2xx, errors, duration } = await autocannon({
        url: `${url}/subscribe`,
        method: 'POST',
        headers: { 'X-PAYMENT': bad },
        connections: CONNECTIONS,
        duration: SECONDS,
      });
      if (errors > 0) throw new Error('requests failed');
      if (round >= 0) rounds.push(non2xx / (processorSeconds(service.pid) - before));
      remark = `last round ${(non2xx / duration).toFixed(0)}/s`;
    }
    const what = `POST /subscribe refused, ${name}`;
    measurements.push({ name: what, rounds, unit: '/s of a core', target: { atLeast: 500 }, remark });
  }
  return measurements;
}
