// From "the pool is empty" to the mail that says it is not, and off the list again: HTTP, Postgres and SMTP are real.
import { sql } from 'kysely';
import t from 'tap';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { openPool } from '../../fixtures/database/number-pool.ts';
import { rememberService } from '../../fixtures/nodes/enrolled-node.ts';
import { availableAt } from '../../fixtures/payments/presented.ts';
import { startControlPlane } from '../../fixtures/service/control-plane.ts';
import { DATA_DIR } from '../../fixtures/service/data-dir.ts';
import { MINUTE_MS, roundIsOver } from '../../fixtures/service/housekeeping.ts';
import { mailBy, startMailServer } from '../../fixtures/service/mail-server.ts';
import { join, recipientsOf, startMailing } from '../../fixtures/service/mailing-service.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig({ hasInstances: true });
const PUBLIC_URL = 'https://numbers.test';

t.test('each waiting entry gets one mail when a node brings numbers', async (t) => {
  const mail = await startMailServer(t);
  const clock = new ManualClock();
  const options = { clock, heartbeatMs: 600_000, ...mailBy(mail) };
  const { databaseUrl, service } = await rig.start(t, options);
  const url = `http://127.0.0.1:${service.port}`;
  rememberService(url, { databaseUrl, dataDir: DATA_DIR });
  await roundIsOver(clock);
  const pass = async (): Promise<void> => {
    clock.advance(MINUTE_MS);
    await roundIsOver(clock);
  };

  const [first] = await join(url, 'Ann', 'bob');
  await join(url, 'ann');
  await pass();
  t.same(mail.taken, [], 'the pool is empty');
  const node = await rig.connect(t, url);
  await pass();
  t.same(mail.taken.map(({ to }) => to).sort(), ['Ann@example.org', 'bob@example.org']);
  const ann = mail.taken.find(({ to }) => to.startsWith('Ann'));
  if (ann === undefined) throw new Error('no mail');
  t.match(ann.email, {
    from: { name: 'Simrack, the shop', address: 'hello@numbers.test' },
    to: [{ address: 'Ann@example.org' }],
    subject: 'Simrack: numbers are available',
  });
  t.equal(Date.parse(String(ann.email.date)), Math.floor(clock.now() / 1000) * 1000);
  t.match(ann.messageId, /^<[\w.-]+@numbers\.test>$/);
  t.equal(ann.headers.get('list-unsubscribe-post'), 'List-Unsubscribe=One-Click');
  t.equal(ann.headers.get('auto-submitted'), 'auto-generated');
  const link = /^<(https:\S+)>$/.exec(String(ann.headers.get('list-unsubscribe')))?.[1] ?? '';
  t.ok(link.startsWith(`${PUBLIC_URL}/waitlist/unsubscribe?token=`));
  t.ok(ann.email.text?.includes(link), 'people find the link, too');

  await join(url, 'carl');
  await pass();
  await pass();
  t.equal(
    mail.taken.length,
    2,
    'no entry gets two mails, and none that came while there were numbers gets one',
  );

  await node.drop();
  await until('the pool is empty', async () => (await availableAt(url)) === 0);
  t.same(
    await join(url, 'ANN'),
    [first],
    'an address that registers again keeps the time of its first registration',
  );
  t.equal((await fetch(link.replace(PUBLIC_URL, url))).status, 200);
  const { db, setOnSale } = await openPool(t, databaseUrl);
  const aWeekPasses = () =>
    sql`update waitlist set notified_at = notified_at - interval '8 days'`.execute(db);
  await aWeekPasses();
  // The node's proof contains the time.
  clock.set(Date.now());
  await rig.connect(t, url);
  await pass();
  t.same(
    mail.taken
      .slice(2)
      .map(({ to }) => to)
      .sort(),
    ['Ann@example.org', 'carl@example.org'],
  );
  const again = mail.taken.slice(2).find(({ to }) => to.startsWith('Ann'));
  t.not(again?.messageId, ann.messageId, 'another opening is another mail');
  t.equal(again?.headers.get('list-unsubscribe'), ann.headers.get('list-unsubscribe'));

  await join(url, 'ann', 'bob');
  const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
  t.equal((await fetch(link.replace(PUBLIC_URL, url), { method: 'POST', body })).status, 200);
  await aWeekPasses();
  await setOnSale(false);
  await pass();
  await setOnSale(true);
  await pass();
  t.same(
    mail.taken.slice(4).map(({ to }) => to),
    ['bob@example.org'],
    'an address that left the list gets no mail',
  );
});

t.test('an empty pool that only a registration saw counts', async (t) => {
  const { url, mail, pool, pass } = await startMailing(t, rig);
  await pool.setOnSale(true);
  await pass();
  await pool.setOnSale(false);
  await join(url, 'ann');
  await pool.setOnSale(true);
  await pass();
  t.same(recipientsOf(mail), ['ann']);
});

t.test('an opening that could not be mailed is mailed when there is a mail server', async (t) => {
  const { url, databaseUrl, mail, pool, pass } = await startMailing(
    t,
    rig,
    {},
    { smtpUrl: undefined, mailFrom: undefined },
  );
  await join(url, 'ann');
  await pool.setOnSale(true);
  await pass();
  t.same(mail.taken, []);
  const clock = new ManualClock();
  await rig.start(t, { databaseUrl, clock, ...mailBy(mail) });
  await roundIsOver(clock, 1);
  t.same(recipientsOf(mail), ['ann']);
});

t.test('two instances share the work', async (t) => {
  const { url, databaseUrl, mail, pool, pass } = await startMailing(t, rig);
  const clock = new ManualClock();
  await rig.start(t, { databaseUrl, clock, ...mailBy(mail) });
  await roundIsOver(clock, 1);
  const names = Array.from({ length: 120 }, (_, index) => `n${String(index).padStart(3, '0')}`);
  await join(url, ...names);
  await pool.setOnSale(true);
  clock.advance(MINUTE_MS);
  await Promise.all([pass(), roundIsOver(clock, 1)]);
  t.same(recipientsOf(mail), names);
  t.ok(mail.connections() >= 4, 'sessions are ended now and then');
  const { opening } = await pool.db.selectFrom('pool').select('opening').executeTakeFirstOrThrow();
  t.equal(opening, 1, 'both saw one opening');
});

t.test('a database that is away for a moment causes no second mail', async (t) => {
  const { url, mail, pool, pass, clock } = await startMailing(t, rig);
  await join(url, 'ann');
  await pool.setOnSale(true);
  const { db } = pool;
  const holder = await db.startTransaction().execute();
  mail.script = {
    onMail: async () => {
      await sql`select from waitlist for update`.execute(holder);
      return undefined;
    },
  };
  clock.advance(MINUTE_MS);
  const ended = sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  await until(
    'the mail is out, and cannot be noted',
    async () => (await ended.execute(db)).rows.length === 1,
  );
  await holder.rollback().execute();
  await until('it is noted', async () => {
    // The broken connection may be tried once more before there is another one.
    if (clock.dueIn(1_000) > 0) clock.advance(1_000);
    const { state } = await db.selectFrom('waitlist').select('state').executeTakeFirstOrThrow();
    return state === 'notified';
  });
  await pass(10);
  t.same(recipientsOf(mail), ['ann']);
});

t.test('on the embedded database, too', async (t) => {
  const mail = await startMailServer(t);
  const clock = new ManualClock();
  const dataDir = temporaryFolder(t);
  const service = await startControlPlane(rig.chain, {
    dataDir,
    clock,
    heartbeatMs: 600_000,
    ...mailBy(mail),
  });
  t.teardown(() => service.stop());
  const url = `http://127.0.0.1:${service.port}`;
  rememberService(url, { databaseUrl: undefined, dataDir });
  await roundIsOver(clock, 1);
  const times = await join(url, 'ann', 'ANN', 'bob', 'ann');
  t.equal(new Set([times[0], times[1], times[3]]).size, 1);
  await rig.connect(t, url);
  for (let count = 0; count < 2; count += 1) {
    clock.advance(MINUTE_MS);
    await roundIsOver(clock, 1);
  }
  t.equal(mail.taken.length, 2);
});
