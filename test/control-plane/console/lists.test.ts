// The lists and what is behind them: where a number is, what befell it; wallets, numbers of others and texts are not shown.
import { sql } from 'kysely';
import t from 'tap';
import type { Slot } from '#shared/link/slot.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { linkRack, rackSlots, signedIn, startFleetConsole } from '../../fixtures/service/fleet-console.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const TEXT = 'Your code is 493017';

t.test('from a number to its last events, without texts, wallets and numbers of others', async (t) => {
  const fleet = await startFleetConsole(t, rig);
  const slots = rackSlots(8);
  const node = await linkRack(t, fleet, { nodeId: 'rack-1', slots });
  const [slot] = slots;
  const number = String(slot?.number);
  await subscribeInStore(fleet.databaseUrl, ALICE, number);
  node.sendFact(1, {
    kind: 'sms_received',
    iccid: String(slot?.iccid),
    from: '+13105550188',
    body: TEXT,
    sent_at: null,
    received_at: new Date(Date.now() + 6_000).toISOString(),
    partial: false,
  });
  node.send({
    type: 'event',
    event: { slot: 'm1', kind: 'recovery_step', detail: 'radio', at: new Date().toISOString() },
  });
  const ann = await signedIn(fleet.consoleUrl, fleet.key);
  const path = `/numbers/${encodeURIComponent(number)}`;
  const page = await until('the message is there', async () => {
    const text = await ann.page(path);
    return text.includes('message received') && text;
  });
  t.match(page, /<b>sold<.*SIM came to<\/b> <a href="\/nodes\/rack-1">/s);
  t.match(page, 'rack-1 m1');
  t.match(page, '+1310…0188');
  t.notMatch(page, /\+13105550188|493017/);
  const db = await openTestDatabase(t, fleet.databaseUrl);
  t.equal((await db.selectFrom('messages').select('body').executeTakeFirst())?.body, TEXT, 'it is there');
  const places = ['/', '/nodes/rack-1', '/nodes/rack-1/slot?name=m1', '/numbers', '/subscriptions', path];
  for (const place of places) {
    const text = await ann.page(place);
    t.notMatch(text, new RegExp(ALICE.address, 'i'), place);
    t.notMatch(text, /493017/, place);
    if (place !== path) t.notMatch(text, `>${number}<`, `${place}: masked`);
  }
  t.match(await ann.page('/subscriptions'), /0x7099…79C8|0x[0-9a-fA-F]{4}…[0-9a-fA-F]{4}/);
  t.match(await ann.page('/nodes/rack-1/slot?name=m1'), /recovery step.*radio/s);
  t.match(await ann.page('/'), /recovery step.*radio/s);
  t.match(
    await ann.page(path),
    /<b>event of its slot<\/b> <a href="[^"]*m1">[^<]*<\/a> <span>recovery step: radio</,
  );
  t.equal((await ann.get('/find?find=5550001')).headers.get('location'), path);
  const label = { iccid: String(slot?.iccid), label: 'shelf 3, left', updated_at: new Date() };
  await db.insertInto('cards').values(label).execute();
  for (const part of ['SHELF 3', String(slot?.iccid), String(slot?.device_id), ALICE.address])
    t.equal((await ann.get(`/find?find=${encodeURIComponent(part)}`)).headers.get('location'), path, part);
  t.match(await ann.page('/numbers?find=shelf'), 'shelf 3, left');
  t.match(await ann.page('/find?find=5550'), /Found: “5550”.*Numbers.*Slots.*Subscriptions/s);
  t.equal((await ann.get('/find?find=0', { Accept: 'text/html' })).status, 400, 'at least 2 characters');
  t.match(await ann.page('/numbers?state=held'), '+1206…0001');
  t.notMatch(await ann.page('/numbers?state=available'), '+1206…0001');
  for (const nowhere of [
    '/numbers/%2B12065559999',
    '/nodes/rack-9',
    '/payments/pay_000000000000000000000000',
  ])
    t.equal((await ann.get(nowhere, { Accept: 'text/html' })).status, 404, nowhere);

  const out = { node: 'rack-1', slot: 'm1', reason: 'a bent pin' };
  t.equal((await ann.post('/actions/slot-out-of-service', out)).status, 303);
  await db
    .updateTable('numbers')
    .set({ out_of_service_at: new Date(), out_of_service_reason: 'a worn SIM' })
    .where('number', '=', number)
    .execute();
  const slotPage = '/nodes/rack-1/slot?name=m1';
  await until('it is out of service', async () => (await ann.page(slotPage)).includes('a worn SIM'));
  for (const place of places)
    if (place !== path)
      t.notMatch(await ann.page(place), `>${number}<`, `${place}: masked out of service, too`);
  t.match(await ann.page(slotPage), /a bent pin.*a worn SIM.*held/s, 'and it is held all the same');
  const row = /<tr>(?:(?!<\/tr>).)*>m1<.*?<\/tr>/s.exec(await ann.page('/slots'))?.[0] ?? '';
  t.match(row, 'out of service');
  t.notMatch(row, 'in service<', 'a slot that is not sold is not said to serve');
  // The card dies.
  const dead = { ...slots[0], state: 'sim_absent', iccid: null, number: null } as Slot;
  node.send({ type: 'slots', slots: [dead, ...slots.slice(1)], alarms: [] });
  const link = '<a href="/nodes/rack-1/slot?name=m1">';
  await until('its number names its last slot', async () =>
    (await ann.page(path)).includes(`last in ${link}`),
  );
  await until('and the slot its number', async () => {
    const page = await ann.page('/nodes/rack-1/slot?name=m1');
    return page.includes('Without service') && page.includes(`<a href="${path}">+1206…0001</a>, paid until`);
  });
});

t.test('long lists come in pages, and as files of any length', async (t) => {
  const fleet = await startFleetConsole(t, rig);
  const ann = await signedIn(fleet.consoleUrl, fleet.key);
  const db = await openTestDatabase(t, fleet.databaseUrl);
  const rows = Array.from({ length: 150 }, (_, index) => ({
    number: `+1206556${String(index).padStart(4, '0')}`,
    iccid: `89010000000000${String(index).padStart(5, '0')}`,
    created_at: new Date(),
  }));
  await db.insertInto('numbers').values(rows).execute();
  const first = await ann.page('/numbers?state=offline');
  const next = /rel="next" href="([^"]+)"/.exec(first)?.[1]?.replaceAll('&#38;', '&') ?? '';
  t.match(next, 'state=offline');
  const second = await ann.page(next);
  const sorted = await ann.page('/numbers?state=offline&sort=iccid&order=desc');
  t.match(sorted, /aria-sort="descending"><a href="\/numbers\?state=offline&#38;sort=iccid"/, 'turned round');
  t.match(sorted, '/numbers?state=offline&#38;sort=state"', 'the filter stays');
  t.match(sorted, '/numbers.csv?state=offline&#38;sort=iccid&#38;order=desc"');
  const after = /rel="next" href="([^"]+)"/.exec(sorted)?.[1]?.replaceAll('&#38;', '&') ?? '';
  t.match(await ann.page(after), /\+12065560049<.*\+12065560000</s);
  const csv = await ann.get('/numbers.csv?state=offline&sort=iccid&order=desc');
  t.match(csv.headers.get('content-type'), /^text\/csv/);
  const lines = (await csv.text()).split('\r\n');
  t.equal(lines.length, 152, 'all of them, and the titles');
  t.match(lines, [/^Number,State/, /^\+12065560149,offline,/]);
  const many = Array.from({ length: 12_000 }, (_, index) => ({
    number: `+1206${String(7_000_000 + index)}`,
    iccid: `89011${String(index).padStart(14, '0')}`,
    created_at: new Date(),
  }));
  for (let from = 0; from < many.length; from += 2_000)
    await db
      .insertInto('numbers')
      .values(many.slice(from, from + 2_000))
      .execute();
  const file = await (await ann.get('/numbers.csv')).text();
  t.equal(file.split('\r\n').length, 12_152, 'a file of any length');
  t.equal(new Set(file.split('\r\n')).size, 12_152, 'each row once');
  t.match(file, /^Number,State,Service,ICCID,[^\r]+\r\n/, 'the titles once, on top');
  t.equal(file.split('Number,State').length, 2);
  t.equal((await ann.get('/numbers.csv?find=x')).status, 400, 'a bad filter is refused before a byte');
  t.match(await ann.page('/numbers?find=no-such-thing'), 'Nothing matches these filters.');
  const count = (text: string): number => text.split('<tr>').length - 2;
  t.same([count(first), count(second)], [100, 50]);
  t.notMatch(second, 'rel="next"');
});

t.test('alerts that are over are found behind any number of open ones', async (t) => {
  const fleet = await startFleetConsole(t, rig);
  const ann = await signedIn(fleet.consoleUrl, fleet.key);
  const db = await openTestDatabase(t, fleet.databaseUrl);
  const raise = (count: number, end: Date | null) =>
    sql`insert into alerts (id, kind, subject, severity, summary, advice, since, seen_at, raised_at, recovered_at)
      select 'alert_' || md5(${String(end)} || n), 'number_down', 's' || n, 'critical', 'trouble', '', now(), now(), now(), ${end}
      from generate_series(1, ${count}::int) as n`.execute(db);
  await raise(1_000, null);
  await raise(150, new Date());
  const count = (text: string): number => text.split('<tr>').length - 2;
  const first = await ann.page('/alerts?state=ended');
  const next = /rel="next" href="([^"]+)"/.exec(first)?.[1]?.replaceAll('&#38;', '&') ?? '';
  t.match(next, 'state=ended');
  t.same([count(first), count(await ann.page(next))], [100, 50]);
  const file = await (await ann.get('/alerts.csv')).text();
  t.equal(file.split('\r\n').length, 1_150 + 2, 'all of them, and the titles');
});
