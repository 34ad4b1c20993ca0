// Receipts of a service: a payment, texts and calls, signed in one chain, whatever instances and readers do at once.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { chmodSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { headOf, verifyReceipts } from '#control-plane/client/commands/receipt-verification.ts';
import { SimrackClient } from '#control-plane/client/simrack-client.ts';
import type { Subscription } from '#control-plane/domain/subscription.ts';
import { receipts as readReceipts } from '#control-plane/handlers/receipts.ts';
import { ReceiptSigner } from '#control-plane/receipts/receipt-signer.ts';
import { endCall, endLostCall } from '#control-plane/store/messages/call-ends.ts';
import { appendReceipts } from '#control-plane/store/receipts/receipts.ts';
import type { Receipt } from '#shared/api/receipts.ts';
import { systemClock } from '#shared/clock.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { commandLine } from '../../fixtures/agents/command-line.ts';
import { received, SLOT } from '../../fixtures/agents/subscriber.ts';
import { PRICE } from '../../fixtures/chain/paid-chain.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { request } from '../../fixtures/network/json-request.ts';
import { acceptAll } from '../../fixtures/nodes/scripted-node.ts';
import { buyNumber } from '../../fixtures/payments/payer.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const rig = await createRig();
const FRIEND = '+13105550188';
const WORDS = 'Grüße "quoted" \\ / \n\t\u0001 €😀 417209';

type Statement = Record<string, unknown>;
const statementOf = ({ jws }: Receipt): Statement =>
  JSON.parse(Buffer.from(String(jws.split('.')[1]), 'base64url').toString()) as Statement;
const digestOf = (salt: string | null, ...texts: string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([salt, ...texts]))
    .digest('hex');

/** A service whose key is in a folder of the test, and Alice, who paid for the number of a node. */
async function setUp(t: Test) {
  const folder = temporaryFolder(t);
  const keyFile = join(folder, 'receipt.key');
  const { url, databaseUrl, service } = await rig.start(t, { receiptKeyFile: keyFile });
  const node = await rig.connect(t, url, { journalId: 'journal-1', onCommand: acceptAll });
  const { token, number } = await buyNumber(url, ALICE.privateKey);
  const client = new SimrackClient({ baseUrl: url, token });
  const all = async (): Promise<Receipt[]> => {
    const receipts: Receipt[] = [];
    for await (const receipt of client.allReceipts()) receipts.push(receipt);
    return receipts;
  };
  const db = await openTestDatabase(t, databaseUrl, 8);
  const receive = async (body: string): Promise<void> => {
    await node.report(received(body, FRIEND));
  };
  /** Records an answered call. */
  const call = async (id: string, now: Date): Promise<void> => {
    await db
      .insertInto('calls')
      .values({
        id,
        subscription_id: (await client.number()).sub_account_id,
        number,
        iccid: String(SLOT.iccid),
        node_id: 'lab',
        direction: 'inbound',
        peer: FRIEND,
        state: 'active',
        started_at: new Date(now.getTime() - 5_000),
        answered_at: new Date(now.getTime() - 2_500),
        ended_at: null,
        reason: null,
        cause: null,
        up_at: now,
        seen_at: now,
      })
      .execute();
  };
  return { url, databaseUrl, service, node, token, number, client, all, call, db, receive, folder, keyFile };
}

t.test('a payment, texts and a call, each with one receipt, and the digests of their texts', async (t) => {
  const { all, call, client, db, keyFile, node, number, receive, url } = await setUp(t);
  await receive(WORDS);
  const { message_id: messageId } = await client.send({ to: FRIEND, body: WORDS });
  const now = new Date();
  await call('call_1', now);
  const ended = { state: 'ended', ended_at: now, reason: 'remote_hangup', cause: 16 } as const;
  await db.updateTable('calls').set(ended).where('id', '=', 'call_1').execute();
  await db
    .updateTable('calls')
    .set({ ...ended, cause: 17 })
    .where('id', '=', 'call_1')
    .execute();

  const receipts = await all();
  const { sub_account_id: sub } = await client.number();
  const { messages } = await client.messages();
  const [sent, arrived] = messages;
  const common = { iss: url, sub, iat: Number, at: String };
  t.match(receipts.map(statementOf), [
    {
      ...common,
      seq: 1,
      prev: null,
      kind: 'sale',
      amount: String(PRICE),
      network: /^eip155:/,
      payer: ALICE.address.toLowerCase(),
      transaction: /^0x[0-9a-f]{64}$/,
      paid_until: (await client.number()).expires_at,
    },
    { ...common, seq: 2, kind: 'text_received', message: arrived?.id },
    { ...common, seq: 3, kind: 'text_sent', message: sent?.id, message_id: messageId },
    {
      ...common,
      seq: 4,
      kind: 'call',
      call_id: 'call_1',
      duration_ms: 2_500,
      cause: 16,
      direction: 'inbound',
    },
  ]);
  t.equal(receipts.length, 4);
  const [, second, third] = receipts as [Receipt, Receipt, Receipt];
  t.equal(statementOf(second)['text_digest'], digestOf(second.salt, FRIEND, number, WORDS));
  t.equal(statementOf(third)['text_digest'], digestOf(third.salt, number, FRIEND, WORDS));
  for (const { jws } of receipts) {
    const text = Buffer.from(String(jws.split('.')[1]), 'base64url').toString();
    t.notMatch(text, /417209|3105550188/, 'neither text nor number');
  }

  const { keys } = await client.receiptKeys();
  const [jwk] = keys;
  for (const { jws } of receipts) {
    const [header, payload, signature] = jws.split('.') as [string, string, string];
    const key = createPublicKey({ key: { ...jwk }, format: 'jwk' });
    t.ok(
      verify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url')),
      'another verifier',
    );
  }
  t.equal(statSync(keyFile).mode & 0o777, 0o600, 'the key is for its user');
  t.notMatch(JSON.stringify(keys), /"d"/, 'the private half stays there');

  await client.deleteMessages({});
  const afterwards = await all();
  t.same(
    afterwards.map(({ jws }) => jws),
    receipts.map(({ jws }) => jws),
    'a receipt never changes',
  );
  t.same(
    afterwards.map(({ salt }) => salt),
    [null, null, null, null],
    'a deleted text cannot be guessed from its digest',
  );
  t.same(node.commands('send_sms').length, 1);
});

t.test('a node comes back with the real end of a call that was believed to have ended', async (t) => {
  const { all, call, db } = await setUp(t);
  const now = new Date();
  const lose = (id: string) => endLostCall(db, id, { reason: 'contact_lost', cause: 41, upAt: now, now });
  const report = (call_id: string, durationMs: number) =>
    db.transaction().execute((trx) =>
      endCall(
        trx,
        'lab',
        {
          kind: 'call_ended',
          call_id,
          iccid: String(SLOT.iccid),
          direction: 'inbound',
          peer: FRIEND,
          started_at: new Date(now.getTime() - 5_000).toISOString(),
          answered_at: new Date(now.getTime() - 2_500).toISOString(),
          ended_at: new Date(now.getTime() - 2_500 + durationMs).toISOString(),
          reason: 'remote_hangup',
          cause: 16,
          audio: null,
        },
        now,
      ),
    );
  for (const id of ['call_unread', 'call_read']) await call(id, now);
  await lose('call_unread');
  await report('call_unread', 1_000);
  await lose('call_read');
  const lost = { kind: 'call', call_id: 'call_read', reason: 'contact_lost', cause: 41 };
  const ended = { kind: 'call', reason: 'remote_hangup', cause: 16 };
  const [, ...before] = (await all()).map(statementOf);
  t.match(before, [{ ...ended, call_id: 'call_unread', duration_ms: 1_000 }, lost]);
  t.equal(before.length, 2, 'the end that was believed was never signed');
  for (const durationMs of [1_500, 2_000]) await report('call_read', durationMs);
  const [, ...after] = (await all()).map(statementOf);
  t.match(after, [{ call_id: 'call_unread' }, lost, { ...ended, call_id: 'call_read', duration_ms: 1_500 }]);
  t.equal(after.length, 3, 'a repeated report adds nothing');
});

t.test('pages, and what a reader may not ask', async (t) => {
  const { client, receive, url, token } = await setUp(t);
  for (const body of ['one', 'two', 'three', 'four']) await receive(body);
  const pages: number[][] = [];
  for (let after = 0, hasMore = true; hasMore; ) {
    const page = await client.receipts({ after, limit: 2 });
    pages.push(page.receipts.map(({ sequence }) => sequence));
    after = page.receipts.at(-1)?.sequence ?? after;
    hasMore = page.has_more;
  }
  t.same(pages, [[1, 2], [3, 4], [5]]);
  t.same(await client.receipts({ after: 5 }), { receipts: [], has_more: false });
  const get = (query: string, headers: Record<string, string> = { Authorization: `Bearer ${token}` }) =>
    request(`${url}/receipts${query}`, { headers });
  t.match(await get('', {}), { status: 401 });
  t.match(await get('?after=-1'), { status: 400, body: { field: 'after' } });
  t.match(await get('?limit=101'), { status: 400, body: { field: 'limit' } });
});

t.test('texts arrive while many readers of two instances sign: one chain, no fork and no gap', async (t) => {
  const { all, client, databaseUrl, db, keyFile, receive, url } = await setUp(t);
  const { sub_account_id: subscriptionId } = await client.number();
  // Another instance: its own connections, and the key from the file that both have.
  const other = await openTestDatabase(t, databaseUrl);
  const signer = new ReceiptSigner({ db: other, clock: systemClock, url, file: keyFile });
  const subscription = { id: subscriptionId } as Subscription;
  let isDone = false;
  const readHere = () => client.receipts({ limit: 3 });
  const readThere = () => readReceipts({ db: other, receipts: signer }, subscription, { after: 0, limit: 3 });
  const readers = [readHere, readHere, readThere, readThere].map(async (read) => {
    while (!isDone) await read();
  });
  for (let index = 0; index < 40; index += 1) await receive(`text ${index}`);
  isDone = true;
  await Promise.all(readers);
  const receipts = await all();
  t.equal(receipts.length, 41);
  const verified = await verifyReceipts({ receipts, head: headOf(receipts) }, await client.receiptKeys());
  t.same(verified.problems, []);

  await receive('the last one');
  await t.rejects(
    appendReceipts(db, { subscriptionId, max: 10 }, () => Promise.reject(new Error('no key'))),
    /no key/,
  );
  t.equal((await all()).length, 42, 'a failure to sign leaves the event for the next reader');
});

t.test('the command line verifies offline, and sees what a service dropped', async (t) => {
  const { client, folder, receive, token, url, service } = await setUp(t);
  await receive('one');
  await receive('two');
  const { simrack, start } = commandLine(t, url, { token });
  const printed = await simrack('receipts');
  const file = join(folder, 'receipts.json');
  const keys = join(folder, 'keys.json');
  writeFileSync(file, printed.stdout);
  writeFileSync(keys, JSON.stringify(await client.receiptKeys()));
  const online = await simrack('verify', file);
  t.match(
    online,
    { status: 0, stderr: /warning: The newest receipts may be missing/ },
    'with the keys of the service',
  );
  await service.stop();
  const { head } = printed.json() as { head: { hash: string } };
  const offline = await simrack('verify', file, '--keys', keys, '--since', head.hash, '--json');
  t.equal(offline.status, 0, offline.stderr);
  t.match(offline.json(), { valid: true, count: 3, head, problems: [], warnings: [] });
  const { receipts } = JSON.parse(printed.stdout) as { receipts: Receipt[] };
  const dropped = receipts.slice(0, 2);
  writeFileSync(file, JSON.stringify({ receipts: dropped, head: headOf(dropped) }));
  const short = await start(['verify', file, '--keys', keys, '--since', head.hash, '--json']);
  t.equal(short.status, 1);
  const unknown = await simrack('verify', file, '--keys', keys, '--json');
  t.match(unknown.json(), { valid: true, warnings: [/^The newest receipts may be missing/] });
  t.match(short.json(), { valid: false, problems: [{ problem: /^the receipt that you saw last/ }] });
  t.equal((await simrack('verify', join(folder, 'none.json'), '--keys', keys)).status, 2);
  t.equal((await simrack('verify', file, '--since', 'x')).status, 2);
});

t.test('a new key: former receipts and new ones can be verified', async (t) => {
  const { all, client, databaseUrl, keyFile, node, receive, service } = await setUp(t);
  await receive('one');
  t.equal((await all()).length, 2);
  const first = readFileSync(keyFile, 'utf8');
  renameSync(keyFile, `${keyFile}.former`);
  await node.drop();
  await service.stop();
  const { url } = await rig.start(t, { databaseUrl, receiptKeyFile: keyFile });
  const later = new SimrackClient({ baseUrl: url, token: String(client.token) });
  const db = await openTestDatabase(t, databaseUrl);
  await sql`insert into messages (subscription_id, direction, from_number, to_number, body, created_at)
    select id, 'received', ${FRIEND}, number, 'two', now() from subscriptions`.execute(db);
  const receipts: Receipt[] = [];
  for await (const receipt of later.allReceipts()) receipts.push(receipt);
  t.equal(receipts.length, 3);
  const kids = receipts.map(
    ({ jws }) => JSON.parse(Buffer.from(String(jws.split('.')[0]), 'base64url').toString()).kid,
  );
  t.equal(new Set(kids).size, 2);
  t.not(readFileSync(keyFile, 'utf8'), first);
  const keySet = await later.receiptKeys();
  t.same(new Set(keySet.keys.map(({ kid }) => kid)), new Set(kids));
  const { problems } = await verifyReceipts({ receipts, head: headOf(receipts) }, keySet);
  t.same(problems, []);
  chmodSync(keyFile, 0o600);
});

t.test('the first reader of the embedded database, which has one connection', async (t) => {
  const folder = temporaryFolder(t);
  const db = await openTestDatabase(t, { folder: join(folder, 'pglite') });
  await sql`insert into numbers (number, iccid, created_at) values ('+12065550001', '8901', now())`.execute(
    db,
  );
  await sql`insert into subscriptions (id, wallet, number, expires_at, created_at)
    values ('sub_1', '0xa', '+12065550001', now() + interval '1 year', now())`.execute(db);
  await sql`insert into receipts (subscription_id, kind, subject, at, facts)
    values ('sub_1', 'text_received', '1', now(), 
      jsonb_build_object('message', 1, 'text_digest', repeat('0', 64), 'salt_digest', repeat('0', 64)))`.execute(
    db,
  );
  const parts = { db, clock: systemClock, url: 'http://127.0.0.1', file: join(folder, 'receipt.key') };
  const read = readReceipts({ db, receipts: new ReceiptSigner(parts) }, { id: 'sub_1' } as Subscription, {
    after: 0,
    limit: 10,
  });
  t.equal((await read).receipts.length, 1);
});
