// Clients of OAuth at the tool endpoint: the official SDKs give up with the way to get a token, and send their user nowhere.
import { auth as presentAuth } from '@modelcontextprotocol/client';
import {
  discoverOAuthProtectedResourceMetadata,
  type OAuthClientProvider,
  auth as olderAuth,
} from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import t from 'tap';
import { createRig } from '../../fixtures/service/rig.ts';

const rig = await createRig();

/** A client that would open its user's browser. */
function provider(): { given: OAuthClientProvider; visited: URL[] } {
  const visited: URL[] = [];
  const given: OAuthClientProvider = {
    redirectUrl: 'http://127.0.0.1:1/callback',
    clientMetadata: { redirect_uris: ['http://127.0.0.1:1/callback'], client_name: 'test' },
    clientInformation: () => undefined,
    saveClientInformation: () => undefined,
    tokens: () => undefined,
    saveTokens: () => undefined,
    redirectToAuthorization: (url) => void visited.push(url),
    saveCodeVerifier: () => undefined,
    codeVerifier: () => 'verifier',
  };
  return { given, visited };
}

const WAY = /no OAuth\. POST http\S+\/subscribe with a payment .* POST http\S+\/auth\b/;

t.test('the SDK reads the document of the endpoint, which is that of its URL', async (t) => {
  const { url } = await rig.start(t);
  const found = await discoverOAuthProtectedResourceMetadata(`${url}/mcp`);
  t.equal(found.resource, `${url}/mcp`);
  t.notOk('authorization_servers' in found);
  t.match(found['token_instructions'], WAY);
  t.equal((await fetch(found.resource_documentation ?? '')).status, 200);
  const ofApi = await discoverOAuthProtectedResourceMetadata(url);
  t.equal(ofApi.resource, url);
});

t.test('both SDKs give up with the instruction how to get a token', async (t) => {
  const { url } = await rig.start(t);
  const { given, visited } = provider();
  await t.rejects(olderAuth(given, { serverUrl: `${url}/mcp` }), { message: WAY });
  await t.rejects(presentAuth(given as never, { serverUrl: `${url}/mcp` }), { message: WAY });
  t.same(visited, [], 'no page was opened');
});

t.test('a client that gets the 401 of a call gives up in the same way', async (t) => {
  const { url } = await rig.start(t);
  const { given, visited } = provider();
  const client = new Client({ name: 'test', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider: given });
  await client.connect(transport as unknown as Parameters<Client['connect']>[0]);
  t.teardown(() => client.close());
  await t.rejects(client.callTool({ name: 'get_number', arguments: {} }), { message: WAY });
  t.same(visited, []);
});

t.test('every well-known OAuth address answers 404 with the instruction, and others do not', async (t) => {
  const { url } = await rig.start(t);
  for (const path of [
    '/register',
    '/authorize',
    '/token',
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-authorization-server/mcp',
    '/.well-known/openid-configuration',
    '/.well-known/openid-configuration/mcp',
    '/mcp/.well-known/openid-configuration',
  ]) {
    const response = await fetch(`${url}${path}`, { method: path.startsWith('/.') ? 'GET' : 'POST' });
    t.equal(response.status, 404, path);
    t.match(await response.json(), { error: 'not_found', message: WAY, error_description: WAY }, path);
  }
  for (const path of ['/registers', '/.well-known/oauth-authorization-servers', '/tokens']) {
    const body = (await (await fetch(`${url}${path}`)).json()) as object;
    t.notOk('error_description' in body, path);
  }
});
