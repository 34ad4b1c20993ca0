// /sms/receive: empty against a bare Koa route; claiming against the same SQL straight on Postgres.
import autocannon from 'autocannon';
import { sql } from 'kysely';
import { type Database, openDatabase } from '#control-plane/store/database/database.ts';
import { claimReceived } from '#control-plane/store/messages/message-claims.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { type Account, subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { startChild } from '../child.ts';
import type { Measurement } from '../report.ts';
import { startBenchService } from '../voice/voice-service.ts';

const ROUNDS = 5;
const SECONDS = 2;
const CONNECTIONS = 10;
const NUMBER = '+12065550100';

/** Claimed in one round; each side claims its own. */
const BACKLOG = 20_000;
const BATCH = 100;
const CLAIMERS = 4;

export async function benchReceive(): Promise<Measurement[]> {
  const { url, databaseUrl, stop } = await startBenchService();
  const bare = await startChild('test/bench/bare-koa.ts');
  const { db, close } = await openDatabase({ url: databaseUrl, connectionsMax: CLAIMERS });
  try {
    await db
      .insertInto('numbers')
      .values({ number: NUMBER, iccid: '8901000000000000001', created_at: new Date() })
      .execute();
    const account = await subscribeInStore(databaseUrl, ALICE, NUMBER);
    return [
      await benchEmpty(`${url}/sms/receive`, `http://127.0.0.1:${bare.ready['port']}/sms/receive`, account),
      await benchClaim(url, db, account),
    ];
  } finally {
    await close();
    await Promise.all([stop(), bare.stop()]);
  }
}

async function benchEmpty(ours: string, bare: string, account: Account): Promise<Measurement> {
  const requestsPerSecond = async (url: string): Promise<number> => {
    const result = await autocannon({
      url,
      headers: account.headers,
      connections: CONNECTIONS,
      duration: SECONDS,
    });
    if (result.non2xx > 0 || result.errors > 0) throw new Error('requests failed');
    return result.requests.average;
  };
  await requestsPerSecond(ours);
  await requestsPerSecond(bare);
  const rounds: number[] = [];
  let remark = '';
  for (let round = 0; round < ROUNDS; round += 1) {
    const a = await requestsPerSecond(ours);
    const b = await requestsPerSecond(bare);
    rounds.push(a / b);
    remark = `last round ${a.toFixed(0)}/s against ${b.toFixed(0)}/s`;
  }
  return { name: '/sms/receive empty : bare Koa route', rounds, unit: '×', target: { atLeast: 0.5 }, remark };
}

async function benchClaim(url: string, db: Database, account: Account): Promise<Measurement> {
  const overHttp = async (): Promise<number> => {
    const response = await fetch(`${url}/sms/receive?limit=${BATCH}`, { headers: account.headers });
    return ((await response.json()) as { count: number }).count;
  };
  const straight = async (): Promise<number> =>
    (await claimReceived(db, { subscriptionId: account.subscriptionId, limit: BATCH, now: new Date() }))
      .length;

  const rounds: number[] = [];
  let remark = '';
  await claimAll(db, account, overHttp);
  await claimAll(db, account, straight);
  for (let round = 0; round < ROUNDS; round += 1) {
    const a = await claimAll(db, account, overHttp);
    const b = await claimAll(db, account, straight);
    rounds.push(a / b);
    remark = `last round ${a.toFixed(0)} msg/s against ${b.toFixed(0)} msg/s`;
  }
  return { name: 'claims over HTTP : the same SQL', rounds, unit: '×', target: { atLeast: 0.4 }, remark };
}

/** Messages per second while several claimers empty a full inbox. */
async function claimAll(db: Database, account: Account, claim: () => Promise<number>): Promise<number> {
  await sql`delete from messages`.execute(db);
  await sql`insert into messages (subscription_id, direction, from_number, to_number, body, created_at, received_at)
    select ${account.subscriptionId}, 'received', '+13105550188', ${NUMBER}, 'message number ' || n, now(), now()
    from generate_series(1, ${BACKLOG}::int) n`.execute(db);
  await sql`vacuum analyze messages`.execute(db);
  const started = performance.now();
  let claimed = 0;
  await Promise.all(
    Array.from({ length: CLAIMERS }, async () => {
      for (let count = await claim(); count > 0; count = await claim()) claimed += count;
    }),
  );
  if (claimed !== BACKLOG) throw new Error(`claimed ${claimed} of ${BACKLOG}`);
  return claimed / ((performance.now() - started) / 1000);
}
