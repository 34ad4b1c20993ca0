// A node whose disk refuses its journal keeps no text: its numbers are not sold, and the lists say why.
import t from 'tap';
import { openLink } from '#control-plane/store/fleet/node-links.ts';
import { ALICE, BOB } from '../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { buyNumber, paySubscribe } from '../../fixtures/payments/payer.ts';
import { availableAt } from '../../fixtures/payments/presented.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { openTestOperator } from '../../fixtures/service/test-operator.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

t.test('its numbers are on sale again once it can write its journal', async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  const slots = [slotAt(1), slotAt(2), slotAt(3, { state: 'denied' })];
  let node = await rig.connect(t, url, { nodeId: 'rack', slots });
  await until('its slots', async () => (await availableAt(url)) === 2);
  const sold = String(slotAt(1).number);
  await subscribeInStore(databaseUrl, ALICE, sold);
  const operator = await openTestOperator(t, { databaseUrl, url });
  const db = await openTestDatabase(t, databaseUrl);
  const bound = () => db.selectFrom('sims').select('iccid').where('bound_to', 'is not', null).execute();
  const report = (...alarms: string[]): void => node.send({ type: 'slots', slots, alarms });
  const states = async () => {
    const { rows } = await operator.call('slots', { limit: 9 });
    return rows.map(({ slot, state }) => `${slot} ${state}`).join();
  };
  const numbers = async () => {
    const { rows } = await operator.call('numbers', { limit: 9 });
    return rows.map(({ state, service, reason }) => ({ state, service, reason }));
  };
  report('journal_unavailable');
  await until('none is on sale', async () => (await availableAt(url)) === 0);
  t.equal((await paySubscribe(url, BOB.privateKey)).status, 503);
  t.equal(await states(), 'm1 journal_unavailable,m2 journal_unavailable,m3 denied');
  t.same(await numbers(), [
    { state: 'held', service: 'journal_unavailable', reason: null },
    { state: 'offline', service: null, reason: 'its node cannot write its journal' },
    { state: 'offline', service: null, reason: null },
  ]);
  await node.drop();
  const { public_key: publicKey } = await db
    .selectFrom('nodes')
    .select('public_key')
    .where('id', '=', 'rack')
    .executeTakeFirstOrThrow();
  const link = { nodeId: 'rack', linkId: 'next', publicKey: Buffer.from(publicKey ?? []), journalId: 'next' };
  await openLink(db, { ...link, aliveUntil: new Date(Date.now() + 60_000) });
  t.match(await numbers(), [{}, { state: 'offline' }, {}], 'a new link has not reported yet');
  node = await rig.connect(t, url, { nodeId: 'rack', slots });
  await until('it is on sale', async () => (await availableAt(url)) === 1);
  await until('the sold one is bound', async () => (await bound()).length === 1);
  t.equal(await states(), 'm1 registered,m2 registered,m3 denied');
  t.match(await numbers(), [{ service: 'registered' }, { state: 'available', reason: null }, {}]);
  t.equal((await buyNumber(url, BOB.privateKey)).number, slotAt(2).number);
});
