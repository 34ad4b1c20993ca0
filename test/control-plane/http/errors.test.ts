// Every "no" has the same shape, on every path, for every way to ask wrongly; also what never reaches a route.
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { refusedUpgrade } from '../../fixtures/agents/telephone.ts';
import { withClient } from '../../fixtures/agents/waiting-subscriber.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const rig = await createRig();
const setup = (t: Test) => rig.start(t);

const BEARER_ROUTES = [
  ['GET', '/number'],
  ['POST', '/sms/send'],
  ['GET', '/sms/receive'],
  ['GET', '/sms/messages'],
  ['POST', '/voice/dial'],
  ['POST', '/voice/hangup'],
  ['GET', '/voice/calls'],
] as const;

async function ask(url: string, method: string, path: string, init: RequestInit = {}) {
  const response = await fetch(url + path, { method, ...init });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

t.test('bearer routes answer 401 to no token, a strange one, and other schemes', async (t) => {
  const { url } = await setup(t);
  const credentials = [
    '',
    'Bearer',
    'Bearer x',
    `Bearer simrack_${'A'.repeat(43)}`,
    'Basic YTpi',
    'bearer a b',
  ];
  for (const [method, path] of BEARER_ROUTES) {
    for (const credential of credentials) {
      const headers: Record<string, string> = credential === '' ? {} : { Authorization: credential };
      const answer = await ask(url, method, path, { headers });
      t.equal(answer.status, 401, `${method} ${path} ${credential}`);
      t.match(answer.body, { error: 'unauthorized', message: String });
      t.equal(answer.headers.get('www-authenticate'), 'Bearer');
    }
  }
});

t.test('unknown paths are 404 and wrong methods 405 with Allow', async (t) => {
  const { url } = await setup(t);
  for (const path of [
    '/nope',
    '/sms',
    '/sms/send/x',
    '/SUBSCRIBE/..%2f',
    '//number',
    '/number/',
    '/Number',
    '/%ff',
  ]) {
    const answer = await ask(url, 'GET', path);
    t.equal(answer.status, 404, path);
    t.match(answer.body, { error: 'not_found', message: String });
  }
  for (const [method, path, allow] of [
    ['GET', '/subscribe', 'POST'],
    ['DELETE', '/number', 'GET'],
    ['PUT', '/sms/send', 'POST'],
    ['POST', '/sms/receive', 'GET'],
    ['PROPFIND', '/auth', 'POST'],
  ] as const) {
    const answer = await ask(url, method, path);
    t.equal(answer.status, 405, `${method} ${path}`);
    t.match(answer.headers.get('allow'), allow);
    t.match(answer.body, { error: 'method_not_allowed', message: new RegExp(` Use ${allow}\\.$`) });
  }
  t.equal((await ask(url, 'OPTIONS', '/sms/send')).status, 204);
});

t.test('the position of an error in JSON, without the body', async (t) => {
  const { url } = await setup(t);
  const headers = { 'Content-Type': 'application/json' };
  const { body } = await ask(url, 'POST', '/auth', { headers, body: '{"wallet": 0x12}' });
  t.match(body, { message: /^The body is not JSON in UTF-8\. The first error is at position 12\.$/ });
});

t.test('bodies: not JSON, another type, too large, compressed, not UTF-8', async (t) => {
  const { url } = await setup(t);
  const json = { 'Content-Type': 'application/json' };
  const cases: Array<[init: RequestInit, status: number, error: string]> = [
    [{ headers: json, body: '{"wallet":' }, 400, 'invalid_json'],
    [{ headers: json, body: new Uint8Array([0x22, 0xff, 0x22]) }, 400, 'invalid_json'],
    [{ headers: { 'Content-Type': 'text/plain' }, body: '{}' }, 415, 'unsupported_media_type'],
    [{ headers: { ...json, 'Content-Encoding': 'gzip' }, body: '{}' }, 415, 'unsupported_media_type'],
    [{ headers: json, body: `"${'a'.repeat(65 * 1024)}"` }, 413, 'payload_too_large'],
    [{ headers: json, body: '{}' }, 400, 'invalid_request'],
    [{}, 400, 'invalid_request'],
  ];
  for (const [init, status, error] of cases) {
    const answer = await ask(url, 'POST', '/auth', init);
    t.equal(answer.status, status, error);
    t.match(answer.body, { error, message: String });
    t.match(answer.headers.get('content-type'), 'application/json');
  }
});

t.test('an unpaid /subscribe gets its 402 whatever the body', async (t) => {
  const { url } = await setup(t);
  for (const init of [{}, { body: 'x', headers: { 'Content-Type': 'text/plain' } }, { body: '{' }]) {
    t.equal((await ask(url, 'POST', '/subscribe', init)).status, 402);
  }
});

function raw(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(bytes);
  return text(socket);
}

t.test('a request that is not HTTP, or has endless headers, gets an error of the same shape', async (t) => {
  const { url } = await setup(t);
  for (const [bytes, status, error] of [
    ['hello\r\n\r\n', 400, 'invalid_request'],
    [`GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
  ] as const) {
    const answer = await raw(url, bytes);
    t.match(answer, `HTTP/1.1 ${status} `);
    t.match(JSON.parse(answer.split('\r\n\r\n')[1] ?? ''), { error, message: String });
  }
});

t.test('an offer of HTTP/2 is ignored: the request is one like any other, with its body', async (t) => {
  const { url } = await setup(t);
  const offer = (lines: string[], body = ''): string =>
    [
      ...lines,
      'Host: x',
      'Connection: Upgrade, HTTP2-Settings, close',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABkAAQAAP__',
      `Content-Length: ${body.length}`,
      '',
      body,
    ].join('\r\n');
  t.match(await raw(url, offer(['POST /subscribe HTTP/1.1'])), /^HTTP\/1\.1 402 /);
  const json = 'Content-Type: application/json';
  const wallet = JSON.stringify({ wallet: `0x${'1'.repeat(40)}` });
  const nonce = await raw(url, offer(['POST /auth/nonce HTTP/1.1', json], wallet));
  t.match(nonce, /^HTTP\/1\.1 200 .*"nonce":/s);
  t.match(await raw(url, offer(['GET /nope HTTP/1.1'])), /^HTTP\/1\.1 404 /);
});

t.test('refused upgrades get the same shape', async (t) => {
  const { url } = await setup(t);
  for (const [path, headers, status, error] of [
    ['/nope', {}, 404, 'not_found'],
    ['//', {}, 404, 'not_found'],
    ['/nodes/link', {}, 401, 'unauthorized'],
    ['/nodes/link', { Authorization: 'Bearer wrong', 'X-Node-Id': 'a' }, 401, 'unauthorized'],
    ['/nodes/link', { Authorization: 'SimrackNode id=a' }, 401, 'unauthorized'],
  ] as const) {
    t.match(await refusedUpgrade(url, path, headers), { status, body: { error, message: String } });
  }
});

t.test('an internal error is 500 with a request id and no internal details', async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  // One lock: to drop it takes those of other tables, too, and the service's work may hold some.
  await withClient(databaseUrl, (client) => client.query('alter table numbers rename to gone'));
  const answer = await ask(url, 'GET', '/availability');
  t.equal(answer.status, 500);
  t.match(answer.body, { error: 'internal_error', message: String, request_id: /^[0-9a-f-]{36}$/ });
  t.notMatch(JSON.stringify(answer.body), /database|postgres|relation|select/i);
});

t.test('a client that accepts problem+json gets it, with the same code', async (t) => {
  const { url } = await setup(t);
  const refused = (accept: string) => ask(url, 'GET', '/number', { headers: { Accept: accept } });
  const problem = await refused('application/problem+json, application/json;q=0.5');
  t.match(problem.headers.get('content-type'), /^application\/problem\+json/);
  const { request_id: id, message } = problem.body;
  t.same(problem.body, {
    error: 'unauthorized',
    message,
    request_id: id,
    type: `${url}/llms.txt#unauthorized`,
    status: 401,
    detail: message,
    title: 'The bearer token is missing, unknown, revoked or expired.',
  });
  for (const accept of [
    '*/*',
    'application/json',
    'text/html',
    'application/json, application/problem+json',
  ]) {
    const plain = await refused(accept);
    t.match(plain.headers.get('content-type'), /^application\/json/, accept);
    t.same(Object.keys(plain.body).sort(), ['error', 'message', 'request_id'], accept);
  }
});
