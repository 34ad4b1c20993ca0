// A node that moves to another instance while NATS is away: the event of its new link is lost, and its older link must end all the same.
import t from 'tap';
import { LINK_CLOSE } from '#shared/link/close.ts';
import { jsonPost } from '../../fixtures/agents/json-post.ts';
import { FAR_END, telephone, telephoneClient } from '../../fixtures/agents/telephone.ts';
import { linkNode } from '../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig({ hasInstances: true });
const HEARTBEAT_MS = 1_000;
/** Long enough for the first one, and for a loaded machine to notice. */
const HEARTBEATS_MS = 4 * HEARTBEAT_MS;

const isPassing = async (url: string): Promise<boolean> =>
  ((await (await fetch(`${url}/health/ready`)).json()) as { status: string }).status === 'pass';

t.test('its older link ends within some heartbeats, and commands reach the new one only', async (t) => {
  const service = { heartbeatMs: HEARTBEAT_MS };
  const here = await telephone(t, rig, { service });
  const { databaseUrl, headers, line, node: older, number } = here;
  const { url } = await rig.start(t, { ...service, databaseUrl });
  const there = { url, ...telephoneClient(t, { url, headers, number }) };
  await rig.nats?.kill();
  await until('both know', async () => !(await isPassing(here.url)) && !(await isPassing(url)));
  const moved = await linkNode(t, url, { journalId: 'journal-1', onCommand: line.onCommand });
  line.node = moved;
  const movedAt = performance.now();
  await until('the older link ends', () => older.closeCode !== undefined);
  t.ok(performance.now() - movedAt < HEARTBEATS_MS, 'soon');
  t.equal(older.closeCode, LINK_CLOSE.replaced);
  await rig.nats?.start();
  await until('both are back', async () => (await isPassing(here.url)) && (await isPassing(url)));
  const hungUp: string[] = [];
  for (const client of [here, there]) {
    const texts = moved.commands('send_sms').length;
    const send = () => fetch(`${client.url}/sms/send`, jsonPost({ to: FAR_END, body: 'hello' }, headers));
    t.equal((await send()).status, 200);
    t.equal(moved.commands('send_sms').length, texts + 1, 'once');
    const { call_id: callId } = line.ring();
    await until('recorded', async () => (await client.calls())[0]?.['call_id'] === callId);
    t.match(await client.hangUp(callId), { status: 200 });
    hungUp.push(callId);
    t.match(
      moved.commands('hang_up').map(({ params }) => params),
      hungUp.map((id) => ({ call_id: id })),
    );
    await until('ended', () => line.calls.length === 0);
  }
  t.equal(moved.closeCode, undefined);
});

t.test('without a heartbeat, its older link ends when NATS is back', async (t) => {
  const service = { heartbeatMs: 3_600_000 };
  const { databaseUrl, line, node: older, url: olderUrl } = await telephone(t, rig, { service });
  const { url } = await rig.start(t, { ...service, databaseUrl });
  await rig.nats?.kill();
  await until('both know', async () => !(await isPassing(olderUrl)) && !(await isPassing(url)));
  await linkNode(t, url, { journalId: 'journal-1', onCommand: line.onCommand });
  t.equal(older.closeCode, undefined);
  await rig.nats?.start();
  await until('the older link ends', () => older.closeCode !== undefined);
  t.equal(older.closeCode, LINK_CLOSE.replaced);
});
