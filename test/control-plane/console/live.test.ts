// A change is seen at once by all who watch; and a stream ends with the session that opened it.
import { sql } from 'kysely';
import t from 'tap';
import { ALICE } from '../../dev-stack/wallets.ts';
import { openPage, skipWithoutBrowser, startBrowser } from '../../fixtures/browser.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import type { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import {
  addOperator,
  enter,
  linkRack,
  rackSlots,
  signedIn,
  startFleetConsole,
} from '../../fixtures/service/fleet-console.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { ofOneInstance } from '../../fixtures/service/several-instances.ts';
import { openTestOperator } from '../../fixtures/service/test-operator.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const ACCOUNT = ALICE.address.toLowerCase();
const SLOTS = rackSlots(16);
const LIVE = '/live?topic=of%3Dfleet%26range%3Dhour';
const skip = skipWithoutBrowser();
/** One for all tests. */
let started: ReturnType<typeof startBrowser> | undefined;
const browserOfAll = () => (started ??= startBrowser(t));
/** For tests of sessions of their own, without a node. */
const idle = await startFleetConsole(t, rig);

const withState = (index: number, change: Parameters<typeof slotAt>[1]) =>
  SLOTS.map((slot, place) => (place === index ? { ...slot, ...change } : slot));

/** The events of a stream, as they come. */
async function openStream(
  client: Awaited<ReturnType<typeof signedIn>>,
  headers: Record<string, string> = {},
) {
  const response = await client.get(LIVE, { Accept: 'text/event-stream', ...headers });
  const events: string[] = [];
  let isOver = false;
  const read = (async () => {
    let text = '';
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString();
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      events.push(...parts);
    }
  })()
    .catch(() => undefined)
    .finally(() => {
      isOver = true;
    });
  return { response, events, isOver: () => isOver, read };
}

t.test('two viewers see a slot change, one of them on another page', { skip }, async (t) => {
  const fleet = await startFleetConsole(t, rig);
  const node = await linkRack(t, fleet, { nodeId: 'rack-1', slots: SLOTS });
  const browser = await browserOfAll();
  const [ann, bob] = await Promise.all([openPage(t, browser), openPage(t, browser)]);
  await enter(ann.page, fleet.consoleUrl, fleet.key);
  await enter(bob.page, fleet.consoleUrl, fleet.key, '/nodes/rack-1');
  for (const { page } of [ann, bob]) await page.waitForSelector('#live:has-text("Live")');
  await ann.page.focus('[id="slot/rack-1/m3"]');
  node.send({ type: 'slots', slots: withState(2, { state: 'lost', reason: 'port_gone' }), alarms: [] });
  for (const { page } of [ann, bob]) await page.waitForSelector('[id="slot/rack-1/m3"].bad');
  t.match(await bob.page.textContent('[id="row/rack-1/m3"]'), /modem lost/, 'the table, too');
  t.match(await ann.page.textContent('#attention'), /rack-1 m3 modem lost: port gone/);
  t.notMatch(await ann.page.textContent('#racks'), /port_gone/, 'words, not codes');
  t.equal(await ann.page.evaluate('document.activeElement.id'), 'slot/rack-1/m3', 'the focus stays');
  await node.drop();
  for (const { page } of [ann, bob]) await page.waitForSelector('.slot.off [href="#sign-away"]');
  for (const { troubles } of [ann, bob]) t.same(troubles, []);
});

t.test('times name their zone, and those of today their day', { skip }, async (t) => {
  const fleet = await startFleetConsole(t, rig);
  await linkRack(t, fleet, { nodeId: 'rack-1', slots: SLOTS.slice(0, 2) });
  const client = await signedIn(fleet.consoleUrl, fleet.key);
  t.equal((await client.post('/actions/slot-in-service', { node: 'rack-1', slot: 'm1' })).status, 303);
  const db = await openTestDatabase(t, fleet.databaseUrl);
  await db.updateTable('audit_log').set({ why: 'not before 2026-01-05T12:00:00.000Z, they said' }).execute();
  await sql`insert into payments (id, chain_id, asset, payer, nonce, pay_to, value, valid_after, valid_before, signature,
      state, failure, created_at, updated_at)
    values ('pay_000000000000000000000001', 84532, ${ACCOUNT}, ${ACCOUNT}, '0x01', ${ACCOUNT}, '1', '0', '1', '0x',
      'void', 'not before 2026-01-05T12:00:00.000Z, they said', now(), now())`.execute(db);
  for (const [timezoneId, zone, time] of [
    ['Asia/Kathmandu', 'Times in Asia/Kath?mandu (UTC+5:45)', /not before Jan 5, 2026, 17:45, they said/],
    ['UTC', 'Times in UTC', /not before Jan 5, 2026, 12:00, they said/],
    ['America/Phoenix', 'Times in America/Phoenix (UTC−7)', /not before Jan 5, 2026, 05:00, they said/],
  ] as const) {
    const { page, troubles } = await openPage(t, await browserOfAll(), { timezoneId, locale: 'en-US' });
    await enter(page, fleet.consoleUrl, fleet.key, '/audit');
    t.equal((await page.textContent('.zone'))?.replace(/Kat(h?)mandu/, 'Kath?mandu'), zone);
    t.match(await page.textContent('tbody'), time);
    t.match(await page.textContent('tbody'), /today \d\d:\d\d:\d\d/);
    await page.goto(`${fleet.consoleUrl}/payments/pay_000000000000000000000001`);
    t.match(await page.textContent('dl.facts'), time, 'at a payment, too');
    t.same(troubles, []);
  }
});

t.test(
  'a viewer that reconnects gets the missed events, and no more',
  { skip: ofOneInstance('another instance sends the whole page') },
  async (t) => {
    const fleet = await startFleetConsole(t, rig);
    const node = await linkRack(t, fleet, { nodeId: 'rack-1', slots: SLOTS });
    const client = await signedIn(fleet.consoleUrl, fleet.key);
    const first = await openStream(client);
    t.equal(first.response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    const whole = await until('the whole page', () => first.events.find((event) => event.startsWith('id: ')));
    t.match(whole, /"racks"/, 'a viewer without a last event gets all');
    const version = /^id: (\S+)$/m.exec(whole)?.[1] ?? '';
    node.send({ type: 'slots', slots: withState(2, { state: 'lost' }), alarms: [] });
    const change = await until('the change', () =>
      first.events.find((event) => event.includes('rack-1 m3</a>')),
    );
    t.notMatch(change, /"slot\/rack-1\/m4"/, 'only what has changed');
    t.notMatch(change, /"racks"/);
    const second = await openStream(client, { 'Last-Event-ID': version });
    const missed = await until('the missed event', () =>
      second.events.find((event) => event.startsWith('id: ')),
    );
    t.match(missed, /slot\/rack-1\/m3/);
    t.notMatch(missed, /"racks"/);
    const other = await openStream(client, { 'Last-Event-ID': '0123456789ab-7' });
    t.match(
      await until('all', () => other.events.find((event) => event.startsWith('id: '))),
      /"racks"/,
      'of another process',
    );
  },
);

t.test('a stream ends with its session: of an operator who is removed, and with the service', async (t) => {
  const bob = await signedIn(idle.consoleUrl, await addOperator(idle.databaseUrl, 'bob'));
  const ann = await signedIn(idle.consoleUrl, idle.key);
  const [hers, his] = [await openStream(ann), await openStream(bob)];
  const operator = await openTestOperator(t, { databaseUrl: idle.databaseUrl, url: '' });
  await operator.call('removeOperator', { name: 'bob' });
  await until('his stream ends', his.isOver);
  t.match(his.events.at(-1), 'event: ended');
  t.notOk(hers.isOver());
  await ann.post('/sign-out', {});
  await until('hers, too', hers.isOver);
});

t.test(
  'too many streams of one session are refused, and of what is no topic none is opened',
  { skip: ofOneInstance('each instance counts by itself') },
  async (t) => {
    const ann = await signedIn(idle.consoleUrl, idle.key);
    for (let count = 0; count < 20; count += 1) t.equal((await openStream(ann)).response.status, 200);
    t.equal((await openStream(ann)).response.status, 429);
    for (const topic of ['', 'of=moon', 'of=node', 'of=node&node=../..', 'of=slot&node=rack-1'])
      t.equal((await ann.get(`/live?topic=${encodeURIComponent(topic)}`, {})).status, 404, topic);
  },
);

t.test('a HEAD request for a stream is answered at once', async (t) => {
  const ann = await signedIn(idle.consoleUrl, idle.key);
  const headers = { Cookie: ann.cookie, Accept: 'text/event-stream' };
  for (let count = 0; count < 25; count += 1) {
    const answer = await fetch(idle.consoleUrl + LIVE, { method: 'HEAD', headers });
    t.equal(answer.status, 200);
    t.equal(answer.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  }
  t.equal((await openStream(ann)).response.status, 200, 'and takes no place of a stream');
});

t.test('while the database is away a stream says since when its data is old', async (t) => {
  const fleet = await startFleetConsole(t, rig);
  const ann = await signedIn(fleet.consoleUrl, fleet.key);
  const stream = await openStream(ann);
  const openedAt = Date.now();
  const reported = (event: string) => stream.events.filter((each) => each.startsWith(`event: ${event}`));
  await rig.postgres.setAway(fleet.databaseUrl, true);
  const awayAt = Date.now();
  const old = await until('it is sent', () => reported('old')[0], 30_000);
  const since = Date.parse(/^data: (.+)$/m.exec(old)?.[1] ?? '');
  t.ok(since >= openedAt - 5_000 && since <= awayAt, 'the last time that it was known');
  t.same(reported('current'), []);
  await rig.postgres.setAway(fleet.databaseUrl, false);
  await until('it is current again', () => reported('current').length > 0, 30_000);
  t.equal(reported('old').length, 1, 'said once');
});

t.test('while the database is away a page says so, too', { skip }, async (t) => {
  const fleet = await startFleetConsole(t, rig);
  const { page } = await openPage(t, await browserOfAll());
  await enter(page, fleet.consoleUrl, fleet.key);
  await page.waitForSelector('#live:has-text("Live")');
  await rig.postgres.setAway(fleet.databaseUrl, true);
  await page.waitForSelector('#live.lost:has-text("Outdated: as of ")');
  t.match(await page.textContent('#live'), /^Outdated: as of \d{1,2}:\d\d:\d\d$/);
  await rig.postgres.setAway(fleet.databaseUrl, false);
  await page.waitForSelector('#live:not(.lost):has-text("Live")');
});
