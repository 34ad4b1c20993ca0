// Restored beside the original: nothing that the customer knows gets its name again, and the two services do not meet.
import { join } from 'node:path';
import t from 'tap';
import { databaseIdOf, secretOf } from '#control-plane/store/database/secrets.ts';
import { startEventReceiver } from '../../fixtures/agents/event-receiver.ts';
import { received } from '../../fixtures/agents/subscriber.ts';
import { webhookCalls, webhookSubscriber } from '../../fixtures/agents/webhook-subscriber.ts';
import { putMessages } from '../../fixtures/database/lived-database.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { identityOf } from '../../fixtures/nodes/enrolled-node.ts';
import { linkNode } from '../../fixtures/nodes/scripted-node.ts';
import { runCommand } from '../../fixtures/run-command.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

const TIMEOUT = { timeout: 380_000 };

const rig = await createRig();

t.test('no id that the customer got since the backup is given again', TIMEOUT, async (t) => {
  const receiver = await startEventReceiver(t);
  const alice = await webhookSubscriber(t, rig, { nodeId: 'rack-1' });
  const { id: hook } = await alice.add({ url: receiver.url });
  await alice.receive('before');
  const file = join(temporaryFolder(t), 'lab.backup');
  t.match(await runCommand(['backup', file], { DATABASE_URL: alice.databaseUrl }), { status: 0 });
  await alice.receive('after');
  await until('both were sent', () => receiver.taken.length === 2);
  const known = await alice.deliveries(hook);
  const [after] = await alice.history();
  t.match(after, { body: 'after' });
  const identity = await identityOf(alice.url, 'rack-1');
  await alice.node.drop();
  await alice.service.stop();

  const restore = async (): Promise<string> => {
    const databaseUrl = await rig.postgres.createDatabase();
    t.match(await runCommand(['restore', file], { DATABASE_URL: databaseUrl }), { status: 0 });
    return databaseUrl;
  };
  const next = await rig.start(t, { databaseUrl: await restore(), webhookAllowPrivate: true });
  const again = webhookCalls(next.url, alice.headers);
  const node = await linkNode(t, next.url, {
    nodeId: 'rack-1',
    journalId: 'journal-1',
    identity,
    oldestSequence: 3,
  });
  await node.report(received('new'));
  await until('it was sent', () => receiver.taken.some(({ body }) => JSON.stringify(body).includes('"new"')));
  const ids = new Set(receiver.taken.map(({ id }) => id));
  t.equal(ids.size, 3, `a webhook-id of its own: ${[...ids].join(', ')}`);
  const deliveries = await again.deliveries(hook);
  const isKnown = (id: number): boolean => known.some((delivery) => delivery.id === id);
  t.same(
    deliveries.map(({ id }) => isKnown(id)),
    [false, true],
    'a delivery of its own',
  );
  await again.call('DELETE', `/sms/messages/${after?.id}`);
  const { messages } = (await again.call('GET', '/sms/messages')).body as { messages: { id: number }[] };
  t.match(messages, [{ body: 'new' }, { body: 'before' }], 'a deletion of the lost text spares the others');
  const largest = Number(messages[0]?.id);

  const third = await openTestDatabase(t, await restore());
  await putMessages(third, 1);
  const [text] = await third.selectFrom('messages').select('id').where('fact_key', '=', 'bulk/1').execute();
  t.ok(Number(text?.id) > largest, 'the same backup again: other ids than the first time');
  t.ok(Number.isSafeInteger(Number(text?.id) * 1_000), 'room for many restores');
});

t.test('the copy has an identity of its own, and works', TIMEOUT, async (t) => {
  const dataDir = temporaryFolder(t);
  const { number, databaseUrl } = await webhookSubscriber(t, rig, { service: { dataDir } });
  const original = await openTestDatabase(t, databaseUrl);
  // Made by the first hang-up.
  const deviceId = await secretOf(original, 'device_id');
  const file = join(temporaryFolder(t), 'lab.backup');
  t.match(await runCommand(['backup', file], { DATABASE_URL: databaseUrl, DATA_DIR: dataDir }), {
    status: 0,
  });
  const elsewhere = await rig.postgres.createDatabase();
  const env = { DATABASE_URL: elsewhere, DATA_DIR: dataDir };
  t.match(await runCommand(['restore', file], env), { status: 0 });
  const copy = await openTestDatabase(t, elsewhere);

  t.match(await runCommand(['number', 'out-of-service', number, '--reason', 'a drill', '--yes'], env), {
    status: 0,
  });
  const reasons = async (db: typeof copy) =>
    db.selectFrom('numbers').select('out_of_service_reason').execute();
  t.same(
    await reasons(original),
    [{ out_of_service_reason: null }],
    'a command for the copy spares the original',
  );
  t.same(await reasons(copy), [{ out_of_service_reason: 'a drill' }]);

  const { url } = await rig.start(t, { databaseUrl: elsewhere });
  t.equal((await fetch(`${url}/availability`)).status, 200);
  const idOf = async (db: typeof copy) => databaseIdOf(await secretOf(db, 'bus'));
  t.not(await idOf(copy), await idOf(original));
  t.equal(await secretOf(copy, 'device_id'), deviceId, 'phones know its ids');
  t.equal(
    await secretOf(copy, 'payment_challenge'),
    await secretOf(original, 'payment_challenge'),
    'challenges stay valid',
  );
});
