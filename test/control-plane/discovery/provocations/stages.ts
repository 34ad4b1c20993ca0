// Services in every state that an answer depends on: one that works, and those to which something has happened.
import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import { openDatabase } from '#control-plane/store/database/database.ts';
import { BOB, CAROL } from '../../../dev-stack/wallets.ts';
import { type Account, subscribeInStore } from '../../../fixtures/agents/subscribed.ts';
import { telephone } from '../../../fixtures/agents/telephone.ts';
import { withClient } from '../../../fixtures/agents/waiting-subscriber.ts';
import { type RpcProxy, startRpcProxy } from '../../../fixtures/chain/rpc-proxy.ts';
import { ManualClock } from '../../../fixtures/clocks/manual-clock.ts';
import { slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { signPaymentHeader } from '../../../fixtures/payments/payer.ts';
import type { Rig } from '../../../fixtures/service/rig.ts';
import { until } from '../../../fixtures/until.ts';

/** PostgreSQL, appendix A. */
const DEADLOCK_DETECTED = '40P01';

export interface Stages {
  /** All is well: Alice has the number of slot 1, and there are more. */
  good: Awaited<ReturnType<typeof telephone>>;
  /** The chain as `good` sees it. */
  rpc: RpcProxy;
  /** Carol, whose number of slot 2 is not bound at this moment. */
  unbound(): Promise<Account>;
  /** Alice's telephone after its node went away during a call. */
  away: Awaited<ReturnType<typeof telephone>> & { callId: string };
  /** Every limit is one request. Believes X-Forwarded-For. */
  limited: string;
  /** The database has lost its tables. */
  broken: string;
  /** The database is gone. */
  unavailable: string;
  /** Gives a request a tenth of a second. */
  hasty: string;
  /** There are no numbers. */
  empty: string;
  /** One payment of Bob's to `good`. */
  payment: string;
}

export async function setStages(t: Test, rig: Rig): Promise<Stages> {
  const rpc = await startRpcProxy(t, rig.chain.rpcUrl);
  const good = await telephone(t, rig, {
    slots: [1, 2, 3, 4, 5].map((index) => slotAt(index)),
    service: {
      rpcUrl: rpc.url,
      settlementWaitMs: 2_000,
      paidAheadYearsMax: 2,
      webhookAllowPrivate: true,
      // A beat would bind what `unbound` has unbound.
      heartbeatMs: 3_600_000,
    },
  });
  const carol = await subscribeInStore(good.databaseUrl, CAROL, String(slotAt(2).number));
  const doomed = await rig.postgres.createMigrated();
  const unavailable = await rig.start(t, { databaseUrl: doomed });
  await rig.postgres.dropDatabase(doomed);
  const broken = await rig.start(t);
  await dropTables(broken.databaseUrl);
  const one = { requestsPerMinute: 1, tokenRequestsPerMinute: 1, noncesPerMinute: 1, signInsPerMinute: 1 };
  const limited = await rig.start(t, { ...one, waitlistPerMinute: 1, proxyHops: 1 });
  const hasty = await rig.start(t, { headersTimeoutMs: 100, requestTimeoutMs: 100 });
  return {
    good,
    rpc,
    away: await awayStage(t, rig),
    unbound: () => unbind(good.databaseUrl, carol),
    limited: limited.url,
    broken: broken.url,
    unavailable: unavailable.url,
    hasty: hasty.url,
    empty: (await rig.start(t)).url,
    payment: await signPaymentHeader(good.url, BOB.privateKey),
  };
}

/** Its service reads them meanwhile: Postgres may end the drop so that a read can go on (40P01). Then it is tried again. */
async function dropTables(databaseUrl: string): Promise<void> {
  await withClient(databaseUrl, (client) =>
    until('the tables are gone', () =>
      client.query('drop schema public cascade').then(
        () => true,
        (error: { code?: string }) => {
          if (error.code === DEADLOCK_DETECTED) return false;
          throw error;
        },
      ),
    ),
  );
}

/** Until the node reports its slots again. */
async function unbind(databaseUrl: string, account: Account): Promise<Account> {
  const { subscriptionId } = account;
  const { db, close } = await openDatabase({ url: databaseUrl, connectionsMax: 1 });
  await db.updateTable('sims').set({ bound_to: null }).where('bound_to', '=', subscriptionId).execute();
  await close();
  return account;
}

async function awayStage(t: Test, rig: Rig): Promise<Stages['away']> {
  // However long the stages before take, the call is not given up.
  const phone = await telephone(t, rig, { service: { clock: new ManualClock() } });
  const { call_id: callId } = phone.line.ring(undefined, `in-${randomUUID()}`);
  await until('the call is known', async () => (await phone.calls())[0]?.['state'] === 'ringing');
  await phone.node.drop();
  await until('offline', async () => (await phone.dial()).body['reason'] === 'node_offline');
  return { ...phone, callId };
}
