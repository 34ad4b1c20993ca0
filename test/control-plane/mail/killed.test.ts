// kill -9 of an instance that is mailing the waitlist: the next one goes on, and only the one unrecorded mail may come twice.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { PAY_TO, RELAYER } from '../../dev-stack/wallets.ts';
import { jsonPost } from '../../fixtures/agents/json-post.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { openPool } from '../../fixtures/database/number-pool.ts';
import { runProgram } from '../../fixtures/run-program.ts';
import { roundIsOver } from '../../fixtures/service/housekeeping.ts';
import {
  type MailServer,
  type MailServerScript,
  mailBy,
  startMailServer,
} from '../../fixtures/service/mail-server.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const ENTRIES = 6;
const START_TIMEOUT_MS = 60_000;
/** The claims of a dead instance are. */
const LEASE_IS_OVER_MS = 10 * 60_000;

/** A database with a list that waits, and numbers on sale that were not announced yet. */
async function prepare(t: Test, script: MailServerScript) {
  const mail = await startMailServer(t, script);
  const databaseUrl = await rig.postgres.createMigrated();
  const pool = await openPool(t, databaseUrl);
  const clock = new ManualClock();
  const { url, service } = await rig.start(t, { databaseUrl, clock });
  for (let index = 0; index < ENTRIES; index += 1) {
    const response = await fetch(`${url}/waitlist`, jsonPost({ email: `n${index}@example.org` }));
    t.equal(response.status, 200);
    // They are mailed in this order.
    clock.advance(1);
  }
  await service.stop();
  await pool.setOnSale(true);
  return { databaseUrl, mail, pool };
}

/** The service as a program. `stderr` is there when it has ended. */
function live(t: Test, databaseUrl: string, mail: MailServer) {
  let process: ChildProcess | undefined;
  const ended = runProgram(
    'control-plane',
    [],
    {
      PORT: '0',
      RPC_URL: rig.chain.rpcUrl,
      CHAIN_ID: String(rig.chain.chainId),
      PAY_TO: PAY_TO.address,
      RELAYER_KEY: RELAYER.privateKey,
      ADMIT_NEW_SIMS: 'true',
      DATABASE_URL: databaseUrl,
      PUBLIC_URL: 'https://numbers.test',
      SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
      MAIL_FROM: 'Simrack <hello@numbers.test>',
      LOG_LEVEL: 'debug',
    },
    (child) => {
      process = child;
    },
  );
  const kill = (): void => void process?.kill('SIGKILL');
  t.teardown(kill);
  return { ended, kill };
}

/** Another instance, when the claims of the dead one are over. */
async function goOn(t: Test, databaseUrl: string, mail: MailServer): Promise<void> {
  const clock = new ManualClock(Date.now() + LEASE_IS_OVER_MS);
  const { service } = await rig.start(t, { databaseUrl, clock, ...mailBy(mail) });
  await roundIsOver(clock);
  await service.stop();
}

const countsOf = ({ taken }: MailServer): number[] =>
  Array.from({ length: ENTRIES }, (_, index) => taken.filter(({ to }) => to.startsWith(`n${index}@`)).length);

t.test('killed before the server accepts a mail: each mail comes once', async (t) => {
  const dead = new AbortController();
  let isHeld = false;
  const { databaseUrl, mail } = await prepare(t, {
    onMail: async ({ to }) => {
      if (!to.startsWith('n2') || isHeld) return undefined;
      isHeld = true;
      await once(dead.signal, 'abort');
      return '451 4.3.0 you have gone';
    },
  });
  const first = live(t, databaseUrl, mail);
  await until('a mail is under way', () => isHeld, START_TIMEOUT_MS);
  first.kill();
  const { stderr } = await first.ended;
  dead.abort();
  t.same(countsOf(mail), [1, 1, 0, 0, 0, 0]);
  await goOn(t, databaseUrl, mail);
  t.same(countsOf(mail), [1, 1, 1, 1, 1, 1]);
  t.notMatch(stderr, /@example/, 'no address is in the log');
});

t.test('killed between the server’s answer and our record: the mail comes twice, as one', async (t) => {
  const { databaseUrl, mail, pool } = await prepare(t, {});
  const { db } = pool;
  const holder = await db.startTransaction().execute();
  // A claimed mail cannot be marked as done any more.
  mail.script = {
    onMail: async ({ to }) => {
      if (to.startsWith('n2')) await sql`select from waitlist where email = ${to} for update`.execute(holder);
      return undefined;
    },
  };
  const first = live(t, databaseUrl, mail);
  const blocked = sql<{ pid: number }>`select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like 'update "waitlist"%'`;
  await until(
    'the mail is out, and that is not written',
    async () => (await blocked.execute(db)).rows.length === 1,
    START_TIMEOUT_MS,
  );
  t.same(countsOf(mail), [1, 1, 1, 0, 0, 0]);
  first.kill();
  await first.ended;
  // A server that waits for a lock does not see that its client has gone.
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  await holder.rollback().execute();
  mail.script = {};
  await goOn(t, databaseUrl, mail);
  t.same(countsOf(mail), [1, 1, 2, 1, 1, 1]);
  const [one, other] = mail.taken.filter(({ to }) => to.startsWith('n2'));
  t.equal(one?.messageId, other?.messageId);
  await goOn(t, databaseUrl, mail);
  t.same(countsOf(mail), [1, 1, 2, 1, 1, 1], 'and no more');
});

t.test(
  'killed again and again: no entry is forgotten, and each life costs at most one more mail',
  async (t) => {
    let atMail = 0;
    const { databaseUrl, mail } = await prepare(t, {});
    const lives = 3;
    for (let count = 1; count <= lives; count += 1) {
      const life = live(t, databaseUrl, mail);
      atMail = mail.taken.length + 1;
      mail.script = {
        onMail: () => {
          // Its word comes too late, or in time.
          if (mail.taken.length + 1 >= atMail) life.kill();
          return undefined;
        },
      };
      await life.ended;
    }
    mail.script = {};
    await goOn(t, databaseUrl, mail);
    const counts = countsOf(mail);
    t.ok(
      counts.every((count) => count >= 1),
      String(counts),
    );
    t.ok(mail.taken.length <= ENTRIES + lives, String(counts));
    t.equal(new Set(mail.taken.map(({ messageId }) => messageId)).size, ENTRIES);
  },
);
