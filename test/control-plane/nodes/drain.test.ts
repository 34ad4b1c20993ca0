// A control plane that stops: it notifies its nodes, lets commands end, refuses new links, and hands over to another.
import { once } from 'node:events';
import { sql } from 'kysely';
import t from 'tap';
import WebSocket from 'ws';
import { inTransaction } from '#control-plane/store/database/database.ts';
import { makeProof } from '#node-daemon/link/identity.ts';
import { LINK_CLOSE } from '#shared/link/close.ts';
import { LINK_PATH } from '#shared/link/version.ts';
import { received, subscriber } from '../../fixtures/agents/subscriber.ts';
import { refusedUpgrade } from '../../fixtures/agents/telephone.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { waitsForLock } from '../../fixtures/database/locks.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { identityOf } from '../../fixtures/nodes/enrolled-node.ts';
import { acceptAll, linkNode, ScriptedNode } from '../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig({ hasInstances: true });

const isReported = (node: ScriptedNode): boolean => node.frames.some(({ type }) => type === 'drain');

async function upgradeAnswer(url: string, nodeId: string) {
  const { key } = await identityOf(url, nodeId);
  const authorization = makeProof({ nodeId, key, controlPlaneUrl: url }, Date.now());
  const socket = new WebSocket(url.replace('http', 'ws') + LINK_PATH, { headers: { authorization } });
  socket.on('error', () => undefined);
  const [request, response] = await once(socket, 'unexpected-response');
  request.destroy();
  return { status: Number(response.statusCode), retryAfter: response.headers['retry-after'] };
}

t.test('a command in flight has its answer before the link ends', async (t) => {
  const { service, node, send } = await subscriber(t, rig, { onCommand: () => undefined });
  const sending = send({ to: '+13105550188', body: 'last words' });
  const command = await until('the command', () => node.commands('send_sms')[0]);
  const stopping = service.stop();
  await until('drain', () => isReported(node));
  const answer = acceptAll(command);
  if (answer !== undefined) node.send(answer);
  t.match(await sending, { status: 200, body: { status: 'queued' } });
  await stopping;
  t.equal(node.closeCode, LINK_CLOSE.goingAway);
});

t.test('the wait for a command that does not end is limited', async (t) => {
  const { service, node, send } = await subscriber(t, rig, { onCommand: () => undefined });
  const sending = send({ to: '+13105550188', body: 'never answered' });
  await until('the command', () => node.commands('send_sms').length > 0);
  const begunAt = performance.now();
  await service.stop();
  t.ok(performance.now() - begunAt < 9_000, 'less than a supervisor waits');
  t.match(await sending, { status: 502, body: { error: 'phone_node_error' } });
});

t.test('new links are refused with Retry-After, and the stop does not wait for them', async (t) => {
  // By its clock, which goes on while it stops: a busy machine is no wait.
  const clock = new ManualClock();
  const { url, service } = await rig.start(t, { clock });
  const node = await ScriptedNode.connect(url, { nodeId: 'lab' });
  const begunAt = clock.now();
  const stopping = service.stop();
  await until('drain', () => isReported(node));
  t.match(await upgradeAnswer(url, 'lab'), { status: 503, retryAfter: /^\d+$/ });
  await stopping;
  t.equal(node.closeCode, LINK_CLOSE.goingAway);
  t.ok(clock.now() - begunAt < 1_900, 'sooner than one that may still try another instance');
});

t.test('a client whose token is still being checked when the sockets close is sent away', async (t) => {
  const { url, databaseUrl, service, headers, number } = await subscriber(t, rig);
  const db = await openTestDatabase(t, databaseUrl, 2);
  const { stopping, refused } = await inTransaction(db, async (trx) => {
    await sql`lock table tokens in access exclusive mode`.execute(trx);
    const refused = refusedUpgrade(url, `/voice/presence/${number}`, headers);
    await until('it is being checked', waitsForLock(db));
    const stopping = service.stop();
    const isClosed = () =>
      fetch(`${url}/health/live`).then(
        () => false,
        () => true,
      );
    await until('the port is closed', isClosed);
    return { stopping, refused };
  });
  t.match(await refused, { status: 503, body: { error: 'restarting' } });
  await stopping;
});

t.test(
  'a node that went to another instance keeps its older link until its commands have ended',
  async (t) => {
    const { databaseUrl, service, node, send, headers } = await subscriber(t, rig, {
      onCommand: () => undefined,
    });
    const other = await rig.start(t, { databaseUrl });
    await node.report(received('before'));
    const sending = send({ to: '+13105550188', body: 'over the older link' });
    const command = await until('the command', () => node.commands('send_sms')[0]);
    const stopping = service.stop();
    await until('drain', () => isReported(node));
    const next = await linkNode(t, other.url, {
      journalId: 'journal-1',
      onCommand: () => undefined,
    });
    t.match(
      next.frames.find(({ type }) => type === 'welcome'),
      { acknowledged: 1 },
    );
    // A fact that both links carry is one message.
    node.sendFact(2, received('during'));
    await next.report(received('during'), received('after'));
    const answer = acceptAll(command);
    if (answer !== undefined) node.send(answer);
    t.match(await sending, { status: 200 });
    await stopping;
    const history = await fetch(`${other.url}/sms/messages?direction=received`, { headers });
    const { messages } = (await history.json()) as { messages: Array<{ body: string }> };
    t.same(
      messages.map(({ body }) => body),
      ['after', 'during', 'before'],
      'newest first, each once',
    );
    t.equal(next.closeCode, undefined, 'the link to the other instance stays');
  },
);
