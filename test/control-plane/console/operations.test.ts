// What the console shows of probes, alerts, nodes that wait for approval and numbers in quarantine, and does about them.
import t from 'tap';
import { openDatabase } from '#control-plane/store/database.ts';
import { identityOf } from '../../fixtures/enrolled-node.ts';
import { linkRack, rackSlots, signedIn, startFleetConsole } from '../../fixtures/fleet-console.ts';
import { createRig } from '../../fixtures/rig.ts';
import { acceptAll, type ScriptedNode } from '../../fixtures/scripted-node.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const SLOTS = rackSlots(4);
const [FROM, TO] = SLOTS.map(({ number }) => String(number));

t.test('a test SMS goes from one SIM to another, and its end is shown', async (t) => {
  const fleet = await startFleetConsole(t, rig);
  let carrier: ScriptedNode | undefined;
  carrier = await linkRack(t, fleet, {
    ...{ nodeId: 'rack-1', slots: SLOTS },
    onCommand(command) {
      if (command.name === 'send_sms')
        carrier?.sendFact(1, {
          ...{ kind: 'sms_received', iccid: String(SLOTS[1]?.iccid), from: String(FROM), partial: false },
          ...{ body: String((command.params as { body: string }).body), sent_at: null },
          received_at: new Date().toISOString(),
        });
      return acceptAll(command);
    },
  });
  const ann = await signedIn(fleet.consoleUrl, fleet.key);
  t.match(await ann.page('/probes'), 'None yet.');
  t.match(await ann.page('/nodes/rack-1/slot?name=m1'), '/actions/send-test?');
  const sent = await ann.post('/actions/send-test', { from: String(FROM), to: String(TO) });
  t.equal(sent.headers.get('location'), '/probes?done=send-test');
  await until('it is delivered', async () => /<td[^>]*>.*delivered/s.test(await ann.page('/probes')));
  const page = await ann.page('/probes');
  t.match(page, /rack-1 m1.*rack-1 m2/s);
  t.match(page, /Probes by carrier.*100/s);
  t.match(await ann.page('/audit'), /ann<.*send test/s);
  const gone = await ann.post('/actions/send-test', { from: String(FROM), to: '+12065559999' });
  t.equal(gone.status, 409, 'not to a number that is none of ours');
});

t.test('an alert that no slot shows by its colour needs attention, too', async (t) => {
  const fleet = await startFleetConsole(t, rig);
  const slots = SLOTS.map((slot, place) => ({ ...slot, storage: { used: place === 2 ? 19 : 0, total: 20 } }));
  await linkRack(t, fleet, { nodeId: 'rack-1', slots });
  const ann = await signedIn(fleet.consoleUrl, fleet.key);
  // The service looks every ten seconds.
  const overview = await until(
    'the alert is there',
    async () => /id="attention".*19 of 20 places/s.exec(await ann.page('/'))?.[0],
    60_000,
  );
  t.match(overview, /href="\/nodes\/rack-1\/slot\?name=m3"/);
});

t.test('a node that waits is approved by its fingerprint', async (t) => {
  const fleet = await startFleetConsole(t, rig, { enrolmentApproval: true });
  await identityOf(fleet.url, 'rack-7');
  const ann = await signedIn(fleet.consoleUrl, fleet.key);
  const waits = /class="attention".*rack-7<\/a> <span>waits for your approval/s;
  t.ok(await until('it is seen to wait', async () => waits.test(await ann.page('/'))));
  const page = await ann.page('/nodes/rack-7');
  t.match(page, /SHA256:/i, 'its fingerprint, to compare');
  t.match(page, '/actions/approve-node?');
  t.equal((await ann.post('/actions/approve-node', { node: 'rack-7' })).status, 303);
  t.notMatch(await ann.page('/nodes/rack-7'), '/actions/approve-node?');
  await linkRack(t, fleet, { nodeId: 'rack-7', slots: SLOTS });
});

t.test('a number in quarantine is released', async (t) => {
  const fleet = await startFleetConsole(t, rig);
  await linkRack(t, fleet, { nodeId: 'rack-1', slots: SLOTS });
  const { db, close } = await openDatabase({ url: fleet.databaseUrl, connectionsMax: 1 });
  t.teardown(close);
  const end = new Date(Date.now() + 86_400_000);
  await db
    .updateTable('numbers')
    .set({ quarantined_until: end })
    .where('number', '=', String(FROM))
    .execute();
  const ann = await signedIn(fleet.consoleUrl, fleet.key);
  const path = `/numbers/${encodeURIComponent(String(FROM))}`;
  t.match(await ann.page(path), /quarantine.*\/actions\/release-number\?/s);
  t.equal((await ann.post('/actions/release-number', { number: String(FROM) })).status, 303);
  t.notMatch(await ann.page(path), '/actions/release-number?');
  t.match(await ann.page('/audit'), /ann<.*release number/s);
});
