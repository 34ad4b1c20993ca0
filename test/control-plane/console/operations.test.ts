// The console shows probes, alerts, nodes that wait for approval and numbers in quarantine, and acts on them.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { sql } from 'kysely';
import t from 'tap';
import type { Database } from '#control-plane/store/database/database.ts';
import { ENROLL_PATH } from '#shared/link/enrollment.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { jsonPost } from '../../fixtures/agents/json-post.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { identityOf, newKey } from '../../fixtures/nodes/enrolled-node.ts';
import { acceptAll, type ScriptedNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { linkRack, rackSlots, signedIn, startFleetConsole } from '../../fixtures/service/fleet-console.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { openTestOperator } from '../../fixtures/service/test-operator.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const SLOTS = rackSlots(4);
const [FROM, TO] = SLOTS.map(({ number }) => String(number));

t.test('a test SMS goes from one SIM to another, and its end is shown', async (t) => {
  const fleet = await startFleetConsole(t, rig);
  let carrier: ScriptedNode | undefined;
  carrier = await linkRack(t, fleet, {
    nodeId: 'rack-1',
    slots: SLOTS,
    onCommand(command) {
      if (command.name === 'send_sms')
        carrier?.sendFact(1, {
          kind: 'sms_received',
          iccid: String(SLOTS[1]?.iccid),
          from: String(FROM),
          partial: false,
          body: String((command.params as { body: string }).body),
          sent_at: null,
          received_at: new Date().toISOString(),
        });
      return acceptAll(command);
    },
  });
  const ann = await signedIn(fleet.consoleUrl, fleet.key);
  t.match(await ann.page('/probes'), 'No probes.');
  t.match(await ann.page('/nodes/rack-1/slot?name=m1'), '/actions/send-test?');
  const sent = await ann.post('/actions/send-test', { from: String(FROM), to: String(TO) });
  t.equal(sent.headers.get('location'), '/probes?done=send-test');
  await until('it is delivered', async () => /<td[^>]*>.*delivered/s.test(await ann.page('/probes')));
  const page = await ann.page('/probes');
  t.match(page, /rack-1\/m1.*rack-1\/m2/s);
  t.match(page, /Probes by carrier.*100/s);
  t.match(await ann.page('/audit'), /ann<.*send test/s);
  const gone = await ann.post('/actions/send-test', { from: String(FROM), to: '+12065559999' });
  t.equal(gone.status, 409, 'not to a number that is none of ours');
  t.notMatch(await ann.page('/audit'), /\+12065559999|\+12065550001/, 'the audit log names no numbers');
  t.match(await ann.page('/audit'), /refused.*\+1206…9999 is not a number of this service/s);
});

t.test('the page of a node shows its refused claims; a SIM is transferred, a number admitted', async (t) => {
  const fleet = await startFleetConsole(t, rig, { admitNewSims: false });
  await linkRack(t, fleet, { nodeId: 'rack-1', slots: SLOTS });
  await linkRack(t, fleet, { nodeId: 'rack-2', slots: [slotAt(1, { slot: 'm9' })] });
  const ann = await signedIn(fleet.consoleUrl, fleet.key);
  t.match(
    await ann.page(`/numbers/${encodeURIComponent(String(FROM))}`),
    /not admitted.*\/actions\/admit-number/s,
  );
  const admitted = await ann.post('/actions/admit-number', { number: String(FROM) });
  t.match(admitted.headers.get('location'), /done=admit-number$/);
  t.match(await ann.page(`/numbers/${encodeURIComponent(String(FROM))}`), 'on sale');
  t.match(
    await ann.page('/nodes/rack-2'),
    'refused: 1 claim of SIMs that other nodes hold, or that were imported for them',
  );
  t.match(await ann.page('/nodes/rack-2/slot?name=m9'), /SIM of another node.*\/actions\/transfer-sim/s);
  const seen = { node: 'rack-2', slot: 'm9', expected: String(SLOTS[0]?.iccid) };
  const asked = await ann.page('/actions/transfer-sim?node=rack-2&slot=m9');
  t.match(asked, `rack-2 m9: ${seen.expected}`);
  t.match(asked, `name="expected" value="${seen.expected}"`);
  const other = { ...seen, expected: String(SLOTS[1]?.iccid) };
  t.equal((await ann.post('/actions/transfer-sim', other)).status, 409, 'not another SIM than was shown');
  const given = await ann.post('/actions/transfer-sim', seen);
  t.match(given.headers.get('location'), /done=transfer-sim$/);
  const db = await openTestDatabase(t, fleet.databaseUrl);
  const holder = db.selectFrom('sim_tenures').select('node_id').where('until', 'is', null);
  const [row] = await holder.where('iccid', '=', String(SLOTS[0]?.iccid)).execute();
  t.match(row, { node_id: 'rack-2' });
  t.equal((await ann.post('/actions/transfer-sim', seen)).status, 409);
  t.match(await ann.page('/audit'), /ann<.*transfer sim.*admit number/s);
});

t.test(
  'a test SMS is offered between spare numbers in service only, and sent between no others',
  async (t) => {
    const fleet = await startFleetConsole(t, rig);
    const slots = rackSlots(7);
    await linkRack(t, fleet, { nodeId: 'rack-1', slots });
    const db = await openTestDatabase(t, fleet.databaseUrl);
    const [spare, other, slotOut, numberOut, reserved] = slots.map(({ number }) => String(number));
    await sql`insert into slot_service (node_id, slot, out_of_service_at, reason, by)
    values ('rack-1', 'm3', now(), 'deaf', 'probe')`.execute(db);
    await sql`update numbers set out_of_service_at = now(), out_of_service_reason = 'worn'
    where number in (${numberOut}, ${reserved})`.execute(db);
    await reserve(db, String(reserved));
    const ann = await signedIn(fleet.consoleUrl, fleet.key);
    const offered = await until('the page shows the state', async () => {
      const page = await ann.page(`/actions/send-test?${new URLSearchParams({ from: String(spare) })}`);
      const numbers = [...page.matchAll(/<option>([^<]+)</g)].map(([, number]) => number);
      return !numbers.includes(slotOut) && numbers;
    });
    t.same(offered, [other, slots[6]?.number], 'not the one without a network, either');
    for (const slot of ['m3', 'm4', 'm5', 'm6'])
      await until(`${slot} is not offered`, async () => {
        const page = await ann.page(`/nodes/rack-1/slot?name=${slot}`);
        return !page.includes('/actions/send-test');
      });
    const refused = async (from: unknown, to: unknown): Promise<string> => {
      const answer = await ann.post('/actions/send-test', { from: String(from), to: String(to) });
      t.equal(answer.status, 409);
      return answer.text();
    };
    for (const number of [slotOut, numberOut]) {
      t.match(await refused(spare, number), /is out of service/);
      t.match(await refused(number, spare), /is out of service/);
    }
    t.match(await refused(spare, reserved), /is reserved for a payment/);
    t.match(await refused(spare, slots[5]?.number), /not on the network/);
  },
);

t.test('an alert that no slot shows by its colour needs attention, too', async (t) => {
  const fleet = await startFleetConsole(t, rig);
  const slots = SLOTS.map((slot, place) => ({ ...slot, storage: { used: place === 2 ? 19 : 0, total: 20 } }));
  await linkRack(t, fleet, { nodeId: 'rack-1', slots });
  const ann = await signedIn(fleet.consoleUrl, fleet.key);
  const db = await openTestDatabase(t, fleet.databaseUrl);
  // The service checks every ten seconds, and raises what has lasted for a minute.
  await until(
    'an alert is raised',
    async () => {
      await sql`update alerts set since = now() - interval '2 minutes' where raised_at is null`.execute(db);
      const { rows } = await sql`select from alerts where raised_at is not null`.execute(db);
      return rows.length > 0;
    },
    60_000,
  );
  const overview = await until(
    'the alert is there',
    async () => /id="attention".*19 of 20 places/s.exec(await ann.page('/'))?.[0],
  );
  t.match(overview, /href="\/nodes\/rack-1\/slot\?name=m3"/);
});

t.test('open and ended alerts are listed, and at a number its own', async (t) => {
  const fleet = await startFleetConsole(t, rig);
  await linkRack(t, fleet, { nodeId: 'rack-1', slots: SLOTS });
  const { number, subscriptionId } = await subscribeInStore(fleet.databaseUrl, ALICE, String(FROM));
  const db = await openTestDatabase(t, fleet.databaseUrl);
  const at = (minutes: number) => new Date(Date.now() + minutes * 60_000);
  const raised = async (id: string, subject: string, since: Date, end: Date | null) =>
    sql`insert into alerts (id, kind, subject, severity, summary, advice, since, seen_at, raised_at, recovered_at)
      values (${id}, 'number_down', ${subject}, 'critical', ${`no service: ${id}`}, 'call the carrier', ${since}, ${since}, ${since}, ${end})`.execute(
      db,
    );
  await raised('first', subscriptionId, at(1), at(2));
  await raised('of another', 'sub_other', at(3), at(4));
  await raised('before', 'sub_gone', at(-90), at(-80));
  await raised('today', 'sub_today', at(-9000), null);
  await sql`insert into alerts (id, kind, subject, severity, summary, advice, since, seen_at, raised_at)
    select 'filler-' || n, 'slot_down', 'rack-1/x' || n, 'warning', 'slot x' || n, '', now(), now(), now() - interval '1 day'
    from generate_series(1, 120) as n`.execute(db);
  const ann = await signedIn(fleet.consoleUrl, fleet.key);
  const page = await ann.page('/alerts');
  t.match(page, /aria-current="page">Alerts</);
  t.match(page, /no service: today.*call the carrier.*slot x\d/s, 'a customer without service first');
  const next = /rel="next" href="([^"]+)"/.exec(page)?.[1]?.replaceAll('&#38;', '&') ?? '';
  const last = await ann.page(next);
  t.match(last, /slot x\d.*of another.*first.*before/s, 'those that are over last, newest first');
  t.notMatch(last, 'call the carrier');
  const ended = await ann.page('/alerts?state=ended');
  t.match(ended, /of another.*first.*before/s);
  t.notMatch(ended, 'slot x');
  t.notMatch(await ann.page('/alerts?state=open'), 'of another');
  t.equal((await (await ann.get('/alerts.csv')).text()).trim().split('\r\n').length, 125, 'and the titles');
  const events = await ann.page(`/numbers/${encodeURIComponent(number)}`);
  t.match(events, /in service again.*without service.*no service: first.*<b>sold</s);
  t.notMatch(events, /of another|before/);
});

t.test('a node that waits is approved by its fingerprint', async (t) => {
  const fleet = await startFleetConsole(t, rig, { enrolmentApproval: true });
  await identityOf(fleet.url, 'rack-7');
  const ann = await signedIn(fleet.consoleUrl, fleet.key);
  const waits = /class="attention".*rack-7<\/a> <span>waits for your approval/s;
  t.ok(await until('it is seen to wait', async () => waits.test(await ann.page('/'))));
  const page = await until('its page', () => ann.page('/nodes/rack-7').catch(() => undefined));
  const operator = await openTestOperator(t, { ...fleet, url: fleet.url });
  const keyOf = async () => String((await operator.call('nodes', {}))[0]?.fingerprint);
  const fingerprint = await keyOf();
  t.match(fingerprint, /^SHA256:/);
  const shown = `<code class="hash">${fingerprint}</code>`;
  t.match(page, `${shown}. Approve the node only if`);
  const link = /href="(\/actions\/approve-node[^"]*)"/.exec(page)?.[1]?.replaceAll('&#38;', '&') ?? '';
  const question = await ann.page(link);
  t.match(question, shown, 'also where it is confirmed');

  const key = newKey();
  const again = {
    code: (await operator.call('addNode', { node: 'rack-7' })).code,
    public_key: publicPartOf(key),
  };
  await fetch(fleet.url + ENROLL_PATH, jsonPost(again));
  const other = await keyOf();
  t.not(other, fingerprint, 'it was enrolled with another key since');
  const approve = (fields: Record<string, string>) =>
    ann.post('/actions/approve-node', { node: 'rack-7', ...fields });
  const late = await approve({ fingerprint });
  t.equal(late.status, 409);
  t.match(await late.text(), /The key of rack-7 is SHA256:\S+, not the one that you gave/);
  t.equal((await approve({})).status, 400, 'nor without a word of the key');
  t.match((await operator.call('nodes', {}))[0], { state: 'pending' });
  t.equal((await approve({ fingerprint: other })).status, 303);
  await until(
    'it is not asked for again',
    async () => !(await ann.page('/nodes/rack-7')).includes('/actions/approve-node?'),
  );
  await linkRack(t, fleet, { nodeId: 'rack-7', slots: SLOTS, identity: { nodeId: 'rack-7', key } });
});

t.test('a revoked node needs no attention', async (t) => {
  const fleet = await startFleetConsole(t, rig);
  const slots = [...SLOTS, slotAt(9, { slot: 'm9', state: 'sim_locked', reason: 'sim_puk' })];
  await linkRack(t, fleet, { nodeId: 'rack-1', slots, alarms: ['journal_unavailable'] });
  const db = await openTestDatabase(t, fleet.databaseUrl);
  await sql`insert into slot_service (node_id, slot, out_of_service_at, reason, by)
    values ('rack-1', 'm9', now(), 'probe: deaf', 'probe')`.execute(db);
  const ann = await signedIn(fleet.consoleUrl, fleet.key);
  const attention = async () => /<section id="attention".*?<\/section>/s.exec(await ann.page('/'))?.[0] ?? '';
  await until('it needs attention', async () => /journal unavailable.*deaf/s.test(await attention()));
  t.equal((await ann.post('/actions/revoke-node', { node: 'rack-1' })).status, 303);
  await until('it needs no attention', async () => !(await attention()).includes('rack-1'));
  await until('it is still there', async () => (await ann.page('/')).includes('0 of 0 up'));
});

t.test('a slot that an operator took out of service needs no attention', async (t) => {
  const fleet = await startFleetConsole(t, rig);
  const empty = slotAt(9, { slot: 'm9', state: 'sim_absent', iccid: null, number: null });
  await linkRack(t, fleet, { nodeId: 'rack-1', slots: [...SLOTS, empty] });
  const ann = await signedIn(fleet.consoleUrl, fleet.key);
  const attention = async () => /<section id="attention".*?<\/section>/s.exec(await ann.page('/'))?.[0] ?? '';
  await until('it needs attention', async () => /rack-1 m9.*no SIM/s.test(await attention()));
  const out = { node: 'rack-1', slot: 'm9', reason: 'spare' };
  t.equal((await ann.post('/actions/slot-out-of-service', out)).status, 303);
  await until('it needs no attention', async () => !(await attention()).includes('m9'));
});

t.test('a number in quarantine is released', async (t) => {
  const fleet = await startFleetConsole(t, rig);
  await linkRack(t, fleet, { nodeId: 'rack-1', slots: SLOTS });
  const db = await openTestDatabase(t, fleet.databaseUrl);
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

/** As a payment does that is under way. */
async function reserve(db: Database, number: string): Promise<void> {
  await db
    .insertInto('payments')
    .values({
      id: 'pay_1',
      chain_id: 84532,
      asset: '0x01',
      payer: '0x02',
      nonce: '0x01',
      pay_to: '0x03',
      value: '1',
      valid_after: '0',
      valid_before: '1',
      signature: '0x',
      state: 'claimed',
      reserved_number: number,
      raw_transaction: null,
      transaction_hash: null,
      transaction_nonce: null,
      subscription_id: null,
      failure: null,
      created_at: new Date(),
      updated_at: new Date(),
    })
    .execute();
}

const publicPartOf = (key: KeyObject) => createPublicKey(key).export({ format: 'jwk' }).x;
