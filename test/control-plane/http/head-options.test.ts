// HEAD and OPTIONS of every route: the headers of GET without the body, and what else a path takes.
import t, { type Test } from 'tap';
import { subscriber } from '../../fixtures/agents/subscriber.ts';
import { RawConnection } from '../../fixtures/network/raw-connection.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import type { Described } from '../discovery/documented.ts';

const rig = await createRig();

/** Beside the description: pages, checks, sockets, tools, nodes. */
const MORE = {
  get: ['/health/live', '/health/ready', '/voice/stream/call_1', '/voice/presence/%2B12065550100'],
  post: ['/mcp', '/nodes/enrol', '/waitlist/unsubscribe'],
};
/** Headers that differ from response to response. */
const OWN_HEADERS = ['date', 'x-request-id', 'ratelimit', 'keep-alive', 'connection'];

async function pathsOf(url: string): Promise<{ get: string[]; post: string[] }> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as Described;
  const { well_known: files } = (await (await fetch(url)).json()) as { well_known: Record<string, string> };
  const of = (method: string): string[] => Object.keys(paths).filter((path) => method in (paths[path] ?? {}));
  const filePaths = Object.values(files).map((file) => new URL(file).pathname);
  return {
    get: [...of('get'), ...filePaths, '/openapi.json', ...MORE.get],
    post: [...of('post'), ...MORE.post],
  };
}

const headersOf = ({ headers }: Response): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => !OWN_HEADERS.includes(name)));

async function setup(t: Test) {
  const { url, headers } = await subscriber(t, rig);
  return { url, headers, paths: await pathsOf(url) };
}

t.test('HEAD has the status and the headers of GET', async (t) => {
  const { url, headers, paths } = await setup(t);
  t.ok(paths.get.length > 15);
  for (const path of paths.get) {
    for (const more of [headers, {}, { Accept: 'text/html' }, { 'If-None-Match': '*' }]) {
      if (path === '/sms/receive' && more === headers) continue;
      const get = await fetch(url + path, { headers: more });
      const head = await fetch(url + path, { method: 'HEAD', headers: more });
      const claims = path === '/sms/receive';
      t.equal(head.status, claims ? 405 : get.status, path);
      if (!claims) t.same(headersOf(head), headersOf(get), path);
      t.equal(await head.text(), '');
      await get.arrayBuffer();
    }
  }
  for (const path of paths.post) {
    const head = await fetch(url + path, { method: 'HEAD' });
    if (path !== '/waitlist/unsubscribe' && !paths.get.includes(path)) t.equal(head.status, 405, path);
  }
});

t.test('after HEAD the next answer begins at once: no octet of a body is sent', async (t) => {
  const { url, paths } = await setup(t);
  for (const path of [...paths.get, ...paths.post, '/nope']) {
    const connection = new RawConnection(url);
    connection.write(`HEAD ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    connection.write('GET /nope HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await connection.closed();
    const [, second = ''] = connection.text.split('\r\n\r\n');
    t.match(second, /^HTTP\/1\.1 404 /, path);
  }
});

t.test('a claim is made by GET only, and HEAD says so', async (t) => {
  const { url, headers } = await setup(t);
  const head = await fetch(`${url}/sms/receive`, { method: 'HEAD', headers });
  t.equal(head.status, 405);
  t.equal(head.headers.get('allow'), 'GET, OPTIONS');
});

t.test('OPTIONS is 204 with Allow, for every route, and with what pages ask', async (t) => {
  const { url, paths } = await setup(t);
  const preflight = { Origin: 'https://agent.example', 'Access-Control-Request-Method': 'POST' };
  for (const [method, some] of Object.entries(paths)) {
    for (const path of some) {
      for (const headers of [{}, { Origin: 'https://agent.example' }]) {
        const answer = await fetch(url + path, { method: 'OPTIONS', headers });
        t.equal(answer.status, 204, path);
        const allowed = answer.headers.get('allow')?.split(', ') ?? [];
        t.ok(allowed.includes(method.toUpperCase()) && allowed.includes('OPTIONS'), `${path}: ${allowed}`);
        t.equal(allowed.includes('HEAD'), allowed.includes('GET') && path !== '/sms/receive', path);
        t.equal(answer.headers.get('content-length'), null);
      }
      const answer = await fetch(url + path, { method: 'OPTIONS', headers: preflight });
      t.equal(answer.status, 204);
      t.equal(answer.headers.get('access-control-allow-origin'), '*');
    }
  }
  t.equal((await fetch(`${url}/nope`, { method: 'OPTIONS' })).status, 404);
});

t.test('OPTIONS * asks for the service as a whole (RFC 9110 §9.3.7)', async (t) => {
  const { url } = await setup(t);
  const connection = new RawConnection(url).write(
    'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  );
  const [answer] = (await connection.closed()).answers;
  t.equal(answer?.status, 204);
  t.match(answer?.headers.get('allow'), /GET.*POST.*OPTIONS/);
});

t.test('web pages may read every header that a payment needs', async (t) => {
  const { url } = await setup(t);
  const answer = await fetch(`${url}/subscribe`, {
    method: 'POST',
    headers: { Origin: 'https://agent.example' },
  });
  const readable = answer.headers.get('access-control-expose-headers')?.toLowerCase().split(',') ?? [];
  for (const name of [
    'payment-required',
    'payment-response',
    'x-payment-response',
    'payment-receipt',
    'www-authenticate',
  ])
    t.ok(readable.includes(name), name);
});
