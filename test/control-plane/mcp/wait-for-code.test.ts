// The tool wait_for_code: it claims the newest text with a one-time code, and no other.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import t from 'tap';
import { received } from '../../fixtures/agents/subscriber.ts';
import { STATELESS, toolClient } from '../../fixtures/agents/tool-client.ts';
import { isWaiting, waitingSubscriber } from '../../fixtures/agents/waiting-subscriber.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const FRIEND = '+13105550188';

const rig = await createRig({ hasInstances: true });

t.test('the first text with a code answers the wait; the others stay claimable', async (t) => {
  const alice = await waitingSubscriber(t, rig);
  const client = await toolClient(t, alice.url, { headers: alice.headers, revision: STATELESS });
  const call = client.call('wait_for_code', { wait_seconds: 50 });
  await isWaiting(alice);
  await alice.deliver('hello');
  await alice.deliver('Your code is 417209.\n\n@example.com #417209');
  t.match((await call).structured, {
    code: '417209',
    code_origin: 'https://example.com',
    code_embedded_origin: null,
    message: { code: '417209', from_number: String },
  });
  t.same(await alice.bodies(), ['hello']);
});

t.test('the newest code counts, and only that of the wanted sender', async (t) => {
  const alice = await waitingSubscriber(t, rig);
  const client = await toolClient(t, alice.url, { headers: alice.headers, revision: STATELESS });
  await alice.deliver('Your code is 111222');
  await alice.deliver('Your code is 333444');
  const wait = { wait_seconds: 0 };
  t.match(
    (await client.call('wait_for_code', { ...wait, max_age_seconds: 300, from: '+13105550100' })).structured,
    {
      code: null,
      message: null,
    },
  );
  t.match((await client.call('wait_for_code', wait)).structured, { code: '333444' });
  t.match((await client.call('wait_for_code', wait)).structured, { code: '111222' });
  t.match((await client.call('wait_for_code', wait)).structured, { code: null, message: null });
});

t.test('a code of a node whose clock is slow is not older than the wait in which it came', async (t) => {
  const alice = await waitingSubscriber(t, rig);
  const client = await toolClient(t, alice.url, { headers: alice.headers, revision: STATELESS });
  const slow = (body: string, slowMs: number) => ({
    ...received(body),
    received_at: new Date(alice.clock.now() - slowMs).toISOString(),
  });
  await alice.node.report(slow('Your code is 111222', 90_000));
  alice.clock.advance(1);
  const call = client.call('wait_for_code', { wait_seconds: 50, max_age_seconds: 0 });
  await isWaiting(alice);
  await alice.node.report(slow('Your code is 333444', 50_000));
  t.match((await call).structured, { code: '333444' });
});

t.test('of two that wait at once one gets the code', async (t) => {
  const alice = await waitingSubscriber(t, rig);
  const client = await toolClient(t, alice.url, { headers: alice.headers, revision: STATELESS });
  await alice.deliver('Your code is 417209');
  const calls = [1, 2, 3, 4].map(() => client.call('wait_for_code', { wait_seconds: 0 }));
  const codes = (await Promise.all(calls)).map(({ structured }) => structured['code']);
  t.same(codes.sort(), ['417209', null, null, null]);
});

t.test('a refusal has the form that the tool declares, for clients that check it', async (t) => {
  const alice = await waitingSubscriber(t, rig);
  // The first client of MCP checks structured content against the schema of each tool that it has listed.
  const transport = new StreamableHTTPClientTransport(new URL(`${alice.url}/mcp`), {
    requestInit: { headers: alice.headers },
  });
  const client = new Client({ name: 'a client that checks', version: '1' });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  t.teardown(() => client.close());
  await client.listTools();
  const refused = { isError: true, structuredContent: { error: 'invalid_request' } };
  const ask = (args: object) => client.callTool({ name: 'wait_for_code', arguments: { ...args } });
  t.match(await ask({ wait_seconds: 60 }), { ...refused, structuredContent: { field: 'wait_seconds' } });
  t.match(await ask({ sender: FRIEND }), { ...refused, structuredContent: { field: 'sender' } });
  t.match(await ask({ from: '(310) 555-0188' }), {
    ...refused,
    structuredContent: { field: 'from', expected: 'E.164', suggestion: FRIEND },
  });
  t.match(await ask({ wait_seconds: 0 }), { structuredContent: { code: null, message: null } });
});
