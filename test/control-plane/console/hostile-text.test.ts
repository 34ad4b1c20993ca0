// Text that a node, a carrier, a customer or an operator may write anywhere is text on every page, and in the live stream.
import t from 'tap';
import { openDatabase } from '#control-plane/store/database/database.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { openPage, skipWithoutBrowser, startBrowser } from '../../fixtures/browser.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { enter, linkRack, startFleetConsole } from '../../fixtures/service/fleet-console.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const rig = await createRig();

/** Would end a text, an attribute, or JSON in one; 64 characters at most. */
const hostile = (name: string): string => `${name}'"><img src=x onerror=hacked('${name}')></script>&lt;`;

t.test('in a browser', { skip: skipWithoutBrowser() }, async (t) => {
  const browser = await startBrowser(t);
  const fleet = await startFleetConsole(t, rig, { serviceName: hostile('shop').slice(0, 60) });
  const slot = hostile('slot');
  const slots = [
    slotAt(1, { slot, operator: hostile('op'), model: hostile('mo'), usb_path: hostile('usb') }),
    slotAt(2, { slot: '../../x', state: 'sim_locked', reason: hostile('why'), operator: '</title>' }),
  ];
  const node = await linkRack(t, fleet, {
    nodeId: 'rack-1',
    slots: [...slots, slotAt(3)],
    alarms: [hostile('al')],
  });
  await subscribeInStore(fleet.databaseUrl, ALICE, String(slots[0]?.number));
  await writeHostileRows(fleet.databaseUrl, String(slots[0]?.number));
  const { page, troubles } = await openPage(t, browser);
  await page.addInitScript('window.hacks = []; window.hacked = (name) => window.hacks.push(name);');
  await enter(page, fleet.consoleUrl, fleet.key);

  const name = encodeURIComponent(slot);
  for (const path of [
    '/',
    '/nodes/rack-1',
    `/nodes/rack-1/slot?name=${name}`,
    '/nodes/rack-1/slot?name=..%2F..%2Fx',
    '/numbers',
    '/numbers/%2B12065550001',
    '/subscriptions',
    '/payments',
    '/audit',
    '/probes',
    `/actions/slot-out-of-service?node=rack-1&slot=${name}`,
    `/numbers?find=${name}`,
    `/${name}`,
    `/?done=${name}&range=${name}`,
    `/payments?state=${name}`,
    `/actions/${name}`,
  ]) {
    await page.goto(fleet.consoleUrl + path);
    t.same(await page.evaluate('window.hacks'), [], path);
    t.equal(await page.evaluate('document.querySelectorAll("img, main script").length'), 0, path);
  }

  await page.goto(`${fleet.consoleUrl}/`);
  await page.waitForSelector('#live:has-text("Live")');
  t.match(await page.textContent('#racks'), hostile('slot'), 'shown as it is');
  node.send({
    type: 'slots',
    alarms: [hostile('new')],
    slots: [slotAt(1, { slot, state: 'denied', reason: hostile('now') }), slotAt(3)],
  });
  await page.waitForSelector('#attention:has-text("now\'")');
  t.same(await page.evaluate('window.hacks'), [], 'nor by the stream');
  t.equal(await page.evaluate('document.querySelectorAll("img").length'), 0);
  t.same(
    troubles.filter((trouble) => !/status of 40\d/.test(trouble)),
    [],
  );
});

async function writeHostileRows(databaseUrl: string, number: string): Promise<void> {
  const { db, close } = await openDatabase({ url: databaseUrl, connectionsMax: 1 });
  const at = new Date();
  try {
    const { id } = await db.selectFrom('subscriptions').select('id').executeTakeFirstOrThrow();
    await db
      .insertInto('messages')
      .values({
        subscription_id: id,
        direction: 'received',
        from_number: hostile('from'),
        to_number: number,
        body: hostile('body'),
        message_id: null,
        status: null,
        command_id: null,
        command_node_id: null,
        fact_key: 'a',
        created_at: at,
        received_at: at,
        delivered_at: null,
      })
      .execute();
    await db
      .insertInto('node_events')
      .values({
        node_id: 'rack-1',
        slot: hostile('slot'),
        kind: hostile('kind'),
        detail: hostile('detail'),
        at,
        received_at: at,
      })
      .execute();
    await db
      .updateTable('numbers')
      .set({ out_of_service_at: at, out_of_service_reason: hostile('reason') })
      .where('number', '=', number)
      .execute();
    await db
      .insertInto('audit_log')
      .values({
        at,
        actor: hostile('actor'),
        action: hostile('action'),
        subject: hostile('subject'),
        detail: JSON.stringify({ [hostile('key')]: hostile('value') }),
        result: 'ok',
        why: hostile('w'),
      })
      .execute();
  } finally {
    await close();
  }
}
