// The consoles of two instances: what happens at one is seen at the other, and an action reaches the node wherever its link is.
import t, { type Test } from 'tap';
import {
  addOperator,
  linkRack,
  rackSlots,
  signedIn,
  startFleetConsole,
} from '../../fixtures/service/fleet-console.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { openTestOperator } from '../../fixtures/service/test-operator.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig({ hasInstances: true });
const SLOTS = rackSlots(4);
const LIVE = '/live?topic=of%3Dfleet%26range%3Dhour';

/** A rack that is linked at the first instance, and ann, who is signed in at the second one. */
async function twoConsoles(t: Test) {
  const here = await startFleetConsole(t, rig);
  const node = await linkRack(t, here, { nodeId: 'rack-1', slots: SLOTS });
  const there = await rig.start(t, { databaseUrl: here.databaseUrl, consolePort: 0 });
  const thereUrl = String(there.service.consoleUrl);
  return { here, there, node, thereUrl, ann: await signedIn(thereUrl, here.key) };
}

/** Two slots change one after the other. Returns the time until ann has seen the second one, in milliseconds. */
async function seenAfter(
  t: Test,
  { ann, node }: Pick<Awaited<ReturnType<typeof twoConsoles>>, 'ann' | 'node'>,
) {
  const stream = await ann.get(LIVE, { Accept: 'text/event-stream' });
  let text = '';
  void (async () => {
    for await (const chunk of stream.body as AsyncIterable<Uint8Array>) text += Buffer.from(chunk).toString();
  })().catch(() => undefined);
  await until('the whole page', () => text.includes('rack-1'));
  const change = async (reason: string, words: RegExp): Promise<number> => {
    t.notMatch(text, words);
    const slots = SLOTS.map((slot, place) =>
      place === 2 ? { ...slot, state: 'lost' as const, reason } : slot,
    );
    const changedAt = performance.now();
    node.send({ type: 'slots', slots, alarms: [] });
    await until('the change', () => words.test(text), 20_000);
    return performance.now() - changedAt;
  };
  await change('port_gone', /port gone/);
  // The page was rendered just now: the second change waits for as long as any does.
  return change('sim_pin', /the card asks for a PIN/);
}

t.test('a viewer at the other instance sees a slot change within a second', async (t) => {
  // On a loaded machine.
  t.ok((await seenAfter(t, await twoConsoles(t))) < 2_500, 'within a second');
});

t.test('without NATS, a viewer at the other instance sees a slot change within five seconds', async (t) => {
  const two = await twoConsoles(t);
  await rig.nats?.kill();
  t.teardown(() => rig.nats?.start());
  await until('noticed', async () => {
    const health = (await (await fetch(`${two.there.url}/health/ready`)).json()) as { status: string };
    return health.status === 'warn';
  });
  t.ok((await seenAfter(t, two)) < 8_000, 'within five seconds');
});

t.test('an action at the other instance reaches the node, and both have it in the audit log', async (t) => {
  const { ann, here, node } = await twoConsoles(t);
  const place = { node: 'rack-1', slot: 'm1' };
  t.equal((await ann.post('/actions/restart-modem', place)).status, 303);
  t.equal(node.commands('restart_modem').length, 1, 'once');
  const there = await signedIn(here.consoleUrl, here.key);
  for (const client of [ann, there])
    t.match(await client.page('/audit'), /ann<.*restart modem.*rack-1\/m1.*done/s);
  t.equal((await ann.post('/actions/revoke-node', { node: 'rack-1' })).status, 303);
  await until('its link at the first instance ends', () => node.closeCode !== undefined);
});

t.test('a session is good at every instance, and ends at every instance', async (t) => {
  const { here, thereUrl } = await twoConsoles(t);
  const bob = await signedIn(here.consoleUrl, await addOperator(here.databaseUrl, 'bob'));
  const elsewhere = await signedInWith(thereUrl, bob.cookie);
  t.equal((await elsewhere('/')).status, 200);
  const operator = await openTestOperator(t, { databaseUrl: here.databaseUrl, url: '' });
  await operator.call('removeOperator', { name: 'bob' });
  for (const url of [here.consoleUrl, thereUrl])
    t.not((await (await signedInWith(url, bob.cookie))('/')).status, 200);
});

const signedInWith = async (consoleUrl: string, cookie: string) => (path: string) =>
  fetch(consoleUrl + path, { redirect: 'manual', headers: { Cookie: cookie, Accept: 'text/html' } });
