// POST /mcp as HTTP: who may, what may be sent, and how a request is refused that no tool sees.
import t from 'tap';
import { mintToken } from '#control-plane/domain/bearer-token.ts';
import { subscriber } from '../../fixtures/agents/subscriber.ts';
import { HANDSHAKES, olderToolRequest, toolRequest } from '../../fixtures/agents/tool-client.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const rig = await createRig();

type Json = Record<string, unknown>;
const post = async (url: string, init: RequestInit) => {
  const response = await fetch(`${url}/mcp`, init);
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? (JSON.parse(text) as Json) : {},
  };
};
const listing = toolRequest('tools/list');

t.test('a tool that needs a token answers 401 and says where to look', async (t) => {
  const { url } = await rig.start(t);
  const metadata = `${url}/.well-known/oauth-protected-resource/mcp`;
  for (const make of [toolRequest, olderToolRequest]) {
    for (const [headers, challenge] of [
      [{}, `Bearer resource_metadata="${metadata}"`],
      [
        { Authorization: `Bearer ${mintToken()}` },
        `Bearer resource_metadata="${metadata}", error="invalid_token"`,
      ],
      [{ Authorization: 'Basic eDp5' }, `Bearer resource_metadata="${metadata}", error="invalid_token"`],
    ] as const) {
      const {
        status,
        headers: answered,
        body,
      } = await post(url, make('tools/call', { name: 'get_number' }, headers));
      t.equal(status, 401);
      t.equal(answered.get('www-authenticate'), challenge);
      t.match(body, { jsonrpc: '2.0', id: 1, error: { code: -32000, data: { error: 'unauthorized' } } });
    }
  }
  const response = await fetch(metadata);
  t.equal(response.status, 200);
  t.match(response.headers.get('content-type'), /^application\/json/);
  t.match(await response.json(), { resource: `${url}/mcp`, bearer_methods_supported: ['header'] });
});

t.test('a request with thousands of wrong values is refused before they are read', async (t) => {
  const { url } = await rig.start(t);
  const clientInfo = { name: 'a', version: '1', icons: Array(5_000).fill(0) };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const { body, status, text } = await post(url, olderToolRequest('initialize', params));
  t.equal(status, 400);
  t.match(body, { error: { data: { error: 'invalid_request', message: /1000 values/ } } });
  t.ok(text.length < 1_000, `${text.length} characters`);
});

t.test('a refusal has the name of its request, of HTTP or of a tool', async (t) => {
  const { url, headers } = await subscriber(t, rig);
  const refused = await post(url, toolRequest('tools/call', { name: 'get_number' }));
  const { data } = refused.body['error'] as { data: Json };
  t.equal(data['request_id'], refused.headers.get('x-request-id'));
  const wrong = { name: 'hangup_call', arguments: { call_id: 'call_of_nobody' } };
  const failed = await post(url, toolRequest('tools/call', wrong, headers));
  const { structuredContent } = failed.body['result'] as { structuredContent: Json };
  t.match(structuredContent, { error: 'call_not_found' });
  t.equal(structuredContent['request_id'], failed.headers.get('x-request-id'));
});

t.test('web pages of other origins may not call, our own and programs may', async (t) => {
  const { url } = await rig.start(t);
  const port = new URL(url).port;
  for (const origin of [url, `http://localhost:${port}`, `http://[::1]:${port}`])
    t.equal((await post(url, toolRequest('tools/list', {}, { Origin: origin }))).status, 200, origin);
  t.equal((await post(url, listing)).status, 200, 'none');
  for (const origin of [
    'http://evil.example',
    'null',
    `http://localhost.evil.example:${port}`,
    'http://127.0.0.1:1',
    `https://127.0.0.1:${port}`,
  ]) {
    const { status, body } = await post(url, toolRequest('tools/list', {}, { Origin: origin }));
    t.equal(status, 403, origin);
    t.match(body, { jsonrpc: '2.0', error: { data: { error: 'origin_not_allowed' } } });
  }
});

t.test('behind a public URL its origin is the only one', async (t) => {
  const { service } = await rig.start(t, { publicUrl: 'https://numbers.example' });
  const url = `http://127.0.0.1:${service.port}`;
  const from = async (origin: string) =>
    (await post(url, toolRequest('tools/list', {}, { Origin: origin }))).status;
  t.equal(await from('https://numbers.example'), 200);
  for (const origin of [url, `http://localhost:${service.port}`, 'http://numbers.example'])
    t.equal(await from(origin), 403, origin);
});

t.test('a request that is not a call is refused as JSON-RPC', async (t) => {
  const { url } = await rig.start(t);
  const json = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
  for (const [what, init, status, code] of [
    ['no JSON', { method: 'POST', headers: json, body: '{' }, 400, -32700],
    ['nothing', { method: 'POST', headers: json, body: '' }, 400, -32700],
    ['no UTF-8', { method: 'POST', headers: json, body: Buffer.from([0x22, 0xff, 0x22]) }, 400, -32700],
    ['a number', { method: 'POST', headers: json, body: '7' }, 400, -32600],
    ['no media type', { method: 'POST', body: Buffer.from('{}') }, 415, -32000],
    ['a form', { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: '{}' }, 415, -32000],
    [
      'compressed',
      { method: 'POST', headers: { ...json, 'Content-Encoding': 'gzip' }, body: '{}' },
      415,
      -32000,
    ],
    ['too large', { method: 'POST', headers: json, body: `"${'x'.repeat(65_536)}"` }, 413, -32000],
    [
      'two calls at once',
      {
        method: 'POST',
        headers: json,
        body: JSON.stringify(
          [1, 2].map((id) => ({
            jsonrpc: '2.0',
            id,
            method: 'tools/call',
            params: { name: 'list_services' },
          })),
        ),
      },
      400,
      -32600,
    ],
  ] as const) {
    const answer = await post(url, init);
    t.equal(answer.status, status, what);
    t.match(answer.body, { jsonrpc: '2.0', id: null, error: { code, message: String } }, what);
  }
});

t.test('there are no sessions to open or end', async (t) => {
  const { url } = await rig.start(t);
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const response = await fetch(`${url}/mcp`, { method, headers: { Accept: 'text/event-stream' } });
    t.equal(response.status, 405, method);
    t.match(response.headers.get('allow'), /^POST, OPTIONS$/);
    t.match(await response.json(), { error: 'method_not_allowed' });
  }
  const { headers } = await post(url, listing);
  t.equal(headers.get('mcp-session-id'), null);
});

t.test('the stateless revision: its headers must say what its body says', async (t) => {
  const { url } = await rig.start(t);
  const discover = await post(url, toolRequest('server/discover'));
  t.match(discover.body, {
    result: {
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      ttlMs: Number,
      cacheScope: 'public',
    },
  });
  t.match((await post(url, listing)).body, {
    result: { resultType: 'complete', ttlMs: Number, cacheScope: 'public' },
  });
  const call = { name: 'list_services' };
  for (const [what, init, status, code] of [
    ['another method', toolRequest('tools/call', call, { 'Mcp-Method': 'tools/list' }), 400, -32020],
    ['another name', toolRequest('tools/call', call, { 'Mcp-Name': 'get_number' }), 400, -32020],
    [
      'another revision',
      toolRequest('tools/call', call, { 'MCP-Protocol-Version': '2025-11-25' }),
      400,
      -32020,
    ],
    ['an unknown method', toolRequest('tools/destroy'), 404, -32601],
  ] as const) {
    const { status: answered, body } = await post(url, init);
    t.equal(answered, status, what);
    t.match(body, { id: 1, error: { code } }, what);
  }
  const unknown = toolRequest('tools/list', {}, { 'MCP-Protocol-Version': '2099-01-01' });
  const { status, body } = await post(url, {
    ...unknown,
    body: unknown.body.replace('2026-07-28', '2099-01-01'),
  });
  t.equal(status, 400);
  t.match(body, { error: { code: -32022, data: { supported: ['2026-07-28'], requested: '2099-01-01' } } });
});

t.test('the handshake accepts each revision, and offers the newest for an unknown one', async (t) => {
  const { url } = await rig.start(t);
  const initialize = async (protocolVersion: string) => {
    const clientInfo = { name: 'x', version: '1' };
    const init = olderToolRequest('initialize', { protocolVersion, capabilities: {}, clientInfo });
    const { status, text } = await post(url, init);
    t.equal(status, 200);
    const data = JSON.parse(String(/^data: (.*)$/m.exec(text)?.[1])) as { result: Json };
    t.match(data.result, {
      serverInfo: { name: 'simrack' },
      capabilities: { tools: {} },
      instructions: String,
    });
    return data.result['protocolVersion'];
  };
  for (const revision of HANDSHAKES) t.equal(await initialize(revision), revision);
  t.equal(await initialize('1999-01-01'), HANDSHAKES[0]);
  const notified = olderToolRequest('notifications/initialized');
  const { status, text } = await post(url, {
    ...notified,
    body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
  });
  t.equal(status, 202);
  t.equal(text, '');
});

t.test('a batch of the oldest revision has one call at most', async (t) => {
  const { url, headers } = await subscriber(t, rig);
  const batch = [
    { jsonrpc: '2.0', id: 1, method: 'ping' },
    { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'get_number' } },
  ];
  const init = (more: Record<string, string>) => ({
    ...olderToolRequest('', {}, { 'MCP-Protocol-Version': '2025-03-26', ...more }),
    body: JSON.stringify(batch),
  });
  t.equal((await post(url, init({}))).status, 401, 'a call within a batch needs the token, too');
  const { status, text } = await post(url, init({ ...headers }));
  t.equal(status, 200);
  t.match(text, /"id":1/);
  t.match(text, /"sub_account_id"/);
});

t.test('a token of the API is one of the tools, until it is revoked', async (t) => {
  const { url, headers } = await subscriber(t, rig);
  const ask = () => post(url, toolRequest('tools/call', { name: 'get_number' }, { ...headers }));
  const { body } = await ask();
  t.same(
    (body['result'] as Json)['structuredContent'],
    await (await fetch(`${url}/number`, { headers })).json(),
  );
});
