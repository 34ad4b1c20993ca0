// The limits of a connection: time, octets, answers that it does not read, and sockets of one token.
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { telephone } from '../../fixtures/agents/telephone.ts';
import { countObserved } from '../../fixtures/database/statements.ts';
import { RawConnection, rawAnswers } from '../../fixtures/network/raw-connection.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

/** Whether a connection is closed without an answer. */
async function isReset(url: string): Promise<boolean> {
  const request = 'GET /availability HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  return (await new RawConnection(url).write(request).closed()).text === '';
}

async function statusFrom(localAddress: string, url: string): Promise<number | undefined> {
  const [response] = (await once(get(`${url}/availability`, { localAddress, agent: false }), 'response')) as [
    IncomingMessage,
  ];
  response.resume();
  return response.statusCode;
}

/** Less than every time-out of these tests. */
const TRICKLE_MS = 30;
const MEGABYTE = 1024 * 1024;

/** Writes an octet now and then, for as long as the service takes it. */
async function trickle(connection: RawConnection): Promise<void> {
  while (!connection.isClosed) {
    connection.write('x');
    await pause(TRICKLE_MS);
  }
}

function checkRefused(t: Test, { answers }: RawConnection, status: number, error: string): void {
  t.equal(answers.length, 1);
  const [answer] = answers;
  t.equal(answer?.status, status);
  const body = JSON.parse(String(answer?.body)) as Record<string, unknown>;
  t.match(body, { error, message: String, request_id: /^[0-9a-f-]{36}$/ });
  t.equal(answer?.headers.get('x-request-id'), body['request_id']);
  t.equal(answer?.headers.get('connection'), 'close');
}

t.test('headers without an end are not waited for, nor is a silent connection', async (t) => {
  const { url } = await rig.start(t, { headersTimeoutMs: 300 });
  const slow = new RawConnection(url).write('GET /availability HTTP/1.1\r\nHost: x\r\nX-Slow: ');
  const silent = new RawConnection(url);
  await trickle(slow);
  checkRefused(t, slow, 408, 'request_timeout');
  checkRefused(t, await silent.closed(), 408, 'request_timeout');
});

t.test('an unfinished body is not waited for, whether the request needs one or not', async (t) => {
  const { url } = await rig.start(t, { requestTimeoutMs: 400 });
  const json = 'Content-Type: application/json\r\n';
  const start = (path: string, length: string): string =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\n${json}${length}\r\n\r\n`;
  const counted = new RawConnection(url).write(start('/auth', 'Content-Length: 60000'));
  await trickle(counted);
  checkRefused(t, counted, 408, 'request_timeout');
  const chunked = new RawConnection(url).write(`${start('/auth', 'Transfer-Encoding: chunked')}5\r\nabc`);
  checkRefused(t, await chunked.closed(), 408, 'request_timeout');
  const unneeded = new RawConnection(url).write(start('/demo', 'Content-Length: 60000'));
  await trickle(unneeded);
  checkRefused(t, unneeded, 408, 'request_timeout');
});

t.test('a client that waits for an answer is not slow', async (t) => {
  const impatient = {
    requestTimeoutMs: 200,
    headersTimeoutMs: 200,
    unreadTimeoutMs: 200,
    keepAliveTimeoutMs: 200,
  };
  const { dial, line } = await telephone(t, rig, { service: { ...impatient, dialTimeoutMs: 1_000 } });
  line.dialled = () => undefined;
  t.match(await dial(), { status: 502, body: { reason: 'no_answer_from_node' } });
});

t.test('request line and headers are bounded, whatever they are made of', async (t) => {
  const { url } = await rig.start(t);
  const request = (path: string, headers: string): string =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
  for (const octets of [
    request('/availability', `X: ${'a'.repeat(17_000)}\r\n`),
    request(`/availability?${'a'.repeat(17_000)}`, ''),
    request('/availability', 'a: b\r\n'.repeat(300)),
  ])
    checkRefused(t, await new RawConnection(url).write(octets).closed(), 431, 'headers_too_large');
  const [most] = await rawAnswers(
    url,
    request('/availability', `X: ${'a'.repeat(16_000)}\r\nConnection: close\r\n`),
  );
  t.equal(most?.status, 200);
});

t.test('a body has 64 KiB; a client that sends more reads the refusal while it still sends', async (t) => {
  const { url } = await rig.start(t);
  const post = (body: Uint8Array | ReadableStream): Promise<Response> =>
    fetch(`${url}/auth`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      duplex: 'half',
      body,
    } as RequestInit);
  const octets = new Uint8Array(8 * MEGABYTE);
  const stream = new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(MEGABYTE));
    },
  });
  for (const body of [octets, stream]) {
    const answer = await post(body);
    t.equal(answer.status, 413);
    t.match(await answer.json(), { error: 'payload_too_large', message: String, request_id: String });
  }
  t.equal((await post(new Uint8Array(64 * 1024).fill(0x20))).status, 400, 'the most that is read');
});

t.test('a client that sends a larger body first and reads later gets the refusal, too', async (t) => {
  const { url } = await rig.start(t);
  const chunk = `100000\r\n${' '.repeat(MEGABYTE)}\r\n`;
  const start = 'POST /auth HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
  for (const [octets, status] of [
    [`${start}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(8)}0\r\n\r\n`, 413],
    [`${start}X: ${'x'.repeat(3 * MEGABYTE)}`, 431],
  ] as const) {
    const connection = new RawConnection(url).write(octets);
    connection.socket.pause();
    await until('sent', () => connection.socket.writableLength === 0);
    // As long as a slow client takes to turn to the answer.
    await pause(100);
    connection.socket.resume();
    t.equal((await connection.closed()).answers[0]?.status, status);
  }
  const endless = new RawConnection(url).write(`${start}Transfer-Encoding: chunked\r\n\r\n`);
  await until('cut off', () => endless.write(chunk).isClosed);
});

t.test('a connection is kept for the next request for some time, and not longer', async (t) => {
  const { url } = await rig.start(t, { keepAliveTimeoutMs: 1_500 });
  const connection = new RawConnection(url);
  const ask = async (count: number): Promise<void> => {
    connection.write('GET /availability HTTP/1.1\r\nHost: x\r\n\r\n');
    await until('an answer', () => connection.text.split('HTTP/1.1 200').length > count);
  };
  await ask(1);
  // Before the request: when a poll sees the answer, some of the time is over.
  const askedAt = performance.now();
  await ask(2);
  await connection.closed();
  t.ok(performance.now() - askedAt >= 1_450, 'not before');
});

t.test(
  'requests that follow each other at once are answered in order; too many end the connection',
  async (t) => {
    const { url } = await rig.start(t);
    const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const last = 'GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const some = await new RawConnection(url).write(request('/availability') + last).closed();
    t.same(
      some.answers.map(({ status }) => status),
      [200, 404],
    );
    const refused = countObserved(t, ({ kind, limit }) => kind === 'rate_limited' && limit === 'pipelined');
    const many = new RawConnection(url).write(request('/availability').repeat(1_000));
    t.same((await many.closed()).answers, []);
    t.equal(refused(), 1);
    t.equal(await statusFrom('127.0.0.1', url), 200);
    const { url: flooded } = await rig.start(t);
    const quiet = new RawConnection(flooded);
    const flood = Array.from({ length: 40 }, () =>
      new RawConnection(flooded).write(request('/').repeat(1_000)),
    );
    for (const connection of [...flood, quiet]) await connection.closed();
    t.ok(await isReset(flooded), 'the network waits');
    t.equal(await statusFrom('127.0.0.2', flooded), 200, 'another one does not');
    await until('it may come back', () =>
      statusFrom('127.0.0.1', flooded).then(
        (status) => status === 200,
        () => false,
      ),
    );
  },
);

t.test('sockets of a token are bounded over all kinds, also when they all come at once', async (t) => {
  const { presence, stream, url, headers } = await telephone(t, rig, { service: { socketsPerToken: 5 } });
  const opened = async (...asked: Promise<{ drop(): void }>[]) =>
    (await Promise.allSettled(asked)).flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const [first, ...others] = await opened(...Array.from({ length: 20 }, () => presence()));
  t.equal(others.length, 4);
  t.same(await opened(stream('call_of_nobody'), presence()), [], 'of any kind');
  first?.drop();
  await until('room for one', async () => (await opened(stream('call_of_nobody'))).length === 1);
  t.equal((await fetch(`${url}/number`, { headers })).status, 200, 'requests are another matter');
});

t.test(
  'connections of an address are bounded: more are closed unread, and no other address notices',
  async (t) => {
    const refused = countObserved(t, ({ kind, limit }) => kind === 'rate_limited' && limit === 'connections');
    const { url } = await rig.start(t, { connectionsPerAddress: 5 });
    const idle = Array.from({ length: 5 }, () => new RawConnection(url).write('GET'));
    const flood = Array.from({ length: 50 }, () => isReset(url));
    t.same([...new Set(await Promise.all(flood))], [true]);
    t.equal(refused(), 50);
    t.equal(await statusFrom('127.0.0.2', url), 200, 'another address');
    for (const connection of idle) t.equal(connection.isClosed, false, 'those that were first');
    idle[0]?.socket.destroy();
    await until('room for one', async () => !(await isReset(url)));
  },
);

t.test(
  'sockets of WebSockets count as well; an offer of another protocol counts its connection once',
  async (t) => {
    const { presence, url } = await telephone(t, rig, { service: { connectionsPerAddress: 6 } });
    const offer = new RawConnection(url);
    for (let count = 0; count < 10; count += 1) {
      const answers = offer.text.split('HTTP/1.1 200').length;
      offer.write('GET /availability HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
      await until('an answer', () => offer.text.split('HTTP/1.1 200').length > answers);
    }
    const opened = await Promise.allSettled(Array.from({ length: 10 }, () => presence()));
    const open = opened.filter(({ status }) => status === 'fulfilled').length;
    t.ok(open > 0 && open < 6, `${open} of 10`);
    t.equal(await isReset(url), true);
  },
);

t.test('behind a proxy its connections are not counted', async (t) => {
  const { url } = await rig.start(t, { connectionsPerAddress: 1, proxyHops: 1 });
  const idle = Array.from({ length: 5 }, () => new RawConnection(url).write('GET'));
  t.equal((await fetch(`${url}/availability`)).status, 200);
  for (const connection of idle) t.equal(connection.isClosed, false);
});

t.test('the last entries of X-Forwarded-For count, as many as there are proxies', async (t) => {
  const { url } = await rig.start(t, { proxyHops: 2, requestsPerMinute: 1 });
  const ask = async (forwarded: string): Promise<number> =>
    (await fetch(`${url}/availability`, { headers: { 'X-Forwarded-For': forwarded } })).status;
  t.equal(await ask('192.0.2.1, 10.0.0.1'), 200);
  t.equal(await ask('forged, 192.0.2.1, 10.0.0.2'), 429, 'the entry of the outer proxy');
  t.equal(await ask('192.0.2.1, 192.0.2.2, 10.0.0.1'), 200, 'another one');
  t.equal(await ask('192.0.2.3, 192.0.2.2, 10.0.0.1'), 429, 'the address that the client wrote is ignored');
  t.equal(await ask('192.0.2.9'), 200, 'past the outer proxy');
});
