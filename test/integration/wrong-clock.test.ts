// A node whose clock is wrong, on the real control plane: subscribers see when their messages really came.
import t, { type Test } from 'tap';
import { Journal } from '#node-daemon/journal/journal.ts';
import { ControlLink } from '#node-daemon/link/control-link.ts';
import { type Clock, systemClock } from '#shared/clock.ts';
import { silentLogger } from '#shared/log.ts';
import { subscribeInStore } from '../fixtures/agents/subscribed.ts';
import { identityOf } from '../fixtures/nodes/enrolled-node.ts';
import { slotAt } from '../fixtures/nodes/scripted-node.ts';
import { createRig } from '../fixtures/service/rig.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { until } from '../fixtures/until.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How long all of it may take, and what two readings of one clock may differ by. */
const SOON_MS = 30_000;

const rig = await createRig();

/** A subscriber, and the journal and link of a node whose clock is off by the given time. */
async function setUp(t: Test, { offMs }: { offMs: number }) {
  const { url, databaseUrl } = await rig.start(t);
  const scripted = await rig.connect(t, url, { nodeId: 'lab' });
  await scripted.drop();
  const { iccid, number } = slotAt(1);
  // A message that came before the subscriber had the number is not theirs.
  const since = new Date(Date.now() - DAY_MS);
  const { headers } = await subscribeInStore(databaseUrl, { address: '0x01' }, String(number), since);
  let isOffByMs = offMs;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + isOffByMs };
  const journal = await Journal.open({ folder: temporaryFolder(t), clock, log: silentLogger });
  const identity = { ...(await identityOf(url, 'lab')), controlPlaneUrl: url };
  t.teardown(() => journal.close());
  return {
    /** A message that came that long before now, by the node's clock. */
    receive: (body: string, agoMs = 0) =>
      journal.append({
        kind: 'fact',
        fact: {
          kind: 'sms_received',
          iccid: String(iccid),
          from: '+13105550188',
          body,
          partial: false,
          sent_at: null,
          received_at: new Date(clock.now() - agoMs).toISOString(),
        },
      }),
    setClock(ms: number): void {
      isOffByMs = ms;
    },
    /** The link of a process that begins now. */
    createLink(): ControlLink {
      const link = new ControlLink({
        random: Math.random,
        journal,
        clock,
        log: silentLogger,
        slots: () => [slotAt(1)],
        identity: { current: identity, onChange: () => undefined },
        commands: { handle: async () => ({ ok: true, result: {} }) },
      });
      t.teardown(() => link.stop());
      return link;
    },
    /** A call that rings now, by the node's clock. */
    ring: (link: ControlLink) =>
      link.callChanged({
        call_id: 'call-00000001',
        iccid: String(iccid),
        direction: 'inbound',
        state: 'ringing',
        peer: '+13105550188',
        started_at: new Date(clock.now()).toISOString(),
        answered_at: null,
      }),
    /** How long ago the call began, as its subscriber sees it. */
    ringsSinceMs: () =>
      until('the call', async () => {
        const { calls } = (await (await fetch(`${url}/voice/calls`, { headers })).json()) as {
          calls: { started_at: string }[];
        };
        return calls[0] && Math.max(1, Date.now() - Date.parse(calls[0].started_at));
      }),
    /** How long ago the next message came, as its subscriber sees it. */
    agoMs: (body: string) =>
      until(body, async () => {
        const response = await fetch(`${url}/sms/receive`, { headers });
        const { messages } = (await response.json()) as {
          messages: { body: string; received_at: string }[];
        };
        const found = messages.find((message) => message.body === body);
        return found && Math.max(1, Date.now() - Date.parse(found.received_at));
      }),
  };
}

const near = (ms: number, wantedMs: number): boolean => Math.abs(ms - wantedMs) < SOON_MS;

for (const offMs of [-400 * DAY_MS, -3 * HOUR_MS, 0, 3 * HOUR_MS, 400 * DAY_MS]) {
  t.test(`a clock that is off by ${offMs / HOUR_MS} h`, async (t) => {
    const node = await setUp(t, { offMs });
    const link = node.createLink();
    await node.receive('waited for the link', 5 * HOUR_MS);
    link.start();
    t.ok(near(await node.agoMs('waited for the link'), 5 * HOUR_MS));
    await node.receive('came now');
    t.ok(near(await node.agoMs('came now'), 0));
    node.ring(link);
    t.ok(near(await node.ringsSinceMs(), 0));
  });
}

t.test('a time that was right stays: of an earlier process, and after the clock was set', async (t) => {
  const node = await setUp(t, { offMs: 0 });
  await node.receive('before the restart', 5 * HOUR_MS);
  node.setClock(-3 * HOUR_MS);
  const link = node.createLink();
  link.start();
  t.ok(near(await node.agoMs('before the restart'), 5 * HOUR_MS));
  node.setClock(0);
  await node.receive('after the clock was set');
  t.ok(near(await node.agoMs('after the clock was set'), 0));
  await node.receive('an hour ago', HOUR_MS);
  t.ok(near(await node.agoMs('an hour ago'), HOUR_MS));
});
