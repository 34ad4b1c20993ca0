// HTTP/1.1 on the wire: where a request ends is never in doubt, and each answer belongs to its request.
import t from 'tap';
import { RawConnection, rawAnswers } from '../../fixtures/network/raw-connection.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const rig = await createRig();
const { url, service } = await rig.start(t);
const { port } = service;

const JSON_POST = 'POST /auth/nonce HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
const NEXT = 'GET /availability HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
const get = (lines: string, target = '/availability'): string =>
  `GET ${target} HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`;

const refused = (status: number, error: string) => ({ status, error });

async function ask(octets: string) {
  const answers = await rawAnswers(url, octets);
  return answers.map(({ body, headers, status }) => {
    if (status < 400) return { status };
    const { error, field, message, request_id: requestId } = JSON.parse(body) as Record<string, unknown>;
    const isNamed = error !== 'invalid_request' || typeof field === 'string';
    const isWhole = isNamed && typeof message === 'string' && headers.get('x-request-id') === requestId;
    return isWhole ? { status, error } : { status, error, requestId };
  });
}

t.test('a body whose end is in doubt ends the connection: what follows is no request', async (t) => {
  const smuggled = `0\r\n\r\n${NEXT}`;
  for (const lines of [
    'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n',
    'Transfer-Encoding: chunked\r\nContent-Length: 2\r\n',
    'Content-Length: 2\r\nContent-Length: 5\r\n',
    'Content-Length: 2, 2\r\n',
    'Content-Length: +2\r\n',
    'Content-Length: -1\r\n',
    'Content-Length: 0x2\r\n',
    'Content-Length: 99999999999999999999999\r\n',
    'Transfer-Encoding: xchunked\r\n',
    'Transfer-Encoding: chunked, identity\r\n',
    'Transfer-Encoding : chunked\r\n',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n',
    'X: a\r\n\tb: c\r\nContent-Length: 2\r\nTransfer-Encoding:\r\n chunked\r\n',
  ])
    t.same(await ask(`${JSON_POST}${lines}\r\n${smuggled}`), [refused(400, 'invalid_request')], lines);
  for (const chunks of [
    'g\r\n{}\r\n0\r\n\r\n',
    '-2\r\n{}',
    '2\r\n{}x\r\n0\r\n\r\n',
    '2\n{}\n0\n\n',
    'ffffffffffffffffff\r\n',
  ])
    t.same(
      await ask(`${JSON_POST}Transfer-Encoding: chunked\r\n\r\n${chunks}${NEXT}`),
      [refused(400, 'invalid_request')],
      chunks,
    );
  const whole = `${JSON_POST}Transfer-Encoding: chunked\r\n\r\n1;name=x\r\n{\r\n1\r\n}\r\n0\r\nTrailer: x\r\n\r\n`;
  t.same(await ask(whole + NEXT), [{ status: 200 }, { status: 200 }], 'valid requests are read');
});

t.test('headers with controls, spaces or folded lines are refused', async (t) => {
  for (const octets of [
    get('Host: x\r\nX: a\0b\r\n'),
    get('Host: x\r\nX\0: a\r\n'),
    get('Host: x\r\nX: a\rb: c\r\n'),
    get('Host: x\r\nX Y: a\r\n'),
    get('Host: x\r\n: a\r\n'),
    get('Host: x\r\n', '/avail\0ability'),
    get('Host: x\r\n', '/avail ability'),
    'GET /availability HTTP/9.9\r\nHost: x\r\n\r\n',
    'GET /availability\r\n\r\n',
    'NONSENSE /availability HTTP/1.1\r\nHost: x\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  ])
    t.same(await ask(octets), [refused(400, 'invalid_request')], JSON.stringify(octets.slice(0, 60)));
});

t.test('a request of HTTP/1.1 needs one valid Host', async (t) => {
  for (const lines of [
    '',
    'Host: a\r\nHost: a\r\n',
    'Host: a b\r\n',
    'Host: a/b\r\n',
    'Host: user@a\r\n',
    'Host: a:x\r\n',
  ])
    t.same(await ask(get(lines)), [refused(400, 'invalid_request')], lines);
  for (const lines of [
    'Host: a\r\n',
    'Host:\r\n',
    'Host: [::1]:8080\r\n',
    'Host: 127.0.0.1:1\r\n',
    'Host: a_b-c.example.:80\r\n',
  ])
    t.same(await ask(get(lines)), [{ status: 200 }], lines);
  t.same(await ask('GET /availability HTTP/1.0\r\n\r\n'), [{ status: 200 }], 'HTTP/1.0 needs none');
});

t.test('a target is a path, also where it is written as a URL', async (t) => {
  const targets: [string, number][] = [
    [`http://127.0.0.1:${port}/availability`, 200],
    ['http://elsewhere.example/availability?x=%00#y', 200],
    ['HTTP://x', 200],
    ['http://x/nope', 404],
    ['//elsewhere.example/availability', 404],
    ['/%61vailability', 404],
    ['/availability/../number', 404],
    ['/%', 404],
    ['/?%ff=%', 200],
    ['*', 404],
    ['http://[', 400],
    ['http://a b/', 400],
  ];
  for (const [target, status] of targets) {
    const [answer] = await ask(get('Host: x\r\n', target));
    t.equal(answer?.status, status, target);
  }
});

t.test('answers come in the order of the requests, also when nonsense follows', async (t) => {
  const good = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\nGET /availability HTTP/1.1\r\nHost: x\r\n\r\n';
  const bad = refused(400, 'invalid_request');
  t.same(await ask(`${good}nonsense\r\n\r\n`), [{ status: 200 }, { status: 200 }, bad]);
  t.same(await ask(`${good}GET / HTTP/1.1\r\n\r\n`), [{ status: 200 }, { status: 200 }, bad]);
  const broken = `${JSON_POST}Transfer-Encoding: chunked\r\n\r\nz\r\n`;
  t.same(await ask(good + broken), [{ status: 200 }, { status: 200 }, bad]);
});

t.test('an unfinished request does not take the answer of the one before it', async (t) => {
  const { url: hasty } = await rig.start(t, { headersTimeoutMs: 200, settlementWaitMs: 1_000 });
  const answers = await rawAnswers(hasty, 'GET /availability HTTP/1.1\r\nHost: x\r\n\r\nGET /number HT');
  t.same(
    answers.map(({ status }) => status),
    [200, 408],
  );
});

t.test('tunnels, expectations and offers of other protocols', async (t) => {
  t.same(await ask('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n'), [
    refused(405, 'method_not_allowed'),
  ]);
  t.same(await ask(get('Host: x\r\nExpect: miracles\r\n')), [{ status: 200 }]);
  t.same(await ask(`${JSON_POST}Expect: 100-continue\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`), [
    { status: 200 },
  ]);
  const upgrade = 'Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';
  t.same(await ask(`POST /demo HTTP/1.1\r\n${upgrade}\r\n${NEXT}`), [{ status: 200 }, { status: 200 }]);
});

t.test('a thousand offers on one connection leave nothing behind', async (t) => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on('warning', onWarning);
  const offer = 'GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n';
  const connection = new RawConnection(url);
  for (let count = 1; count <= 1_000; count += 1) connection.write(offer);
  connection.write(NEXT);
  await connection.closed(30_000);
  t.equal(connection.answers.length, 1_001);
  process.off('warning', onWarning);
  t.same(warnings, []);
});
