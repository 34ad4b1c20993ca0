// Joining the waitlist and leaving it, through HTTP.
import t, { type Test } from 'tap';
import { waitlistedSchema } from '#shared/api/answers.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { openPool } from '../../fixtures/database/number-pool.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { ofOneInstance } from '../../fixtures/service/several-instances.ts';

const rig = await createRig({ hasInstances: true });
const JSON_HEADERS = { 'Content-Type': 'application/json' };

const post = (url: string, body: string, headers: Record<string, string> = JSON_HEADERS): Promise<Response> =>
  fetch(`${url}/waitlist`, { method: 'POST', headers, body });

const join = (url: string, email: unknown): Promise<Response> => post(url, JSON.stringify({ email }));

async function registeredAt(t: Test, response: Response): Promise<string> {
  t.equal(response.status, 200);
  return waitlistedSchema.strict().parse(await response.json()).registered_at;
}

t.test('the same address keeps the time of its first registration, however it is written', async (t) => {
  const clock = new ManualClock(Date.parse('2027-01-01T00:00:00Z'));
  const { url } = await rig.start(t, { clock });
  t.equal(await registeredAt(t, await join(url, 'Ann@Example.org')), '2027-01-01T00:00:00.000Z');
  clock.advance(5_000);
  for (const email of ['Ann@Example.org', 'Ann@eXAMPLE.ORG', 'ann@example.org'])
    t.equal(await registeredAt(t, await join(url, email)), '2027-01-01T00:00:00.000Z', email);
  t.equal(await registeredAt(t, await join(url, 'bob@example.org')), '2027-01-01T00:00:05.000Z');
});

t.test('spellings of one mailbox of Gmail are one address; elsewhere dots count', async (t) => {
  const clock = new ManualClock(Date.parse('2027-01-01T00:00:00Z'));
  const { url } = await rig.start(t, { clock });
  const joined = async (email: string) => registeredAt(t, await join(url, email));
  const first = await joined('a.n.n@gmail.com');
  const elsewhere = await joined('a.nn@example.org');
  clock.advance(5_000);
  for (const email of ['ANN@googlemail.com', 'an.n+shop@gmail.com'])
    t.equal(await joined(email), first, email);
  t.not(await joined('ann@example.org'), elsewhere);
});

t.test('requests that race get one time of registration, on two instances as well', async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  const other = await rig.start(t, { databaseUrl });
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      join([url, other.url][index % 2] as string, index % 3 === 0 ? 'RACE@example.org' : 'race@example.org'),
    ),
  );
  const times = new Set(await Promise.all(answers.map((answer) => registeredAt(t, answer))));
  t.equal(times.size, 1);
  const { db } = await openPool(t, databaseUrl);
  t.equal((await db.selectFrom('waitlist').select('email_key').execute()).length, 1);
});

t.test('an invalid address and an invalid request are different errors', async (t) => {
  const { url } = await rig.start(t);
  const bad = [
    undefined,
    null,
    7,
    true,
    ['a@example.org'],
    { a: 1 },
    '',
    ' ',
    'ann',
    '@',
    'ann@',
    '@example.org',
    'ann@localhost',
    'ann@example',
    'ann@example.org ',
    ' ann@example.org',
    'ann@@example.org',
    'a b@x.org',
    '.ann@example.org',
    'ann.@example.org',
    'a..n@example.org',
    'ann@-example.org',
    'ann@example-.org',
    'ann@example..org',
    'ann@example.org.',
    'ann@10.0.0.1',
    'ann@[10.0.0.1]',
    '"ann"@example.org',
    'Ann <ann@example.org>',
    'a@x.org,b@x.org',
    'a@x.org\r\nBcc: b@x.org',
    'a@x.org\n',
    'a\u0000@x.org',
    'änn@example.org',
    'ann@exämple.org',
    `${'a'.repeat(65)}@example.org`,
    `a@${'b'.repeat(64)}.org`,
    `a@${'b.'.repeat(125)}example.org`,
    `${'a.'.repeat(20_000)}@x`,
    `a@${'b-'.repeat(20_000)}`,
  ];
  for (const email of bad) {
    const response = await join(url, email);
    const about = String(JSON.stringify(email)).slice(0, 60);
    t.equal(response.status, 400, about);
    t.match(await response.json(), { error: 'invalid_email', message: String, field: 'email' }, about);
  }
  t.match(await (await fetch(`${url}/waitlist`, { method: 'POST' })).json(), { error: 'invalid_email' });
  for (const body of ['[]', '"ann@example.org"', 'null', '7'])
    t.match(await (await post(url, body)).json(), { error: 'invalid_request' }, body);
  t.match(await (await post(url, '{"email":')).json(), { error: 'invalid_json' });
  t.equal((await post(url, 'email=a@x.org', { 'Content-Type': 'text/plain' })).status, 415);
  t.equal((await fetch(`${url}/waitlist`)).status, 405);
  const good = [
    'o&o@example.org',
    "o'neil+tag@sub.example.co.uk",
    'a@xn--exmple-cua.org',
    'a@b.xn--p1ai',
    `${'a'.repeat(64)}@example.org`,
    '1_2-3@4.museum',
  ];
  for (const email of good) t.equal((await join(url, email)).status, 200, email);
});

t.test(
  'a form of a page is answered with a page',
  { skip: ofOneInstance('each instance counts by itself') },
  async (t) => {
    const { url } = await rig.start(t, { waitlistPerMinute: 4 });
    const submit = (fields: Record<string, string>): Promise<Response> =>
      fetch(`${url}/waitlist`, { method: 'POST', body: new URLSearchParams(fields) });
    const joined = await submit({ email: 'o&o+tag@example.org' });
    t.equal(joined.status, 200);
    t.match(joined.headers.get('content-type'), /^text\/html/);
    t.match(joined.headers.get('content-security-policy'), /^default-src 'none'/);
    t.match(await joined.text(), /<h1>You are on the list<\/h1>/);
    const at = await registeredAt(t, await join(url, 'o&o+tag@example.org'));
    t.match(at, /^\d{4}-/, 'the same list');
    for (const fields of [{ email: '<script>alert(1)</script>' }, { mail: 'ann@example.org' }]) {
      const refused = await submit(fields);
      t.equal(refused.status, 400);
      const html = await refused.text();
      t.match(html, /<h1>Not on the list<\/h1>/);
      t.notMatch(html, /<script/);
    }
    t.equal((await submit({ email: 'bob@example.org' })).status, 429, 'all of them count');
  },
);

t.test(
  'a network address may register only so often',
  { skip: ofOneInstance('each instance counts by itself') },
  async (t) => {
    const { url } = await rig.start(t, { clock: new ManualClock(), waitlistPerMinute: 3 });
    const statuses: number[] = [];
    for (const name of ['a', 'b', 'c', 'd']) statuses.push((await join(url, `${name}@example.org`)).status);
    t.same(statuses, [200, 200, 200, 429]);
    t.match((await join(url, 'd@example.org')).headers.get('ratelimit-policy'), /^"waitlist";q=3;w=60$/);
  },
);

t.test(
  'opening the link changes nothing; the button and one-click unsubscribe delete the address',
  async (t) => {
    const clock = new ManualClock();
    const { url, databaseUrl } = await rig.start(t, { clock, serviceName: 'Q&A <b>' });
    const first = await registeredAt(t, await join(url, 'ann@example.org'));
    await join(url, 'bob@example.org');
    const { db } = await openPool(t, databaseUrl);
    const { unsubscribe_token: token } = await db
      .selectFrom('waitlist')
      .select('unsubscribe_token')
      .where('email', '=', 'ann@example.org')
      .executeTakeFirstOrThrow();
    const link = `${url}/waitlist/unsubscribe?token=${token}`;
    const listed = async (): Promise<string[]> =>
      (await db.selectFrom('waitlist').select('email').orderBy('email').execute()).map(({ email }) => email);

    for (const method of ['GET', 'HEAD', 'GET']) {
      const response = await fetch(link, { method });
      t.equal(response.status, 200);
      t.match(response.headers.get('content-type'), /^text\/html/);
      t.match(response.headers.get('content-security-policy'), /^default-src 'none'; .*form-action 'self'/);
      t.equal(response.headers.get('referrer-policy'), 'no-referrer');
      t.equal(response.headers.get('cache-control'), 'no-store');
      const html = await response.text();
      if (method === 'GET') t.match(html, /<form method="post"><button [^>]*>Unsubscribe<\/button>/);
      t.notMatch(html, /<b>|ann@/);
    }
    t.same(await listed(), ['ann@example.org', 'bob@example.org']);

    for (const about of ['one click', 'again']) {
      const response = await fetch(link, {
        method: 'POST',
        body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
        redirect: 'error',
      });
      t.equal(response.status, 200, about);
      t.equal(response.headers.get('set-cookie'), null);
      t.same(await listed(), ['bob@example.org'], about);
    }
    const form = new FormData();
    form.set('List-Unsubscribe', 'One-Click');
    t.equal((await fetch(link, { method: 'POST', body: form })).status, 200, 'multipart/form-data');
    for (const query of ['', '?token=', '?token=a%20b', `?token=${token}&token=${token}`]) {
      for (const method of ['GET', 'POST']) {
        const response = await fetch(`${url}/waitlist/unsubscribe${query}`, { method });
        t.equal(response.status, 400, `${method} ${query}`);
        t.match(await response.json(), { error: 'invalid_request', field: 'token' });
      }
    }
    t.same(await listed(), ['bob@example.org']);
    clock.advance(60_000);
    t.not(await registeredAt(t, await join(url, 'ann@example.org')), first, 'nothing of it was kept');
  },
);
