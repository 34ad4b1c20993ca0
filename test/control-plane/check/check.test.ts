// `control-plane check` as an operator runs it: before the first start, beside a running service, and with each thing wrong.
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type Finding, reportSchema } from '#control-plane/check/report.ts';
import { PinVault } from '#control-plane/pins/pin-vault.ts';
import { PAY_TO, RELAYER } from '../../dev-stack/wallets.ts';
import { withClient } from '../../fixtures/agents/waiting-subscriber.ts';
import { startRpcProxy } from '../../fixtures/chain/rpc-proxy.ts';
import { skipWithoutPgbouncer, startPgbouncer } from '../../fixtures/database/pgbouncer.ts';
import { addressOf } from '../../fixtures/database/postgres.ts';
import { startForwardingProxy } from '../../fixtures/network/forwarding-proxy.ts';
import { freePort } from '../../fixtures/network/free-port.ts';
import { served } from '../../fixtures/network/served.ts';
import { runCommand } from '../../fixtures/run-command.ts';
import { runProgram } from '../../fixtures/run-program.ts';
import { startMailServer } from '../../fixtures/service/mail-server.ts';
import { skipWithoutNats, startNats } from '../../fixtures/service/nats.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { startServiceProcess } from '../../fixtures/service/service-process.ts';
import { WEBHOOK_SECRET } from '../../fixtures/service/webhook-receiver.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

const TIMEOUT = { timeout: 300_000 };
const ATTEMPTS = 5;
/** Longer than every check, with the work of a busy host. */
const DURATION_MAX_MS = 10_000;

const rig = await createRig();

/** The needs of a service, on an empty database. */
async function wholeEnvironment(t: Test): Promise<Record<string, string>> {
  return {
    DATABASE_URL: await rig.postgres.createDatabase(),
    DATA_DIR: temporaryFolder(t),
    RPC_URL: rig.chain.rpcUrl,
    PAY_TO: PAY_TO.address,
    RELAYER_KEY: RELAYER.privateKey,
    PORT: String(await freePort()),
  };
}

/** A receiver of alerts that takes POST only. */
async function startReceiver(t: Test) {
  const methods: Array<string | undefined> = [];
  const server = createServer(({ method }, answer) => {
    methods.push(method);
    answer.writeHead(405).end();
  });
  return { methods, url: `${await served(t, server)}/alerts` };
}

async function checkOnce(env: Record<string, string>) {
  const ran = await runCommand(['check', '--json'], env);
  const report = reportSchema.parse(JSON.parse(ran.stdout));
  const find = (name: string): Finding | undefined => report.findings.find(({ check }) => check === name);
  return { ...ran, report, find };
}

/** The time of a check is too short for a host that runs many tests: then it is asked again. */
async function check(env: Record<string, string>) {
  for (let attempt = 1; ; attempt += 1) {
    const checked = await checkOnce(env);
    const isLate = checked.report.findings.some(({ seen }) => /no answer in|timeout/i.test(seen));
    if (!isLate || attempt === ATTEMPTS) return checked;
  }
}

t.test(
  'before the first start: everything that can be checked is checked, and nothing is changed',
  TIMEOUT,
  async (t) => {
    const env = await wholeEnvironment(t);
    const mail = await startMailServer(t, { credentials: { user: 'ada', pass: 'lovelace-1815' } });
    const webhook = await startReceiver(t);
    const { find, report, status } = await check({
      ...env,
      PUBLIC_URL: `http://127.0.0.1:${env['PORT']}`,
      SMTP_URL: `smtp://ada:lovelace-1815@127.0.0.1:${mail.port}`,
      MAIL_FROM: 'hello@numbers.test',
      ALERT_WEBHOOK_URL: webhook.url,
      ALERT_WEBHOOK_SECRET: WEBHOOK_SECRET,
    });
    const verdicts = (verdict: string) =>
      report.findings
        // The test chain has no blocks of its own: the newest one may be old on a busy host.
        .filter((finding) => finding.verdict === verdict && !['clock', 'rpc'].includes(finding.check))
        .map(({ check }) => check);
    t.same(verdicts('problem'), [], JSON.stringify(report.findings, null, 1));
    t.same(verdicts('warning'), ['public_url', 'web_sockets']);
    t.same(verdicts('skipped'), ['nats', 'service', 'proxy', 'speech', 'recognition']);
    t.equal(status, 1);
    t.match(find('database'), { verdict: 'ok', seen: /^Postgres \d+/ });
    t.match(find('schema'), { seen: /none yet/ });
    t.match(find('receipt_key'), { verdict: 'ok', seen: /does not exist yet/ });
    t.match(find('token'), { chain: 'eip155:84532', seen: /USDC.*6 decimals.*EIP-3009/ });
    t.match(find('relayer'), { seen: new RegExp(`${RELAYER.address} has .* enough for \\d+ transfers`) });
    t.match(find('pay_to'), { seen: /has no code/ });
    t.match(find('mail'), { seen: /signed in; no mail was sent/ });
    t.match(find('alert_webhook'), { seen: /no alert was sent/ });
    t.same([mail.taken, mail.recipients], [[], []]);
    t.same([...new Set(webhook.methods)], ['HEAD']);
    await withClient(String(env['DATABASE_URL']), async (client) => {
      const { rows } = await client.query("select from pg_class where relnamespace = 'public'::regnamespace");
      t.equal(rows.length, 0, 'no table was created');
    });
  },
);

t.test('beside the running service, behind proxies that are right and wrong', TIMEOUT, async (t) => {
  const env = await wholeEnvironment(t);
  const proxy = await startForwardingProxy(t);
  const outside = { ...env, PUBLIC_URL: proxy.url, PROXY_HOPS: '1' };
  const service = await startServiceProcess(t, {
    databaseUrl: String(env['DATABASE_URL']),
    rpcUrl: rig.chain.rpcUrl,
    env: { ...outside, LOG_LEVEL: 'info' },
  });
  const started = await until('the start is in the log', () =>
    service
      .log()
      .split('\n')
      .find((line) => line.includes('service started')),
  );
  const { block } = JSON.parse(started) as { block: Record<string, unknown> };
  t.match(block, {
    api: `http://127.0.0.1:${env['PORT']}`,
    clients: proxy.url,
    link_versions: /^\d+ to \d+$/,
  });
  t.match(String(block['chains']), /^eip155:84532 by http.* \(open\), relayer 0xf39F…2266 with \d.* ether/);

  proxy.target = Number(env['PORT']);
  const right = await check(outside);
  for (const name of ['service', 'public_url', 'web_sockets', 'proxy', 'schema', 'database_rights'])
    t.match(right.find(name), { verdict: 'ok' }, name);
  proxy.forwarded = 'pass';
  t.match((await check(outside)).find('proxy'), { verdict: 'problem', seen: /X-Forwarded-For/ });
  proxy.forwarded = 'drop';
  proxy.passesUpgrades = false;
  const wrong = await check(outside);
  t.match(wrong.find('proxy'), { verdict: 'problem', seen: /0 proxies name/, advice: /set X-Forwarded-For/ });
  t.match(wrong.find('web_sockets'), { verdict: 'problem', advice: /Upgrade/ });
  t.equal(wrong.status, 2);
  proxy.forwarded = 'set';
  t.match((await check({ ...outside, PROXY_HOPS: '0' })).find('proxy'), {
    verdict: 'problem',
    advice: /Set PROXY_HOPS to 1/,
  });
  proxy.target = await freePort();
  t.match((await check(outside)).find('public_url'), { verdict: 'problem', seen: /502/, advice: /upstream/ });
});

t.test('the key of the PINs, and its loss', TIMEOUT, async (t) => {
  const env = await wholeEnvironment(t);
  const url = String(await rig.postgres.createMigrated());
  const found = async () => (await check({ ...env, DATABASE_URL: url })).find('pin_key');
  t.match(await found(), { verdict: 'ok', seen: /has given no PIN/ });
  const file = join(String(env['DATA_DIR']), 'pin.key');
  const iccid = '8901260000000000014';
  const pin = new PinVault(file).seal(iccid, '0042');
  await withClient(url, (client) =>
    client.query("insert into cards (iccid, pin, pin_state, updated_at) values ($1, $2, 'untried', now())", [
      iccid,
      pin,
    ]),
  );
  t.match(await found(), { verdict: 'ok', seen: /opens the PINs/ });
  rmSync(file);
  t.match(await found(), { verdict: 'problem', seen: /cannot be opened: the key of the PINs is missing/ });
});

t.test('a Postgres that does not fit', TIMEOUT, async (t) => {
  const env = await wholeEnvironment(t);
  const url = String(await rig.postgres.createMigrated());
  const limited = addressOf(url);
  limited.username = `limited_${limited.pathname.slice(1)}`;
  limited.password = 'a-secret-of-the-database';
  await withClient(url, async (client) => {
    await client.query(`create role ${limited.username} login password '${limited.password}'`);
    await client.query(`grant select on all tables in schema public to ${limited.username}`);
  });
  const poor = await check({ ...env, DATABASE_URL: limited.href });
  t.match(poor.find('database_rights'), {
    verdict: 'problem',
    seen: /lacks create in the schema public.*more/,
  });

  await withClient(url, (client) =>
    client.query("insert into kysely_migration (name, timestamp) values ('9999-later', '')"),
  );
  t.match((await check({ ...env, DATABASE_URL: url })).find('schema'), {
    verdict: 'problem',
    seen: /9999-later/,
  });

  limited.pathname = '/there_is_none';
  t.match((await check({ ...env, DATABASE_URL: limited.href })).find('database'), {
    verdict: 'problem',
    advice: /Create the database/,
  });
  limited.port = String(await freePort());
  const away = await check({ ...env, DATABASE_URL: limited.href });
  t.match(away.find('database'), { verdict: 'problem', seen: /ECONNREFUSED/ });
  t.match(away.find('schema'), { verdict: 'skipped' }, 'never ok of what was not asked');
});

t.test('poolers by their mode', { ...TIMEOUT, skip: skipWithoutPgbouncer() }, async (t) => {
  const env = await wholeEnvironment(t);
  const url = await rig.postgres.createMigrated();
  for (const [mode, verdict] of [
    ['transaction', 'ok'],
    ['statement', 'problem'],
  ] as const) {
    const through = await startPgbouncer(t, url, [`pool_mode = ${mode}`]);
    const { find } = await check({ ...env, DATABASE_URL: through(url) });
    t.match(find('pooler'), { verdict }, JSON.stringify(find('pooler')));
  }
});

t.test('chain, token, payee and relayer that do not fit', TIMEOUT, async (t) => {
  const env = await wholeEnvironment(t);
  const other = await check({ ...env, CHAIN_ID: '8453' });
  t.match(other.find('rpc'), { verdict: 'problem', seen: /serves chain 84532, not 8453/ });
  t.match(other.find('token'), { verdict: 'skipped' });

  const noToken = await check({ ...env, ASSET: PAY_TO.address });
  t.match(noToken.find('token'), { verdict: 'problem', seen: /no contract/ });
  const { asset } = rig.chain.dollar;
  for (const [payTo, seen] of [
    ['0x0000000000000000000000000000000000000000', /zero/],
    [asset, /token contract/],
    [RELAYER.address, /relayer/],
    [PAY_TO.address.replace('0x3C', '0x3c'), /checksum/],
  ] as const)
    t.match((await check({ ...env, PAY_TO: payTo })).find('pay_to'), { verdict: 'problem', seen });
  const lower = await check({ ...env, PAY_TO: PAY_TO.address.toLowerCase() });
  t.match(lower.find('pay_to'), { verdict: 'warning', advice: new RegExp(PAY_TO.address) });

  const poor = `0x${'42'.repeat(32)}`;
  t.match((await check({ ...env, RELAYER_KEY: poor })).find('relayer'), {
    verdict: 'problem',
    seen: /0 transfers/,
  });

  const rpc = await startRpcProxy(t, rig.chain.rpcUrl);
  rpc.interfere = async (method, forward) => {
    const answer = (await forward()) as { result: { timestamp: string } };
    const ahead = `0x${(Math.floor(Date.now() / 1000) + 30).toString(16)}`;
    if (method === 'eth_getBlockByNumber') answer.result.timestamp = ahead;
    return answer;
  };
  const late = await check({ ...env, RPC_URL: rpc.url });
  t.match(late.find('clock'), { verdict: 'problem', seen: /behind the newest block/, advice: /timedatectl/ });
  rpc.interfere = () => new Promise(() => undefined);
  const hangs = await checkOnce({ ...env, RPC_URL: rpc.url });
  t.match(hangs.find('rpc'), { verdict: 'problem', seen: /no answer/ });
  t.match(hangs.find('relayer'), { verdict: 'skipped' });
  t.ok(hangs.report.duration_ms < DURATION_MAX_MS, `${hangs.report.duration_ms} ms`);
});

t.test('mail, alerts and NATS that do not work', { ...TIMEOUT, skip: skipWithoutNats() }, async (t) => {
  const env = await wholeEnvironment(t);
  const mail = await startMailServer(t, { credentials: { user: 'ada', pass: 'lovelace-1815' } });
  const nats = await startNats(t, ['--user', 'rack', '--pass', 'nats-secret-1']);
  const at = new URL(nats.url).host;
  const given = {
    ...env,
    SMTP_URL: `smtp://ada:wrong-password@127.0.0.1:${mail.port}`,
    MAIL_FROM: 'hello@numbers.test',
    PUBLIC_URL: 'http://127.0.0.1:1',
    MEDIA_BASE_URL: 'http://127.0.0.1:1',
    ALERT_WEBHOOK_URL: `http://127.0.0.1:${await freePort()}/hook`,
    ALERT_WEBHOOK_SECRET: WEBHOOK_SECRET,
    NATS_URL: `nats://rack:nats-wrong-secret@${at}`,
  };
  const wrong = await check(given);
  t.match(wrong.find('mail'), { verdict: 'problem', seen: /EAUTH/, advice: /password/ });
  t.match(wrong.find('alert_webhook'), { verdict: 'problem', seen: /ECONNREFUSED/ });
  t.match(wrong.find('nats'), { verdict: 'problem', seen: /Authorization/i });
  for (const secret of ['wrong-password', 'nats-wrong-secret', RELAYER.privateKey.slice(2)])
    t.notOk(`${wrong.stdout}${wrong.stderr}`.includes(secret), 'no secret is printed');
  const right = await check({ ...given, NATS_URL: `nats://rack:nats-secret-1@${at}` });
  t.match(right.find('nats'), { verdict: 'ok', seen: /a request was answered/ });
});

t.test('a configuration that is not complete, and one that is no configuration', TIMEOUT, async (t) => {
  const folder = temporaryFolder(t);
  const nothing = await check({ DATA_DIR: folder, PORT: String(await freePort()) });
  t.match(nothing.find('configuration'), {
    verdict: 'problem',
    seen: /set RPC_URL and PAY_TO.*"npm start".*install\.md/,
  });
  t.match(nothing.find('database'), { verdict: 'warning', seen: /embedded/ });
  const bad = await runProgram('control-plane', ['check'], { PORT: 'x' });
  t.match(bad, { status: 3, stderr: /PORT: must be/ });
  const file = join(folder, 'payments.yaml');
  writeFileSync(file, 'networks: 7');
  t.match((await check({ DATA_DIR: folder, PAYMENTS_FILE: file, PORT: '0' })).find('configuration'), {
    verdict: 'problem',
    seen: /payments\.yaml/,
  });
});

t.test('the text report names the problems, with advice at the end', TIMEOUT, async (t) => {
  const env = await wholeEnvironment(t);
  const ran = await runProgram('control-plane', ['check'], { ...env, CHAIN_ID: '8453' });
  t.match(ran, {
    status: 2,
    stdout:
      /eip155:8453\n {2}PROBLEM {2}rpc.*what to do\n {2}PROBLEM {2}eip155:8453 rpc: .*1 problem, \d warnings? \(/s,
  });
});
