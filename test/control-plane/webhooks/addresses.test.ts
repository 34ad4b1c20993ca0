// Where webhooks may go: no private address by any spelling or name, no redirect, nothing without a valid certificate.
import t from 'tap';
import { checkWebhookUrl } from '#control-plane/domain/webhook-url.ts';
import { createPoster, type PostResult } from '#control-plane/webhooks/poster.ts';
import { systemClock } from '#shared/clock.ts';
import { startEventReceiver } from '../../fixtures/agents/event-receiver.ts';
import { webhookSubscriber } from '../../fixtures/agents/webhook-subscriber.ts';
import { startNameServer } from '../../fixtures/network/name-server.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const rig = await createRig();

const BODY = { type: 'webhook.test', timestamp: new Date().toISOString(), data: { webhook_id: 'wh_1' } };
const POST = { keys: [Buffer.alloc(32, 7)], id: 'evt_1', body: JSON.stringify(BODY) };

/** Every range that is not for the public, and the metadata services of clouds. */
const PRIVATE = [
  '127.0.0.1',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  'fe80::1',
  'fc00::1',
  'fd00:ec2::254',
  '::ffff:7f00:1',
  '::ffff:a9fe:a9fe',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  'ff02::1',
  '::7f00:1',
  '::127.0.0.1',
  '::ffff:0:7f00:1',
  '64:ff9b:1::7f00:1',
  'fec0::7f00:1',
  '4000::1',
];
const SPELLINGS = ['127.1', '2130706433', '0x7f000001', '0177.0.0.1', '127.0.0.1.', '①②⑦.0.0.1'];

t.test('URLs that are refused when they are given', async (t) => {
  const { add, call } = await webhookSubscriber(t, rig, { service: { webhookAllowPrivate: false } });
  const hosts = [
    ...PRIVATE.map((address) => (address.includes(':') ? `[${address}]` : address)),
    ...SPELLINGS,
  ];
  const urls = [
    ...hosts.map((host) => `https://${host}/`),
    'http://example.org/',
    'https://user:password@example.org/',
    'https://user@example.org/',
    'https://example.org/#fragment',
    'ftp://example.org/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'not a url',
  ];
  for (const url of urls)
    t.match(
      await call('POST', '/webhooks', { url }),
      { status: 400, body: { error: 'webhook_url_not_allowed', field: 'url' } },
      url,
    );
  const hook = await add({ url: 'https://example.org/in' });
  t.match(await call('PATCH', `/webhooks/${hook.id}`, { url: 'https://10.0.0.1/' }), {
    status: 400,
    body: { error: 'webhook_url_not_allowed' },
  });
  for (const body of [
    {},
    { url: 7 },
    { url: 'https://example.org/', evnets: [] },
    { url: 'https://example.org/', events: [] },
  ])
    t.match(await call('POST', '/webhooks', body), { status: 400, body: { error: 'invalid_request' } });
  t.match(await call('POST', '/webhooks', { url: 'https://example.org/', events: ['sms.sent'] }), {
    status: 400,
  });
});

t.test('names that lead to private addresses, now or later: no connection is made', async (t) => {
  const names = await startNameServer(t);
  const receiver = await startEventReceiver(t);
  const { port } = new URL(receiver.url);
  const poster = createPoster({
    userAgent: 'test',
    timeoutMs: 5_000,
    allowsPrivate: false,
    nameServers: [names.address],
    clock: systemClock,
  });
  t.teardown(() => poster.close());
  const postTo = (protocol: string): Promise<PostResult> =>
    poster.post({ ...POST, url: `${protocol}://receiver.example:${port}/` });
  for (const address of PRIVATE) {
    names.addresses = () => [address];
    for (const protocol of ['http', 'https'])
      t.match(
        await postTo(protocol),
        { outcome: 'not_allowed', error: 'the address is not public' },
        address,
      );
  }
  names.addresses = () => ['93.184.215.14', '127.0.0.1'];
  t.match(await postTo('http'), { outcome: 'not_allowed' }, 'one private address of several');
  for (const host of [
    ...PRIVATE.map((each) => (each.includes(':') ? `[${each}]` : each)),
    ...SPELLINGS.slice(0, 4),
  ])
    t.match(await poster.post({ ...POST, url: `http://${host}:${port}/` }), { outcome: 'not_allowed' }, host);
  t.equal(receiver.asked.length, 0);
});

t.test('a name that is rebound between two posts is checked at the second, too', async (t) => {
  const names = await startNameServer(t);
  const receiver = await startEventReceiver(t);
  const { port } = new URL(receiver.url);
  const parts = { userAgent: 'test', timeoutMs: 1_000, nameServers: [names.address] };
  const poster = createPoster({ ...parts, clock: systemClock, allowsPrivate: false });
  t.teardown(() => poster.close());
  // A public address, where no one listens at this port: the attempt fails, but is allowed.
  names.addresses = () => ['93.184.215.14'];
  const url = `http://receiver.example:${port}/`;
  t.not((await poster.post({ ...POST, url })).outcome, 'not_allowed');
  names.addresses = () => ['127.0.0.1'];
  t.match(await poster.post({ ...POST, url }), { outcome: 'not_allowed' });
  t.equal(receiver.asked.length, 0);
  const open = createPoster({ ...parts, clock: systemClock, allowsPrivate: true });
  t.teardown(() => open.close());
  t.match(await open.post({ ...POST, url }), { outcome: 'delivered' }, 'the option of operators allows it');
  const unspecified = `http://0.0.0.0:${port}/`;
  t.match(await open.post({ ...POST, url: unspecified }), { outcome: 'delivered' }, 'and this host');
});

t.test('names whose server never answers do not hold the threads of the process', async (t) => {
  const names = await startNameServer(t);
  names.addresses = () => undefined;
  const poster = createPoster({
    userAgent: 'test',
    timeoutMs: 1_500,
    allowsPrivate: false,
    nameServers: [names.address],
    clock: systemClock,
  });
  t.teardown(() => poster.close());
  const posts = Array.from({ length: 20 }, (_, index) =>
    poster.post({ ...POST, url: `https://receiver-${index}.example/` }),
  );
  const { readFile } = await import('node:fs/promises');
  const startedAt = performance.now();
  await readFile(import.meta.filename);
  t.ok(performance.now() - startedAt < 1_000, 'a file can be read meanwhile');
  for (const result of await Promise.all(posts))
    t.match(result, { outcome: 'timeout', error: 'no answer in 1.5 s' });
});

t.test('the normal form of a URL', async (t) => {
  t.equal(checkWebhookUrl('HTTPS://Example.ORG:443/a b', { allowsHttp: false }), 'https://example.org/a%20b');
});
