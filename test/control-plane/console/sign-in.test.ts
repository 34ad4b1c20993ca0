// The access to the console: keys, sessions, names, forms of other pages, and the public port.
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { openOperator } from '#control-plane/operator/open-operator.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { freePort } from '../../fixtures/network/free-port.ts';
import { DATA_DIR } from '../../fixtures/service/data-dir.ts';
import {
  addOperator,
  clientOf,
  cookieOf,
  type FleetConsole,
  signedIn,
  signIn,
  startFleetConsole,
} from '../../fixtures/service/fleet-console.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { ofOneInstance } from '../../fixtures/service/several-instances.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const HOUR_MS = 60 * 60 * 1000;
/** For all tests that sign in with right keys only, on the clock of the machine. */
const common = await startFleetConsole(t, rig);
const WRONG_KEY = `simrack_operator_${'A'.repeat(43)}`;

const statusOf = async (client: ReturnType<typeof clientOf>, path = '/'): Promise<number> =>
  (await client.get(path, { Accept: 'text/html' })).status;

async function removeOperator({ databaseUrl }: FleetConsole, name: string): Promise<void> {
  const { close, ...operator } = await openOperator({ databaseUrl, dataDir: DATA_DIR, url: '' });
  try {
    await operator.call('removeOperator', { name });
  } finally {
    await close();
  }
}

/** With a `Host` that fetch would not write; a form where there are fields. */
function asProxy(
  url: string,
  headers: Record<string, string>,
  fields?: Record<string, string>,
): Promise<{ status: number; cookie: string }> {
  const body = fields && new URLSearchParams(fields).toString();
  const type = body === undefined ? {} : { 'Content-Type': 'application/x-www-form-urlencoded' };
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const asked = request(`${url}/sign-in`, { method, headers: { ...headers, ...type } }, (response) => {
      response.resume();
      resolve({
        status: Number(response.statusCode),
        cookie: String(response.headers['set-cookie']?.[0] ?? ''),
      });
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

/** With a path that fetch would not write. */
function askRaw(
  url: string,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<{ status: number; location: string | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, path, headers: { Accept: 'text/html', ...headers } });
    asked.on('error', reject);
    asked.on('response', (response) => {
      const { statusCode, headers } = response;
      text(response).then(
        (body) => resolve({ status: Number(statusCode), location: headers.location, text: body }),
        reject,
      );
    });
    asked.end();
  });
}

t.test('a key opens a session, in a cookie that no script reads and no other site sends', async (t) => {
  const answer = await signIn(common.consoleUrl, common.key);
  t.equal(answer.status, 303);
  t.equal(answer.headers.get('location'), '/');
  const cookie = String(answer.headers.get('set-cookie'));
  for (const attribute of ['HttpOnly', 'SameSite=Strict', 'Path=/', 'Max-Age=604800'])
    t.match(cookie, attribute);
  t.notMatch(cookie, 'Secure', 'http');
  t.notMatch(cookie, common.key);
  const page = await clientOf(common.consoleUrl, cookieOf(answer)).get('/');
  t.equal(page.status, 200);
  t.match(page.headers.get('content-security-policy'), "default-src 'none'");
  t.notMatch(page.headers.get('content-security-policy'), /unsafe|https?:|\*/);
  t.match(
    [...page.headers].map(([name, value]) => `${name}: ${value}`),
    /x-frame-options: DENY.*/,
  );
  t.equal(page.headers.get('cache-control'), 'no-store');
  t.equal(page.headers.get('referrer-policy'), 'same-origin');
  t.equal(page.headers.get('access-control-allow-origin'), null);
});

t.test('behind a proxy with TLS the cookie is Secure, and bound to the host', async (t) => {
  const consoleUrl = 'https://console.example';
  const port = await freePort();
  const { service, databaseUrl } = await rig.start(t, { consolePort: port, consoleUrl });
  t.equal(service.consoleUrl, consoleUrl);
  const key = await addOperator(databaseUrl, 'ann');
  const url = `http://127.0.0.1:${port}`;
  const proxied = { Host: 'console.example', Origin: consoleUrl };
  const { status, cookie } = await asProxy(url, proxied, { key });
  t.equal(status, 303);
  t.match(cookie, /^__Host-simrack_console=[\w-]{43}; Path=\/;.*; HttpOnly; SameSite=Strict; Secure$/);
  for (const headers of [
    { Host: 'console.example', Origin: 'http://console.example' },
    { Host: `127.0.0.1:${port}`, Origin: consoleUrl },
    { Host: 'console.example:81', Origin: consoleUrl },
  ])
    t.equal((await asProxy(url, headers, { key })).status, 403, JSON.stringify(headers));
});

t.test('a visitor who is not signed in sees nothing', async (t) => {
  const { consoleUrl } = common;
  const stranger = clientOf(consoleUrl, '');
  for (const path of [
    '/',
    '/numbers',
    '/payments',
    '/audit',
    '/nodes/rack-1',
    '/actions/revoke-node?node=a',
  ]) {
    const answer = await stranger.get(path, { Accept: 'text/html' });
    t.equal(answer.status, 302, path);
    t.match(answer.headers.get('location'), /^\/sign-in/);
  }
  t.equal((await stranger.get('/live?topic=of%3Dfleet', { Accept: 'text/event-stream' })).status, 401);
  for (const cookie of ['simrack_console=', 'simrack_console=../../x', `simrack_console=${'A'.repeat(43)}`])
    t.equal(await statusOf(clientOf(consoleUrl, cookie)), 302, cookie);
});

t.test(
  'a link from another site is followed by a refresh from this one, so that the cookie is sent',
  async (t) => {
    const { consoleUrl } = common;
    const from = { Accept: 'text/html', 'Sec-Fetch-Site': 'cross-site' };
    const answer = await clientOf(consoleUrl, '').get('/numbers?state="><script>', from);
    t.equal(answer.status, 200);
    const text = await answer.text();
    t.match(text, 'http-equiv="refresh"');
    t.notMatch(text, '<script>');
  },
);

t.test('a path that browsers read as another site leads to the first page', async (t) => {
  const { consoleUrl } = common;
  for (const path of ['//evil.example/x', '/\\evil.example/x', '//evil.example', 'http://evil.example/']) {
    const again = await askRaw(consoleUrl, path, { 'Sec-Fetch-Site': 'cross-site' });
    t.match(again.text, 'content="0; url=/"', path);
    t.notMatch(again.text, 'evil');
    t.match(await askRaw(consoleUrl, path), { status: 302, location: '/sign-in' }, path);
  }
});

t.test('a HEAD request is redirected to the sign-in, too', async (t) => {
  const { consoleUrl } = common;
  t.match(await askRaw(consoleUrl, '/numbers', {}, 'HEAD'), {
    status: 302,
    location: '/sign-in?to=%2Fnumbers',
  });
});

t.test('the sign-in returns to the requested page, and never to another site', async (t) => {
  const { consoleUrl, key } = common;
  for (const [to, location] of [
    ['/numbers?state=held', '/numbers?state=held'],
    ['//evil.example/', '/'],
    ['/\\evil.example', '/'],
    ['https://evil.example/', '/'],
    ['/\r\nSet-Cookie: a=b', '/'],
  ] as const) {
    const answer = await fetch(`${consoleUrl}/sign-in`, {
      method: 'POST',
      redirect: 'manual',
      headers: { Origin: consoleUrl },
      body: new URLSearchParams({ key, to }),
    });
    t.equal(answer.headers.get('location'), location, to);
  }
});

t.test(
  'a client that guesses is stopped before the database is asked; right keys are not counted',
  { skip: ofOneInstance('each instance counts by itself') },
  async (t) => {
    const clock = new ManualClock();
    const { consoleUrl, key } = await startFleetConsole(t, rig, { clock });
    for (let attempt = 0; attempt < 5; attempt += 1) t.equal((await signIn(consoleUrl, key)).status, 303);
    for (let attempt = 0; attempt < 10; attempt += 1)
      t.equal((await signIn(consoleUrl, attempt % 2 === 0 ? WRONG_KEY : 'hello')).status, 403);
    const limited = await signIn(consoleUrl, key);
    t.equal(limited.status, 429, 'also with the right key');
    t.match(limited.headers.get('retry-after'), /^\d+$/);
    const elsewhere = { 'X-Forwarded-For': '203.0.113.9', Forwarded: 'for=203.0.113.9' };
    t.equal(
      (await signIn(consoleUrl, key, elsewhere)).status,
      429,
      'a header does not change who is signed in',
    );
    clock.advance(Number(limited.headers.get('retry-after')) * 1000);
    t.equal((await signIn(consoleUrl, key)).status, 303);
  },
);

t.test(
  'refused keys from thousands of addresses keep no operator out',
  { skip: ofOneInstance('each instance counts by itself') },
  async (t) => {
    const consoleUrl = 'https://console.example';
    const port = await freePort();
    const clock = new ManualClock();
    const { databaseUrl } = await rig.start(t, { consolePort: port, consoleUrl, proxyHops: 1, clock });
    const key = await addOperator(databaseUrl, 'ann');
    const from = async (address: string, shown: string): Promise<number> => {
      const headers = { Host: 'console.example', Origin: consoleUrl, 'X-Forwarded-For': address };
      return (await asProxy(`http://127.0.0.1:${port}`, headers, { key: shown })).status;
    };
    const flood = Array.from({ length: 500 }, (_, index) =>
      from(`10.1.${index >> 8}.${index & 255}`, WRONG_KEY),
    );
    t.equal(await from('203.0.113.1', key), 303, 'beside the flood');
    t.same([...new Set(await Promise.all(flood))], [403]);
    t.equal(await from('203.0.113.2', key), 303, 'after it');
    const added = await addOperator(databaseUrl, 'bob');
    t.equal(await from('203.0.113.3', added), 303, 'an operator that was just added');

    const site: number[] = [];
    for (let network = 0; network < 90; network += 1)
      site.push(await from(`2001:db8:0:${network.toString(16)}::1`, WRONG_KEY));
    t.equal(site.filter((status) => status === 403).length, 80, 'a /48 has eight times what an address has');
  },
);

t.test('while the database is away no sign-in succeeds, and none counts as a guess', async (t) => {
  const { consoleUrl, databaseUrl, key } = await startFleetConsole(t, rig);
  const ann = await signedIn(consoleUrl, key);
  await rig.postgres.setAway(databaseUrl, true);
  for (let attempt = 0; attempt < 12; attempt += 1) {
    const answer = await signIn(consoleUrl, key);
    t.equal(answer.status, 503);
    t.match(await answer.text(), 'The database does not respond');
  }
  const page = await ann.get('/numbers', { Accept: 'text/html' });
  t.equal(page.status, 503, 'an operator that is signed in is not signed out');
  t.match(page.headers.get('retry-after'), /^\d+$/);
  await rig.postgres.setAway(databaseUrl, false);
  await until('it is back', async () => (await statusOf(ann)) === 200);
  t.equal((await signIn(consoleUrl, key)).status, 303, 'not locked out');
});

t.test(
  'behind a proxy guesses count for the address that it names, and for no other',
  { skip: ofOneInstance('each instance counts by itself') },
  async (t) => {
    const consoleUrl = 'https://console.example';
    const port = await freePort();
    const options = { consolePort: port, consoleUrl, proxyHops: 1, clock: new ManualClock() };
    const { databaseUrl } = await rig.start(t, options);
    const key = await addOperator(databaseUrl, 'ann');
    const from = async (forwarded: string, shown: string): Promise<number> => {
      const headers = { Host: 'console.example', Origin: consoleUrl, 'X-Forwarded-For': forwarded };
      return (await asProxy(`http://127.0.0.1:${port}`, headers, { key: shown })).status;
    };
    for (let attempt = 0; attempt < 10; attempt += 1)
      t.equal(await from(`198.51.100.${attempt}, 203.0.113.9`, WRONG_KEY), 403);
    t.equal(
      await from('198.51.100.99, 203.0.113.9', key),
      429,
      'the address that the client wrote is ignored',
    );
    t.equal(await from('203.0.113.10', key), 303, 'another operator is not held up');
  },
);

t.test(
  'without a configured proxy no header names the client',
  { skip: ofOneInstance('each instance counts by itself') },
  async (t) => {
    const options = { proxyHops: 1, clock: new ManualClock() };
    const { consoleUrl, key } = await startFleetConsole(t, rig, options);
    for (let attempt = 0; attempt < 10; attempt += 1)
      await signIn(consoleUrl, WRONG_KEY, { 'X-Forwarded-For': `203.0.113.${attempt}` });
    t.equal((await signIn(consoleUrl, key, { 'X-Forwarded-For': '203.0.113.99' })).status, 429);
  },
);

t.test('a session ends by sign-out, idleness or age, or with its operator', async (t) => {
  const clock = new ManualClock();
  const fleet = await startFleetConsole(t, rig, { clock });
  const out = await signedIn(fleet.consoleUrl, fleet.key);
  t.equal((await out.post('/sign-out', {})).status, 303);
  t.equal(await statusOf(out), 302, 'signed out; the cookie is worth nothing');

  const idle = await signedIn(fleet.consoleUrl, fleet.key);
  const used = await signedIn(fleet.consoleUrl, fleet.key);
  for (let half = 0; half < 2; half += 1) {
    clock.advance(6.5 * HOUR_MS);
    t.equal(await statusOf(used), 200);
  }
  t.equal(await statusOf(idle), 302, 'idle for 13 hours');
  for (let day = 0; day < 15; day += 1) {
    clock.advance(11 * HOUR_MS);
    await statusOf(used);
  }
  t.equal(await statusOf(used), 302, 'used all the time, and too old');

  const bob = await signedIn(fleet.consoleUrl, await addOperator(fleet.databaseUrl, 'bob'));
  const ann = await signedIn(fleet.consoleUrl, fleet.key);
  await removeOperator(fleet, 'bob');
  t.equal(await statusOf(bob), 302, 'removed by another process');
  t.equal(await statusOf(ann), 200);
});

t.test('a change is accepted only from a page of the session', async (t) => {
  const { consoleUrl, databaseUrl, key } = common;
  const ann = await signedIn(consoleUrl, key);
  const bob = await signedIn(consoleUrl, await addOperator(databaseUrl, 'bob'));
  const fields = { node: 'rack-1' };
  const forged = (headers: Record<string, string>): Promise<Response> =>
    ann.post('/actions/revoke-node', fields, headers);
  t.equal((await forged({ Origin: 'https://evil.example' })).status, 403);
  t.equal((await forged({ Origin: 'null' })).status, 403);
  t.equal((await forged({ 'Sec-Fetch-Site': 'cross-site' })).status, 403);
  t.equal((await forged({ 'Sec-Fetch-Site': 'same-site' })).status, 403, 'another port of this host');
  t.equal((await ann.post('/actions/revoke-node', { ...fields, form_token: '' })).status, 403);
  const token = /name="form_token" value="([^"]+)"/.exec(await bob.page('/audit'))?.[1] ?? '';
  t.equal((await ann.post('/actions/revoke-node', { ...fields, form_token: token })).status, 403, 'of bob');
  const without = await fetch(`${consoleUrl}/actions/revoke-node`, {
    method: 'POST',
    redirect: 'manual',
    headers: { Cookie: ann.cookie },
    body: new URLSearchParams(fields),
  });
  t.equal(without.status, 403, 'no Origin');
  const text = await fetch(`${consoleUrl}/actions/revoke-node`, {
    method: 'POST',
    redirect: 'manual',
    headers: { Cookie: ann.cookie, Origin: consoleUrl, 'Content-Type': 'text/plain' },
    body: 'node=rack-1',
  });
  t.equal(text.status, 415);
  t.equal((await ann.get('/actions/revoke-node?node=rack-1')).status, 200, 'looking asks, and does nothing');
  t.match(await ann.page('/audit'), 'add operator', 'the action is in the audit log');
  t.notMatch(await ann.page('/audit'), 'revoke');
});

t.test('requests under another host name are refused', async (t) => {
  const { consoleUrl } = common;
  const { port } = new URL(consoleUrl);
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`])
    t.equal((await asProxy(consoleUrl, { Host: host })).status, 200, host);
  for (const host of [`evil.example:${port}`, 'console.example', `127.0.0.1.evil.example:${port}`, '[::2]'])
    t.equal((await asProxy(consoleUrl, { Host: host })).status, 403, host);
});

t.test("the console is not on the public port, and the API is not on the console's", async (t) => {
  const ann = await signedIn(common.consoleUrl, common.key);
  const assets = [...(await ann.page('/')).matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => String(path));
  t.ok(assets.length >= 4);
  for (const path of [
    '/sign-in',
    '/numbers',
    '/payments',
    '/live',
    '/audit',
    '/actions/revoke-node',
    ...assets,
  ]) {
    for (const method of ['GET', 'POST']) {
      const headers = { Cookie: ann.cookie, Origin: common.consoleUrl };
      const answer = await fetch(common.url + path, { method, headers, redirect: 'manual' });
      t.equal(answer.status, 404, `${method} ${path}`);
    }
  }
  t.equal((await ann.get('/availability', { Accept: 'text/html' })).status, 404);
  t.equal((await ann.get('/health/live', { Accept: 'text/html' })).status, 404);
});

t.test('without CONSOLE_PORT there is no console', async (t) => {
  const { service } = await rig.start(t);
  t.equal(service.consoleUrl, undefined);
});
