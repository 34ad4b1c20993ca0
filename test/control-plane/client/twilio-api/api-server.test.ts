// The REST API refuses programs without the credentials, web pages in a browser, and bounds what clients send.
import { request as httpRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { Callbacks } from '#control-plane/client/twilio-api/callbacks.ts';
import { FAR_END } from '../../../fixtures/agents/telephone.ts';
import { twilioApp } from '../../../fixtures/agents/twilio-app.ts';
import { AUTH_TOKEN, twilioRest } from '../../../fixtures/agents/twilio-rest.ts';
import { twilioClient } from '../../../fixtures/agents/twilio-sdk.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { until } from '../../../fixtures/until.ts';

const rig = await createRig();

t.test('credentials, hosts, pages, bodies and paths', async (t) => {
  const { api, authorization, client, phone, request, root } = await twilioRest(t, rig);
  const text = { To: FAR_END, From: phone.number, Body: 'hello' };
  const stranger = twilioClient({ ...api, authToken: 'f'.repeat(32) });
  await t.rejects(stranger.messages.list(), { status: 401, code: 20_003, message: 'Authenticate' });
  for (const Authorization of [
    '',
    'Basic',
    'Basic =',
    'Bearer x',
    `Basic ${Buffer.from(`${api.accountSid}:`).toString('base64')}`,
  ]) {
    const answer = await request('/Messages.json', text, { Authorization });
    t.match(answer, { status: 401, body: { code: 20_003, status: 401, more_info: /20003$/ } }, Authorization);
    t.match(answer.headers['www-authenticate'], /^Basic /);
  }
  const other = twilioClient({ ...api, accountSid: `AC${'0'.repeat(32)}` });
  await t.rejects(other.messages.list(), { status: 401, code: 20_003 });

  // A browser that knows the password sends it with the forms of any page.
  const page = (headers: Record<string, string>) =>
    request('/Messages.json', text, { Authorization: authorization, ...headers });
  t.match(await page({ Origin: 'https://attacker.example' }), { status: 403, body: { code: 20_403 } });
  t.match(await page({ Origin: 'null' }), { status: 403 });
  t.match(await page({ 'Sec-Fetch-Site': 'cross-site' }), { status: 403 });
  // After DNS rebinding, it is the page's own host.
  for (const host of ['attacker.example', 'attacker.example:2010', '127.0.0.1.attacker.example'])
    t.equal(await statusWithHost(`${root}/Messages.json`, { host, authorization }), 403, host);
  for (const host of ['localhost:2010', '127.0.0.1', '[::1]:1'])
    t.equal(await statusWithHost(`${root}/Messages.json`, { host, authorization }), 200, host);

  const huge = await request('/Messages.json', { ...text, Body: 'x'.repeat(1_000_000) });
  t.match(huge, { status: 413, body: { code: 20_001 } });
  t.match(await request('/Messages.json', text, { Authorization: 'Basic x' }), { status: 401 });
  t.match(await request('/Messages.json', { ...text, Body: 'x'.repeat(1_000_000) }, {}), { status: 401 });

  const missing = [
    '/Recordings.json',
    '/Messages',
    '/Messages/SM1/Media.json',
    '/Messages/../Calls',
    '/.json',
    '/Messages/x.json',
  ];
  for (const path of missing) t.match(await request(path), { status: 404, body: { code: 20_404 } }, path);
  t.match(await request('/../AC0/Messages.json'), { status: 404, body: { code: 20_404 } });
  t.equal(phone.node.commands('send_sms').length, 0);
  t.match(await client.messages.create({ to: FAR_END, from: phone.number, body: 'mine' }), {
    status: 'sent',
  });
});

/** `fetch` sets the Host by itself. */
function statusWithHost(
  url: string,
  { host, authorization }: { host: string; authorization: string },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const asking = httpRequest(url, { headers: { Host: host, Authorization: authorization } }, (answer) => {
      answer.resume();
      resolve(Number(answer.statusCode));
    });
    asking.on('error', reject);
    asking.end();
  });
}

t.test(
  'a callback URL that hangs: the queue is bounded, others are served, and nothing waits at the end',
  async (t) => {
    const hanging = await twilioApp(t, AUTH_TOKEN, () => undefined);
    const good = await twilioApp(t, AUTH_TOKEN);
    const notes: string[] = [];
    const ending = new AbortController();
    const callbacks = new Callbacks(AUTH_TOKEN, {
      signal: ending.signal,
      onNote: (words) => notes.push(words),
    });
    for (let count = 0; count < 20; count += 1)
      callbacks.send(`call ${count}`, { url: hanging.url, fields: {} });
    await until('20 hang', () => hanging.requests.length === 20);
    callbacks.send('other', { url: `${good.url}/1`, fields: { A: 'b' } });
    callbacks.send('other', { url: `${good.url}/2?x=y`, method: 'GET', fields: { A: 'b' } });
    await until('the others are served, in order', () => good.requests.length === 2);
    t.match(good.requests, [
      { method: 'POST', path: '/1', fields: { A: 'b' }, isSigned: true },
      { method: 'GET', path: '/2?x=y&A=b', isSigned: true },
    ]);
    for (let count = 0; count < 1_100; count += 1)
      callbacks.send(`call ${count}`, { url: hanging.url, fields: {} });
    // The last of the others may still wait for the end of its answer.
    const dropped = notes.filter((words) => words.includes('1000 others wait')).length;
    t.ok(dropped === 120 || dropped === 121, String(dropped));
    await until('32 at once', () => hanging.requests.length === 32);
    ending.abort();
    t.equal(hanging.requests.length, 32);
  },
);

t.test('a callback that comes at the moment when another one ends waits for its turn', async (t) => {
  for (let ticks = 0; ticks < 6; ticks += 1) {
    const hanging = await twilioApp(t, AUTH_TOKEN, () => undefined);
    const hang = (key: string): void => callbacks.send(key, { url: hanging.url, fields: {} });
    const failing = await twilioApp(t, AUTH_TOKEN, async () => {
      await until('31 hang', () => hanging.requests.length === 31);
      return { status: 500, text: '' };
    });
    const onNote = async (): Promise<void> => {
      for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
      hang('late');
    };
    const ending = new AbortController();
    const callbacks = new Callbacks(AUTH_TOKEN, {
      signal: ending.signal,
      onNote: () => void onNote(),
    });
    callbacks.send('fails', { url: failing.url, fields: {} });
    for (let count = 0; count < 32; count += 1) hang(`call ${count}`);
    await until('the one that waited', () => hanging.requests.length >= 32);
    await pause(50);
    t.equal(hanging.requests.length, 32, `${ticks} ticks`);
    ending.abort();
  }
});
