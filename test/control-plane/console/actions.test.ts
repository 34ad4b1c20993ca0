// Operators' actions in the console: with a mouse, with keys only, without JavaScript. Each asks for confirmation, and is recorded.
import t from 'tap';
import { setOutOfService } from '#control-plane/store/fleet/numbers.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { openPage, skipWithoutBrowser, startBrowser } from '../../fixtures/browser.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { unhonoured } from '../../fixtures/payments/unhonoured.ts';
import {
  addOperator,
  enter,
  linkRack,
  rackSlots,
  signedIn,
  startFleetConsole,
} from '../../fixtures/service/fleet-console.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig({ hasInstances: true });
const skip = skipWithoutBrowser();
const SLOTS = rackSlots(4);

/** The second question: its text, and its fields as a browser sends them. */
async function shownBy(answer: Response) {
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`no preview: ${answer.status} ${text}`);
  const form = /<form class="confirm".*<\/form>/s.exec(text)?.[0] ?? '';
  const hidden = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)];
  const fields = Object.fromEntries(
    hidden.map(([, name, value]) => [String(name), String(value).replaceAll('&#43;', '+')]),
  );
  delete fields['form_token'];
  return { text, fields };
}

t.test('in a browser', { skip }, async (t) => {
  const browser = await startBrowser(t);

  t.test('with the keyboard alone: to a slot, a question in a dialog, and the answer', async (t) => {
    const fleet = await startFleetConsole(t, rig);
    await linkRack(t, fleet, { nodeId: 'rack-1', slots: SLOTS });
    const { page, troubles } = await openPage(t, browser);
    await enter(page, fleet.consoleUrl, fleet.key);
    await page.keyboard.press('Tab');
    t.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to the content');
    await page.focus('[id="slot/rack-1/m1"]');
    // Until the script of the page runs, the key does nothing.
    await until('the next slot', async () => {
      await page.keyboard.press('ArrowRight');
      return (await page.evaluate('document.activeElement.id')) === 'slot/rack-1/m2';
    });
    await page.keyboard.press('Enter');
    await page.waitForSelector('h1:has-text("m2")');
    await page.focus('a:has-text("Take out of service")');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog[open]');
    t.equal(await page.evaluate('document.activeElement.name'), 'reason', 'ready to be written');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    t.match(
      await page.evaluate('document.activeElement.textContent'),
      'Take out of service',
      'back where one was',
    );
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog[open]');
    await page.keyboard.type('fan is being changed');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.done');
    t.match(await page.textContent('#slot'), /out of service/);
    t.match(await page.textContent('#slot'), /fan is being changed by operator/);
    await page.keyboard.press('/');
    await page.keyboard.type('0003');
    await page.keyboard.press('Enter');
    await page.waitForSelector('h1:has-text("+12065550003")');
    t.same(troubles, []);
  });

  t.test('without JavaScript', async (t) => {
    const fleet = await startFleetConsole(t, rig);
    await linkRack(t, fleet, { nodeId: 'rack-1', slots: SLOTS });
    const { page, troubles } = await openPage(t, browser, { javaScriptEnabled: false });
    await enter(page, fleet.consoleUrl, fleet.key);
    t.equal(await page.locator('.slot').count(), SLOTS.length);
    t.ok(await page.locator('.plot svg[role=img]').count(), 'plots are drawn');
    await page.click('.slot >> nth=0');
    await page.click('text=Restart the modem');
    t.match(await page.textContent('h1'), 'Restart the modem: rack-1 m1?');
    await page.click('button.go');
    t.match(await page.textContent('.done'), 'The modem is restarting.');
    await page.click('text=Audit log');
    t.match(await page.textContent('table'), /ann.*restart modem.*rack-1\/m1.*done/s);
    await page.click('text=Sign out');
    await page.waitForSelector('input[name=key]');
    t.same(troubles, []);
  });
});

t.test('an action that the state does not allow is refused with the reason, and audited', async (t) => {
  const fleet = await startFleetConsole(t, rig);
  const node = await linkRack(t, fleet, { nodeId: 'rack-1', slots: SLOTS });
  const ann = await signedIn(fleet.consoleUrl, fleet.key);
  for (const [path, fields, why] of [
    ['/actions/release-number', { number: '+12065550001' }, /not in quarantine/],
    ['/actions/slot-out-of-service', { node: 'rack-1', slot: 'm99', reason: 'x' }, /not reported a slot/],
    ['/actions/revoke-node', { node: 'rack-9' }, /There is no node/],
    [
      '/actions/approve-node',
      { node: 'rack-9', fingerprint: `SHA256:${'A'.repeat(43)}` },
      /There is no node/,
    ],
  ] as const) {
    const answer = await ann.post(path, fields);
    t.equal(answer.status, 409, path);
    t.match(await answer.text(), why);
  }
  for (const [path, fields, status] of [
    ['/actions/slot-out-of-service', { node: 'rack-1', slot: 'm1', reason: ' ' }, 400],
    ['/actions/slot-out-of-service', { node: 'rack-1', slot: 'm1', reason: 'x'.repeat(201) }, 400],
    ['/actions/revoke-node', { node: '../x' }, 400],
    ['/actions/blow-up', {}, 400],
  ] as const)
    t.equal((await ann.post(path, fields)).status, status, path);
  t.match(await ann.page('/audit'), /release number.*refused/s);
  t.equal((await ann.post('/actions/revoke-node', { node: 'rack-1' })).status, 303);
  await until('it is shown', async () => (await ann.page('/nodes/rack-1')).includes('revoked'));
  t.equal(node.closeCode !== undefined || (await ann.page('/')).includes('revoked'), true);
});

t.test('a customer without service comes first, with each possible action', async (t) => {
  const fleet = await startFleetConsole(t, rig, { heartbeatMs: 1_000 });
  const node = await linkRack(t, fleet, { nodeId: 'rack-1', slots: SLOTS });
  const { number, subscriptionId: id } = await subscribeInStore(
    fleet.databaseUrl,
    ALICE,
    String(SLOTS[0]?.number),
  );
  const ann = await signedIn(fleet.consoleUrl, fleet.key);
  const path = `/numbers/${encodeURIComponent(number)}`;
  await until('in service', async () => (await ann.page(path)).includes('in service'));
  t.match(await ann.page('/actions/revoke-node?node=rack-1'), /1 customer loses service: \+1206…0001/);
  const asked = (action: string) => ann.page(`/actions/${action}?node=rack-1&slot=m1`);
  t.match(await asked('slot-out-of-service'), /The number is kept by 1 customer: \+1206…0001\./);
  t.match(await asked('restart-modem'), /Without service for about a minute: 1 customer: \+1206…0001/);
  const transfer = await ann.get('/actions/transfer-sim?node=rack-1&slot=m1');
  t.equal(transfer.status, 409, 'refused before it asks');
  t.match(await transfer.text(), /reports no SIM of another node/);
  t.match(await ann.page('/'), /Nothing needs attention/);
  const card = { ...slotAt(40), slot: 'm1', iccid: '89014103211118510720', number: null };
  node.send({ type: 'slots', slots: [card, ...SLOTS.slice(1)], alarms: [] });
  const top = await until('on top', async () => {
    const text = await ann.page('/');
    return /class="attention"><h2>|Needs attention/.test(text) && text.includes('SIM in no slot')
      ? text
      : undefined;
  });
  t.match(top, /\+1206…0001.*customer without service.*SIM in no slot.*paid until/s);
  t.match(top, /class="tile bad" href="\/subscriptions\?state=down"/);
  await until('in the list', async () =>
    /class="badge bad">(?:(?!<\/span>).)*SIM in no slot/s.test(await ann.page('/numbers?state=held')),
  );
  const move = async (card: string) => ann.post('/actions/move-number', { number, card, reason: 'it died' });
  t.equal((await move('rack-9/m1')).status, 409);
  const mistyped = await move('nowhere');
  t.equal(mistyped.status, 400);
  const problem = await mistyped.text();
  t.match(problem, '<p>New card: must be an ICCID, or node/slot');
  const retry = /href="([^"]+)">Enter it again</.exec(problem)?.[1]?.replaceAll('&#38;', '&') ?? '';
  const form = await ann.page(retry);
  t.match(form, / name="number" value="\+12065550001"/);
  t.match(form, / name="reason" value="it died"/, 'with what was entered');
  t.match(problem, `href="${path}">Back to the page<`);
  const db = await openTestDatabase(t, fleet.databaseUrl);
  const described = { iccid: String(SLOTS[0]?.iccid), label: 'shelf 3', updated_at: new Date() };
  await db.insertInto('cards').values(described).execute();
  const moving = await shownBy(await move('rack-1/m1'));
  t.match(moving.text, `>New card</dt><dd><span class="whole">${card.iccid}<`);
  t.match(moving.text, `>Present card</dt><dd>${SLOTS[0]?.iccid}, which has no number then<`);
  t.match(
    moving.text,
    '>It takes over</dt><dd>label; the present one costs nothing then, and its PIN is deleted<',
  );
  t.match(moving.text, /The number is kept by 1 customer: \+1206…0001\./);
  t.notMatch(await ann.page(path), card.iccid, 'not done yet');
  const { expected: _shown, ...unexpected } = moving.fields;
  t.equal((await ann.post('/actions/move-number', unexpected)).status, 400, 'only the card that was shown');
  const moved = await ann.post('/actions/move-number', moving.fields);
  t.equal(moved.status, 303);
  t.match(
    await ann.page(String(moved.headers.get('location'))),
    `The number has the card ${card.iccid} now.`,
  );
  await until('in service again', async () => (await ann.page(path)).includes('in service'));
  t.match(await ann.page('/'), /Nothing needs attention/);
  /** The link of the page to an action, and its fields. */
  const linkTo = async (name: string, page = path) => {
    const link = new RegExp(`/actions/${name}\\?[^"]+`).exec(await ann.page(page))?.[0] ?? '';
    const { pathname, search, searchParams } = new URL(link.replaceAll('&#38;', '&'), fleet.consoleUrl);
    return { pathname, question: `${pathname}${search}`, fields: Object.fromEntries(searchParams) };
  };
  const extension = await linkTo('extend-subscription');
  t.match(extension.fields, { number, id, expires_at: /^20\d\d-.*Z$/ });
  t.match(await ann.page(extension.question), `value="${extension.fields['expires_at']}"`);
  const extend = async (days: string, fields = extension.fields) =>
    ann.post(extension.pathname, { ...fields, days, reason: 'sorry' });
  const none = await extend('0');
  t.equal(none.status, 400);
  t.match(await none.text(), '<p>Days: ');
  const { expires_at: _, ...unseen } = extension.fields;
  t.equal((await extend('7', unseen)).status, 400, 'only of an end that was shown');
  const extending = await shownBy(await extend('7'));
  const later = new Date(Date.parse(String(extension.fields['expires_at'])) + 7 * 86_400_000).toISOString();
  t.match(extending.text, `>Ends then</dt><dd><time datetime="${later}">`);
  const extended = await ann.post(extension.pathname, extending.fields);
  t.equal(extended.status, 303);
  t.match(
    await ann.page(String(extended.headers.get('location'))),
    `The subscription ends at <time datetime="${later}">`,
  );
  const again = await ann.post(extension.pathname, extending.fields);
  t.equal(again.status, 409, 'the same form once more');
  t.match(await again.text(), /ends at another time now. Check it, then try again/);
  const dayOf = ({ fields }: typeof extension) => Date.parse(String(fields['expires_at'])) / 86_400_000;
  t.equal(dayOf(await linkTo('extend-subscription')) - dayOf(extension), 7, 'once');
  const reassignment = await linkTo('reassign-number');
  t.match(await ann.page(reassignment.question), /any that is on sale.*<option>\+12065550003</s);
  const reassigning = await shownBy(
    await ann.post(reassignment.pathname, {
      ...reassignment.fields,
      to: '+12065550003',
      reason: 'the line is closed',
    }),
  );
  t.match(reassigning.text, /New number<.*\+12065550003.*out of service, and in quarantine for 90 days/s);
  const { to: _to, ...without } = reassigning.fields;
  t.equal((await ann.post(reassignment.pathname, { ...without, to: '' })).status, 400, 'only what was shown');
  const reassigned = await ann.post(reassignment.pathname, reassigning.fields);
  t.equal(reassigned.headers.get('location'), '/numbers/%2B12065550003?done=reassign-number');
  t.match(
    await ann.page('/numbers/%2B12065550003?done=reassign-number'),
    `The former number, <a href="${path}">${number}</a>, is out of service.`,
  );
  t.match(await ann.page(path), /reassigned: the line is closed/);
  t.match(await ann.page('/subscriptions'), /\+1206…0003/);
  const { pathname, fields } = await linkTo('end-subscription', '/numbers/%2B12065550003');
  const end = async (change: Record<string, string> = {}) =>
    (await ann.post(pathname, { ...fields, reason: 'as asked', ...change })).status;
  t.equal(await end({ number }), 409, 'a page of before shows another number');
  t.equal(await end(extension.fields), 409, 'and another end');
  t.equal(await end(), 303);
  t.match(await ann.page('/numbers?state=held'), 'ended, in its grace time');
  t.match(await ann.page('/numbers/%2B12065550003'), 'ended, in its grace time');
  const former = await ann.page(path);
  t.match(
    former,
    /its subscriber got<\/b> <a href="\/numbers\/%2B12065550003">\+1206…0003<.*subscription extended.*days: 7, sorry.*moved to another card.*8901\d+ to 8901\d+, it died.*<b>sold</s,
  );
  const present = await ann.page('/numbers/%2B12065550003');
  t.match(
    present,
    /subscription ended.*as asked.*given to a subscriber in place of<\/b> <a href="\/numbers\/%2B12065550001">/s,
  );
  t.notMatch(present, /<b>sold<|subscription (?:extended|over)/, 'of the other number');
  t.match(await ann.page('/audit'), /end subscription.*reassign number.*extend subscription.*move number/s);
});

t.test('a question that names no customer is not asked', async (t) => {
  const fleet = await startFleetConsole(t, rig);
  const ann = await signedIn(fleet.consoleUrl, fleet.key);
  const id = 'sub_000000000001';
  const number = '+12065550001';
  const end = '2027-01-01T00:00:00.000Z';
  for (const [name, fields] of [
    ['end-subscription', { id, expires_at: end }],
    ['end-subscription', { id, number }],
    ['end-subscription', { id, number, expires_at: 'soon' }],
    ['extend-subscription', { id, expires_at: end }],
    ['extend-subscription', { id, number }],
    ['reassign-number', { id }],
    ['reassign-number', { id, number: 'x' }],
    ['end-and-refund', { id }],
  ] as const) {
    const link = `/actions/${name}?${new URLSearchParams(fields).toString()}`;
    t.equal((await ann.get(link)).status, 400, link);
    t.equal((await ann.post(`/actions/${name}`, { ...fields, days: '1', reason: 'x' })).status, 400, link);
  }
});

t.test('the audit log names the operator of each action', async (t) => {
  const fleet = await startFleetConsole(t, rig);
  await linkRack(t, fleet, { nodeId: 'rack-1', slots: SLOTS });
  const ann = await signedIn(fleet.consoleUrl, fleet.key);
  const bob = await signedIn(fleet.consoleUrl, await addOperator(fleet.databaseUrl, 'bob'));
  const place = { node: 'rack-1', slot: 'm1' };
  t.equal((await ann.post('/actions/slot-out-of-service', { ...place, reason: 'noise' })).status, 303);
  const back = await bob.post('/actions/slot-in-service', place);
  t.equal(back.headers.get('location'), '/nodes/rack-1/slot?name=m1&done=slot-in-service');
  t.match(await bob.page('/audit'), /bob<.*put slot in service.*ann<.*take slot out of service/s);
});

t.test(
  'a number that is out of service: the list of slots says it as the page of the node does',
  async (t) => {
    const fleet = await startFleetConsole(t, rig);
    await linkRack(t, fleet, { nodeId: 'rack-1', slots: SLOTS });
    const ann = await signedIn(fleet.consoleUrl, fleet.key);
    const db = await openTestDatabase(t, fleet.databaseUrl);
    const isOut = /class="badge off">(?:(?!<\/span>).)*out of service/s;
    t.notMatch(await ann.page('/slots'), isOut);
    await setOutOfService(db, String(SLOTS[0]?.number), 'the SIM died', new Date());
    t.match(await ann.page('/slots'), isOut);
  },
);

t.test('a refund: the command where the service has no key, else the money, once', async (t) => {
  const { env, ids, sentBack, stateOf } = await unhonoured(t, rig);
  const [id = ''] = ids;
  const { DATABASE_URL: databaseUrl = '', REFUND_KEY } = env as Record<string, string>;
  const without = await startFleetConsole(t, rig, { databaseUrl });
  const ann = await signedIn(without.consoleUrl, without.key);
  t.match(await ann.page('/'), new RegExp(`class="attention".*${id}`, 's'), 'stuck: on top');
  const page = await ann.page(`/payments/${id}`);
  t.match(page, `payment refund ${id} --reason`);
  t.notMatch(page, '/actions/refund');
  t.notMatch(page, /0x[0-9a-f]{40}[^0-9a-f]/i, 'no whole wallet');

  const consoleRefundKeyFile = REFUND_KEY as `0x${string}`;
  const { service } = await rig.start(t, { databaseUrl, consolePort: 0, consoleRefundKeyFile });
  const consoleUrl = String(service.consoleUrl);
  const bob = await signedIn(consoleUrl, await addOperator(databaseUrl, 'bob'));
  t.match(await bob.page(`/payments/${id}`), `/actions/refund?id=${id}`);
  t.equal(await stateOf(id), 'reverted', 'looking does nothing');
  const [first, second] = await Promise.all([
    bob.post('/actions/refund', { id, reason: 'no number' }),
    bob.post('/actions/refund', { id, reason: 'no number' }),
  ]);
  t.ok([first.status, second.status].includes(303));
  t.equal(await stateOf(id), 'refunded');
  t.equal(await sentBack(), 1_800_000_000n, 'once, though two asked');
  t.match(await bob.page('/audit'), /bob<.*start refund/s);
});
