// A backup of a service under traffic, restored elsewhere: the same rows, and a service that goes on with them.
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { verifyBackup } from '#control-plane/backup/backup-reader.ts';
import { openDatabase } from '#control-plane/store/database/database.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { received } from '../../fixtures/agents/subscriber.ts';
import { FAR_END } from '../../fixtures/agents/telephone.ts';
import { backedUp, fillTables, putMessages, rowsOf } from '../../fixtures/database/lived-database.ts';
import { waitsForLock } from '../../fixtures/database/locks.ts';
import { identityOf } from '../../fixtures/nodes/enrolled-node.ts';
import { linkNode } from '../../fixtures/nodes/scripted-node.ts';
import { buyNumber } from '../../fixtures/payments/payer.ts';
import { availableAt } from '../../fixtures/payments/presented.ts';
import { runCommand } from '../../fixtures/run-command.ts';
import { runProgram } from '../../fixtures/run-program.ts';
import { startControlPlane } from '../../fixtures/service/control-plane.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

const TIMEOUT = { timeout: 380_000 };

const rig = await createRig();

const control = (args: string[], env: Record<string, string>, onStart?: Parameters<typeof runProgram>[3]) =>
  onStart === undefined ? runCommand(args, env) : runProgram('control-plane', args, env, onStart);

/** The messages that an old token gets: those that are not claimed yet. */
async function receivedBy(url: string, token: string): Promise<string[]> {
  const answer = await fetch(`${url}/sms/receive?limit=100`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  const { messages = [] } = (await answer.json()) as { messages?: Array<{ body: string }> };
  return messages.map(({ body }) => body);
}

/** A number that was sold, messages to it, and a node that goes on sending them. */
async function live(t: Test, url: string) {
  const node = await linkNode(t, url, { nodeId: 'rack-1', journalId: 'journal-1' });
  await until('on sale', async () => (await availableAt(url)) === 1);
  const bought = await buyNumber(url, ALICE.privateKey);
  let sent = 0;
  /** Sends some more, and waits until they are stored. */
  const send = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left -= 1) {
      sent += 1;
      node.sendFact(sent, received(`message ${sent}`, FAR_END));
    }
    await until('they are stored', () => node.acknowledged === sent);
  };
  await send(10);
  return { node, token: bought.token, send };
}

t.test('Postgres to Postgres, under traffic: one moment, row by row', TIMEOUT, async (t) => {
  const { url, databaseUrl, service } = await rig.start(t);
  const { node, token, send } = await live(t, url);
  const { db, close } = await openDatabase({ url: databaseUrl, connectionsMax: 1 });
  await fillTables(db);
  await putMessages(db, 2_000);
  await close();
  const file = join(temporaryFolder(t), 'lab.backup');
  const over = new AbortController();
  const traffic = (async () => {
    while (!over.signal.aborted) await send(5);
  })();
  t.match(await control(['node', 'add', 'waiting-1'], { DATABASE_URL: databaseUrl }), { status: 0 });
  const saved = await control(['backup', file], { DATABASE_URL: databaseUrl });
  over.abort();
  await traffic;
  t.match(saved, {
    status: 0,
    stdout: /lab\.backup: \d+ rows of \d+ tables as of 20.* \(schema 00.*\), \d+ bytes/,
  });
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.match(await control(['backup', file], { DATABASE_URL: databaseUrl }), {
    status: 2,
    stderr: /already exists. Choose another name/,
  });
  const elsewhere = await rig.postgres.createDatabase();
  const restored = await control(['restore', file], { DATABASE_URL: elsewhere });
  t.match(restored, {
    status: 0,
    stderr: '',
    stdout:
      /^restored \d+ rows.*\nConsole operators whose keys are valid: .*\nNodes whose keys are valid: .*rack-1.*\nUnused enrollment codes that were voided: (?!.*rack-1).*waiting-1.* Run "[^"]*control-plane.* node add" for new ones\nKey of the PINs: .*pin\.key is missing: .*\nKey of the receipts: .*receipt\.key/,
  });
  const opened = await openDatabase({ url: elsewhere, connectionsMax: 1 });
  const codes = await opened.db.selectFrom('nodes').select('id').where('code_hash', 'is not', null).execute();
  await opened.close();
  t.same(codes, [], 'no code of the backup works');
  const identity = await identityOf(url, 'rack-1');
  await node.drop();
  await service.stop();
  const [was, is] = [
    await rowsOf({ url: databaseUrl, connectionsMax: 1 }),
    await rowsOf({ url: elsewhere, connectionsMax: 1 }),
  ];
  t.same([...is.keys()], [...was.keys()]);
  // Tables that change after that moment, or at a stop.
  const moving = ['messages', 'receipts', 'journals', 'nodes', 'sims', 'kysely_migration', 'alerts', 'pool'];
  // The copy makes another identity.
  was.set('secrets', was.get('secrets')?.filter((row) => !row.includes('"bus"')) ?? []);
  for (const [name, rows] of was) if (!moving.includes(name)) t.same(is.get(name), rows, name);
  for (const table of ['messages', 'receipts']) {
    const late = new Set(was.get(table));
    t.ok(
      is.get(table)?.every((row) => late.has(row)),
      `${table}: no row that was not there`,
    );
  }
  t.ok(Number(is.get('messages')?.length) >= 2_010);
  const acknowledged = String(is.get('journals')?.find((row) => row.includes('journal-1')));
  const bodies = is.get('messages')?.filter((row) => row.includes('rack-1/journal-1/')) ?? [];
  t.match(
    acknowledged,
    new RegExp(`"acknowledged":${bodies.length}[,}]`),
    'journal and messages are of one moment',
  );

  const next = await rig.start(t, { databaseUrl: elsewhere });
  const again = await linkNode(t, next.url, {
    nodeId: 'rack-1',
    journalId: 'journal-1',
    identity,
    oldestSequence: bodies.length + 1,
  });
  again.sendFact(bodies.length + 1, received('the first one after it', FAR_END));
  await until('it is stored', () => again.acknowledged === bodies.length + 1);
  t.ok((await receivedBy(next.url, token)).includes('message 1'), 'the old token gets the old messages');
});

t.test('the embedded database, beside its service, and into Postgres', TIMEOUT, async (t) => {
  const dataDir = temporaryFolder(t);
  const service = await startControlPlane(rig.chain, { dataDir });
  const { node, token } = await live(t, service.url);
  const env = { DATA_DIR: dataDir };
  const file = join(temporaryFolder(t), 'trial.backup');
  t.match(await control(['backup', file], env), { status: 0, stderr: '' });
  t.match(await runProgram('control-plane', ['restore', file], env), {
    status: 4,
    stderr: /in use by another control-plane \(pid \d+\): stop it first/,
  });
  const identity = await identityOf(service.url, 'rack-1');
  await node.drop();
  await service.stop();
  t.match(await control(['restore', file], env), {
    status: 2,
    stderr: /is not empty\. Nothing was changed/,
  });
  const folder = temporaryFolder(t);
  t.match(await control(['restore', file], { DATA_DIR: folder }), { status: 0 });
  const databaseUrl = await rig.postgres.createDatabase();
  t.match(await control(['restore', file], { DATABASE_URL: databaseUrl }), { status: 0 });
  const copies = [
    await rowsOf({ folder: join(folder, 'pglite') }),
    await rowsOf({ url: databaseUrl, connectionsMax: 1 }),
  ];
  for (const copy of copies) copy.delete('kysely_migration');
  t.same(copies[1], copies[0], 'the same on both');
  const { url } = await rig.start(t, { databaseUrl });
  const again = await linkNode(t, url, {
    nodeId: 'rack-1',
    journalId: 'journal-1',
    identity,
    oldestSequence: 11,
  });
  await again.report(received('message 11', FAR_END));
  t.equal((await receivedBy(url, token)).length, 11);
});

t.test('a backup of an empty or missing database is refused', TIMEOUT, async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'none.backup');
  const nothing = { status: 2, stderr: /There is nothing to back up/ };
  t.match(await control(['backup', file], { DATA_DIR: join(folder, 'data') }), nothing);
  const databaseUrl = await rig.postgres.createDatabase();
  t.match(await control(['backup', file], { DATABASE_URL: databaseUrl }), nothing);
});

t.test('a folder that is not there, or takes nothing: refused in one line', TIMEOUT, async (t) => {
  const { databaseUrl } = await rig.start(t);
  const folder = temporaryFolder(t);
  const file = join(folder, 'lab.backup');
  writeFileSync(file, '');
  for (const [path, line] of [
    [join(folder, 'none', 'lab.backup'), `The folder ${join(folder, 'none')} does not exist`],
    [join(file, 'lab.backup'), `${file} is not a folder`],
    ['/proc/lab.backup', 'The folder /proc does not exist'],
  ] as const) {
    const refused = await control(['backup', path], { DATABASE_URL: databaseUrl });
    t.match(refused, { status: 2, stdout: '', stderr: `error: ${line}.\n` });
  }
  t.same(readdirSync(folder), ['lab.backup']);
});

t.test('three backups at once are whole, and the first one gets the name', TIMEOUT, async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  await live(t, url);
  const folder = temporaryFolder(t);
  const file = join(folder, 'lab.backup');
  const env = { DATABASE_URL: databaseUrl };
  const ran = await Promise.all([1, 2, 3].map(() => runProgram('control-plane', ['backup', file], env)));
  t.same(ran.map(({ status }) => status).sort(), [0, 2, 2]);
  for (const { status, stderr } of ran)
    if (status === 2) t.match(stderr, /already exists. Choose another name/);
  t.same(readdirSync(folder), ['lab.backup'], 'nothing else is left');
  t.match(await verifyBackup(file), { header: { format: 'simrack-backup' } });
});

t.test('Ctrl-C in the middle leaves nothing', TIMEOUT, async (t) => {
  const { url, db } = await backedUp(t, rig.postgres, 1_000);
  const folder = temporaryFolder(t);
  // The backup waits for this lock after it has read other tables.
  const holder = await db.startTransaction().execute();
  t.teardown(() => holder.rollback().execute());
  await sql`lock table webhooks`.execute(holder);
  const stopped = await control(['backup', join(folder, 'x')], { DATABASE_URL: url }, (child) => {
    void until('it waits', waitsForLock(db), 60_000).then(() => child.kill('SIGINT'));
  });
  t.match(stopped, { status: null, stdout: '' });
  t.same(readdirSync(folder), []);
});

t.test('a restore brings no console session back; keys of operators stay', TIMEOUT, async (t) => {
  const { databaseUrl } = await rig.start(t);
  const { db, close } = await openDatabase({ url: databaseUrl, connectionsMax: 1 });
  await sql`insert into operators values ('ann', 'k', now())`.execute(db);
  await sql`insert into operator_sessions values ('s', 'ann', now(), now())`.execute(db);
  await close();
  const file = join(temporaryFolder(t), 'lab.backup');
  await control(['backup', file], { DATABASE_URL: databaseUrl });
  const elsewhere = await rig.postgres.createDatabase();
  t.match(await control(['restore', file], { DATABASE_URL: elsewhere }), { status: 0 });
  const rows = await rowsOf({ url: elsewhere, connectionsMax: 1 });
  t.match(rows.get('operators'), [/"ann"/]);
  t.same(rows.get('operator_sessions'), ['']);
});
