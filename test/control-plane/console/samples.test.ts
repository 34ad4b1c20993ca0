// Plots: a sample a minute by whichever instance is first, of what happened and of how the fleet was; and not for ever.
import t from 'tap';
import { readFleet } from '#control-plane/store/fleet/fleet-nodes.ts';
import {
  deleteOldSamples,
  readSamples,
  readSignal,
  takeSample,
} from '#control-plane/store/operations/samples.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { linkRack, rackSlots, signedIn, startFleetConsole } from '../../fixtures/service/fleet-console.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const minuteOf = (ms: number): number => Math.floor(ms / MINUTE_MS) * MINUTE_MS;

t.test('a minute is counted once, also by two at once, and again while ends come late', async (t) => {
  const fleet = await startFleetConsole(t, rig);
  const slots = rackSlots(8);
  await linkRack(t, fleet, { nodeId: 'rack-1', slots });
  const number = String(slots[0]?.number);
  const { subscriptionId } = await subscribeInStore(fleet.databaseUrl, ALICE, number);
  const db = await openTestDatabase(t, fleet.databaseUrl);
  const now = minuteOf(Date.now()) + 30 * MINUTE_MS;
  const at = new Date(now - 2 * MINUTE_MS + 5_000);
  const message = (id: string, status: 'delivered' | 'failed' | 'sent') => ({
    subscription_id: subscriptionId,
    direction: 'sent' as const,
    from_number: number,
    to_number: 'x',
    body: 'secret',
    message_id: id,
    status,
    command_id: id,
    command_node_id: 'rack-1',
    fact_key: null,
    created_at: at,
    received_at: null,
    delivered_at: null,
  });
  await db
    .insertInto('messages')
    .values([message('a', 'delivered'), message('b', 'failed'), message('c', 'sent')])
    .execute();
  await db
    .insertInto('calls')
    .values({
      id: 'call_00000001',
      subscription_id: subscriptionId,
      number,
      iccid: 'i',
      node_id: 'rack-1',
      direction: 'inbound',
      peer: null,
      state: 'ended',
      started_at: at,
      answered_at: at,
      ended_at: at,
      reason: 'remote_hangup',
      cause: 16,
      up_at: new Date(),
      seen_at: at,
      audio: JSON.stringify({
        captured_frames: 600,
        played_frames: 400,
        late_frames: 3,
        dropped_frames: 2,
        lost_frames: 4,
        capture_gaps: 1,
        xruns: 0,
      }),
    })
    .execute();
  const picture = await readFleet(db, new Date());
  const take = (): Promise<void> => takeSample(db, picture, new Date(now));
  await Promise.all([take(), take()]);
  const span = { since: new Date(now - 10 * MINUTE_MS), until: new Date(now + MINUTE_MS), stepMs: MINUTE_MS };
  const counted = (await readSamples(db, span)).find(({ smsSent }) => smsSent > 0);
  t.match(counted, {
    at: new Date(minuteOf(at.getTime())),
    minutes: 1,
    smsSent: 3,
    smsDelivered: 1,
    smsFailed: 1,
    callsAnswered: 1,
    callsFailed: 0,
    audioFrames: 1_000,
    audioGaps: 10,
    slots: null,
  });
  const last = (await readSamples(db, span)).at(-1);
  t.match(last, { at: new Date(now), slots: 8, slotsUp: 7, held: 1, available: 6, smsSent: 0 });
  await db.updateTable('messages').set({ status: 'delivered' }).where('message_id', '=', 'c').execute();
  await takeSample(db, picture, new Date(now + MINUTE_MS));
  const again = (await readSamples(db, span)).find(({ smsSent }) => smsSent > 0);
  t.match(again, { smsSent: 3, smsDelivered: 2 }, 'its report came later');
  const [signal] = await readSignal(db, { node: 'rack-1', slot: 'm1' }, { ...span, since: new Date(now) });
  t.same(signal, { at: new Date(now), dbm: slots[0]?.signal_dbm });
  const wide = { since: new Date(minuteOf(now) - DAY_MS), until: new Date(now + MINUTE_MS), stepMs: DAY_MS };
  const sum = (await readSamples(db, wide)).reduce((total, { smsSent }) => total + smsSent, 0);
  t.equal(sum, 3, 'a wider step sums');
  await deleteOldSamples(db, new Date(now + 9 * DAY_MS));
  t.same(await readSamples(db, span), []);
  t.same(await readSignal(db, { node: 'rack-1', slot: 'm1' }, span), []);
});

t.test('a running console takes them, and the page has plots with what they say', async (t) => {
  const fleet = await startFleetConsole(t, rig);
  const ann = await signedIn(fleet.consoleUrl, fleet.key);
  const page = await ann.page('/?range=week');
  t.match(page, /aria-current="true">week/);
  for (const plot of ['sms', 'delivery', 'calls', 'audio', 'pool']) t.match(page, `id="plot-${plot}"`);
  const db = await openTestDatabase(t, fleet.databaseUrl);
  const span = { since: new Date(0), until: new Date(Date.now() + DAY_MS), stepMs: MINUTE_MS };
  t.ok(await until('a sample', async () => (await readSamples(db, span)).length));
});
