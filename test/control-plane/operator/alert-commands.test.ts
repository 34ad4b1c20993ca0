// `control-plane alert …` as an operator runs it, and the options of alerts that are half or wrong.
import { sql } from 'kysely';
import t from 'tap';
import { alertChannelsOf } from '#control-plane/alerts/alert-channels.ts';
import { ALERT_OPTIONS } from '#control-plane/config/alert-options.ts';
import { systemClock } from '#shared/clock.ts';
import { startPaidChain } from '../../fixtures/chain/paid-chain.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { freePort } from '../../fixtures/network/free-port.ts';
import { runCommand } from '../../fixtures/run-command.ts';
import { startControlPlane } from '../../fixtures/service/control-plane.ts';
import { mailBy, startMailServer } from '../../fixtures/service/mail-server.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { startWebhookReceiver, WEBHOOK_SECRET } from '../../fixtures/service/webhook-receiver.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

const alert = (args: string[], env: Record<string, string>) => runCommand(['alert', ...args], env);

t.test('a test goes to each channel, and says what each answered', async (t) => {
  const hook = await startWebhookReceiver(t);
  const mail = await startMailServer(t);
  const { mailFrom, publicUrl } = mailBy(mail);
  const env = {
    ALERT_WEBHOOK_URL: hook.url,
    ALERT_WEBHOOK_SECRET: WEBHOOK_SECRET,
    PUBLIC_URL: publicUrl,
    SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    MAIL_FROM: mailFrom.address,
    ALERT_MAIL_TO: 'ops@example.org',
  };
  const reported = await alert(['test'], env);
  t.match(reported, { status: 0, stdout: 'webhook: sent (HTTP 204)\nmail: sent (taken)\n', stderr: '' });
  t.match(hook.taken, [{ id: /^test_/, body: { type: 'alerts.test', data: { raised: [], recovered: [] } } }]);
  t.match(mail.taken, [{ to: 'ops@example.org', email: { subject: 'Simrack: test of alerts' } }]);
  hook.reply = () => ({ status: 401 });
  mail.script = { onRecipient: () => '550 5.1.1 no such user' };
  const refused = await alert(['test'], env);
  t.match(refused, {
    status: 2,
    stdout: '',
    stderr: /webhook: refused \(HTTP 401\)\nmail: refused \(.*550 5\.1\.1\)/,
  });
  const away = {
    ...env,
    ALERT_WEBHOOK_URL: `http://127.0.0.1:${await freePort()}/`,
    SMTP_URL: 'smtp://127.0.0.1:1',
  };
  t.match(await alert(['test'], away), {
    status: 2,
    stderr: /webhook: unavailable \(ECONNREFUSED\)\nmail: unavailable \(/,
  });
  t.match(await alert(['test'], {}), { status: 1, stderr: /set ALERT_WEBHOOK_URL or ALERT_MAIL_TO/ });
});

t.test('half a channel, or a wrong one, is refused with the reason, without the secret', async (t) => {
  const url = 'https://ops.example/alerts';
  const none = {
    alertWebhookUrl: undefined,
    alertWebhookSecret: undefined,
    alertMailTo: undefined,
    smtpUrl: undefined,
    mailFrom: undefined,
    publicUrl: undefined,
    serviceName: 'Simrack',
    environment: 'test',
  };
  const half = (given: object) => () => alertChannelsOf({ ...none, ...given }, systemClock);
  t.throws(half({ alertWebhookUrl: url }), /ALERT_WEBHOOK_URL needs ALERT_WEBHOOK_SECRET/);
  t.throws(half({ alertWebhookSecret: Buffer.alloc(32) }), /ALERT_WEBHOOK_SECRET needs ALERT_WEBHOOK_URL/);
  t.throws(half({ alertMailTo: 'ops@example.org' }), /ALERT_MAIL_TO needs SMTP_URL and MAIL_FROM/);
  const { alertWebhookUrl, alertWebhookSecret } = ALERT_OPTIONS;
  for (const wrong of ['ftp://x', 'https://me:hunter2@x', 'https://x/#there', 'x'])
    t.notOk(alertWebhookUrl.schema.safeParse(wrong).success, wrong);
  for (const wrong of ['hunter2', `whsec_${'A'.repeat(30)}`, `whsec_${'A'.repeat(90)}`])
    t.notOk(alertWebhookSecret.schema.safeParse(wrong).success, wrong);
  t.same(alertWebhookSecret.schema.parse(WEBHOOK_SECRET), Buffer.alloc(32, 7));
  const { status, stderr } = await alert(['test'], {
    ALERT_WEBHOOK_URL: url,
    ALERT_WEBHOOK_SECRET: 'hunter2',
  });
  t.equal(status, 1);
  t.match(stderr, /ALERT_WEBHOOK_SECRET: must be whsec_.*openssl rand -base64 32/);
  t.notMatch(stderr, /hunter2/);
});

t.test('the list of a service on the embedded database, through its socket', async (t) => {
  const chain = await startPaidChain();
  t.teardown(() => chain.stop());
  const dataDir = temporaryFolder(t);
  const clock = new ManualClock();
  const service = await startControlPlane(chain, {
    dataDir,
    clock,
    metricsPort: 0,
    relayerTransfersMin: 1_000_000,
  });
  t.teardown(() => service.stop());
  const list = async (): Promise<string> => (await alert(['list'], { DATA_DIR: dataDir })).stdout;
  const metric = async (): Promise<string> =>
    (await fetch(`http://127.0.0.1:${service.metricsPort}/metrics`)).text();
  const page = await until('an empty pool', async () => {
    clock.advance(10_000);
    const text = await metric();
    return /^simrack_alerts\{kind="pool_low"\} 1$/m.test(text) && text;
  });
  t.match(await list(), /critical +pool_low +0 numbers are available +".*number list" shows/m);
  t.match(await list(), /^SINCE +CONDITION GONE SINCE +ENDED +SEVERITY +KIND +SUMMARY +NEXT STEP\n20/);
  t.match(page, /^simrack_alerts\{kind="node_offline"\} 0$/m);
});

t.test('an outage of many numbers hides no alert: the list has pages, and says so', async (t) => {
  const databaseUrl = await rig.postgres.createDatabase();
  const db = await openTestDatabase(t, databaseUrl);
  const raise = (kind: string, severity: string, count: number) =>
    sql`insert into alerts (id, kind, subject, severity, summary, advice, since, seen_at, raised_at)
      select 'alert_' || md5(${kind} || n), ${kind}, 's' || n, ${severity}, 'trouble ' || n, '', now(), now(), '2026-11-25T10:00Z'
      from generate_series(1, ${count}::int) as n`.execute(db);
  await raise('number_down', 'critical', 1_200);
  await raise('node_offline', 'critical', 1);
  await raise('relayer_low', 'warning', 1);
  const list = (...args: string[]) => alert(['list', ...args], { DATABASE_URL: databaseUrl });
  const table = await list();
  t.match(table.stdout, /^SINCE.*\n20.* node_offline /, 'the cause is not behind its many effects');
  const after = /\n\nThere are more: --after (\S+)\n$/.exec(table.stdout)?.[1] ?? '';
  t.match(after, /./, 'it says that there are more');
  const first = JSON.parse((await list('--json')).stdout);
  t.match(first, { alerts: { length: 100 }, next: after });
  const ids = (page: { alerts: { id: string }[] }) => page.alerts.map(({ id }) => id);
  // Its trouble ends between the pages.
  await sql`update alerts set well_since = now(), recovered_at = now() where id = ${ids(first).at(-1)}`.execute(
    db,
  );
  const second = JSON.parse((await list('--json', '--limit', '1000', '--after', after)).stdout);
  const third = JSON.parse((await list('--json', '--limit', '1000', '--after', second.next)).stdout);
  t.equal(third.next, null);
  t.match(third.alerts.at(-1), { kind: 'relayer_low' });
  t.equal(new Set([first, second, third].flatMap(ids)).size, 1_202, 'each in one page');
  const csv = await list('--csv');
  t.equal(csv.stdout.split('\r\n').length, 1_201 + 2, 'all that are open, and the titles');
  t.match(await list('--csv', '--limit', '5'), { stderr: /^There are more: --after \S+\n$/ });
  t.match(await list('--after', 'x'), { status: 1, stderr: /--after/ });
  await sql`update alerts set well_since = '2026-11-25T11:00Z' where kind = 'node_offline'`.execute(db);
  await sql`delete from alerts where kind = 'number_down'`.execute(db);
  const shown = /^2026-11-25 10:00Z +2026-11-25 11:00Z +- +critical +node_offline +was: trouble 1$/m;
  t.match((await list()).stdout, shown, 'its condition is gone, but it has not ended');
});
