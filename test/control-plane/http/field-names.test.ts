// Every refusal of a wrong field names it, and the form that it must have: all fields of all operations, and all parameters of all tools.
import t from 'tap';
import type * as z from 'zod';
import { inboundMessageSchema } from '#shared/api/answers.ts';
import { OPERATION, type Operation } from '#shared/api/operations.ts';
import { subscriber } from '../../fixtures/agents/subscriber.ts';
import { toolClient } from '../../fixtures/agents/tool-client.ts';
import { request } from '../../fixtures/network/json-request.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const FRIEND = '+13105550188';
const OWN = '+12065550100';
const WEBHOOK_ID = 'wh_aaaaaaaaaaaaaaaa';

const SIGNED = { wallet: `0x${'11'.repeat(20)}`, nonce: 'n', signature: `0x${'11'.repeat(65)}` };

/** Fields that are right, beside the one that is wrong. */
const GOOD: Record<string, Record<string, unknown>> = {
  sendSms: { to: FRIEND, body: 'x' },
  dialCall: { phone_number: OWN, to: FRIEND },
  hangUpCall: { call_id: 'call_1' },
  signIn: SIGNED,
  listWalletReceipts: SIGNED,
  joinWaitlist: { email: 'ada@example.com' },
  addWebhook: { url: 'https://example.com/' },
};
/** No field takes it. */
const WRONG = { wrong: true };

const fieldsOf = (schema: z.ZodType | undefined): string[] =>
  schema !== undefined && 'shape' in schema ? Object.keys(schema.shape as object) : [];

const service = await subscriber(t, await createRig(), {
  service: { requestsPerMinute: 100_000, waitlistPerMinute: 1_000 },
});
const { headers, url } = service;

function ask({ method, path }: Operation, query: string, body?: unknown) {
  return request<Record<string, unknown>>(
    `${url}${path.replace('{id}', path.startsWith('/webhooks') ? WEBHOOK_ID : '1')}${query}`,
    {
      method: method.toUpperCase(),
      headers: { ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    },
  );
}

t.test('an unknown field beside a missing one', async (t) => {
  const ofSend = await ask(OPERATION.send, '', { to: FRIEND, text: 'x' });
  t.match(ofSend, {
    status: 400,
    body: {
      error: 'invalid_request',
      message: /^"body": .*"text" is not a field of this request\. Did you mean "body"\?$/,
      field: 'body',
      unknown_field: 'text',
    },
  });
  const ofHangUp = await ask(OPERATION.hangUp, '', { id: 'call_1' });
  t.match(ofHangUp.body, { message: /"id" is not a field .* mean "call_id"/, unknown_field: 'id' });
  const several = await ask(OPERATION.send, '', { text: 'x', number: FRIEND });
  t.match(several.body, { field: 'to', unknown_field: 'text' });
});

t.test('each field of each operation', async (t) => {
  let asked = 0;
  for (const operation of Object.values(OPERATION) as Operation[]) {
    for (const field of fieldsOf(operation.body)) {
      const answer = await ask(operation, '', { ...GOOD[operation.id], [field]: WRONG });
      const error = operation.fieldRefusal ?? 'invalid_request';
      t.match(answer, { status: 400, body: { error, field, expected: String } }, `${operation.id} ${field}`);
      asked += 1;
    }
    for (const field of fieldsOf(operation.query)) {
      const answer = await ask(operation, `?${field}=x`);
      t.match(
        answer,
        { status: 400, body: { error: 'invalid_request', field, expected: String } },
        `${operation.id} ${field}`,
      );
      const twice = await ask(operation, `?${field}=1&${field}=2`);
      t.match(
        twice,
        { status: 400, body: { error: 'invalid_request', field, expected: String } },
        `${operation.id} ${field} twice`,
      );
      asked += 1;
    }
    for (const field of fieldsOf(operation.params)) {
      const wrong = { ...operation, path: operation.path.replace(/\{\w+\}/, 'x') as Operation['path'] };
      const answer = await ask(wrong, '', operation.body === undefined ? undefined : goodBodyOf(operation));
      t.match(
        answer,
        { status: 400, body: { error: 'invalid_request', field, expected: String } },
        `${operation.id} ${field}`,
      );
      asked += 1;
    }
    if (operation.body !== undefined) {
      const whole = await ask(operation, '', []);
      t.match(
        whole,
        { status: 400, body: { error: 'invalid_request', field: '$' } },
        `${operation.id} whole`,
      );
    }
  }
  t.ok(asked > 40, `${asked} fields`);
});

const goodBodyOf = ({ id }: Operation): object =>
  GOOD[id] ?? (id === 'replayWebhook' ? { delivery_id: 1 } : {});

t.test('a period that ends before it begins', async (t) => {
  const [early, late] = ['2027-01-01T00:00:00Z', '2027-01-01T00:00:01Z'];
  for (const operation of [OPERATION.messages, OPERATION.calls, OPERATION.deleteMessages]) {
    t.match(
      await ask(operation, `?since=${late}&until=${early}`),
      { status: 400, body: { error: 'invalid_request', field: 'since' } },
      operation.id,
    );
    t.equal(
      (await ask(operation, `?since=${early}&until=${early}`)).status,
      200,
      `${operation.id}, one time`,
    );
  }
});

t.test('a wrong number: the form that is expected, and the number that was meant', async (t) => {
  const { send } = service;
  const suggestion = FRIEND;
  const expected = 'E.164';
  for (const to of ['3105550188', '(310) 555-0188', 3105550188])
    t.match(
      await send({ to, body: 'x' }),
      {
        status: 400,
        body: { field: 'to', message: /\. Did you mean \+13105550188\?$/, expected, suggestion },
      },
      String(to),
    );
  t.match(await send({ to: '', body: 'x' }), { status: 400, body: { field: 'to', expected } });
  t.match(await ask(OPERATION.dial, '', { phone_number: OWN, to: '310 555 0188' }), {
    status: 400,
    body: { field: 'to', expected, suggestion },
  });
  t.match(await ask(OPERATION.dial, '', { phone_number: '2065550100', to: FRIEND }), {
    status: 404,
    body: {
      error: 'phone_number_not_found',
      message: /"to" is the number to call\. Did you mean \+12065550100\?$/,
      field: 'phone_number',
      expected,
      suggestion: OWN,
    },
  });
  t.match(await ask(OPERATION.dial, '', { to: FRIEND }), {
    status: 400,
    body: { field: 'phone_number', message: /"phone_number" is your own number \(GET \/number\)/ },
  });
});

t.test('each parameter of each tool', async (t) => {
  const client = await toolClient(t, url, { headers });
  const tools = (await client.tools()) as Array<{
    name: string;
    inputSchema: { properties?: Record<string, unknown> };
  }>;
  const good: Record<string, object> = {
    send_sms: { to: FRIEND, body: 'x' },
    split_text: { body: 'x' },
    dial_call: { phone_number: OWN, to: FRIEND },
    hangup_call: { call_id: 'call_1' },
    listen: { call_id: 'call_1' },
    say: { call_id: 'call_1', text: 'x' },
  };
  let asked = 0;
  for (const { name, inputSchema } of tools) {
    for (const field of Object.keys(inputSchema.properties ?? {})) {
      const { isError, structured } = await client.call(name, { ...good[name], [field]: WRONG });
      t.match(
        { isError, ...structured },
        { isError: true, error: 'invalid_request', field, expected: String },
        `${name} ${field}`,
      );
      asked += 1;
    }
  }
  t.ok(asked > 10, `${asked} parameters`);
});

t.test('the beginning of a name is meant to be that name; a name like no other gets the list', async (t) => {
  const client = await toolClient(t, url, { headers });
  const { structured } = await client.call('receive_sms', { wait: 5 });
  t.match(structured, {
    field: 'wait',
    suggestion: 'wait_seconds',
    message: /Did you mean "wait_seconds"\?$/,
  });
  const unlike = await client.call('receive_sms', { per_page_maximum: 5 });
  t.match(unlike.structured, { message: /Its fields are limit, wait_seconds\.$/ });
});

t.test('the demo names every field that it leaves out', async (t) => {
  const { body } = await ask(OPERATION.demo, '');
  const { note, simulated_receive: received } = body as {
    note: string;
    simulated_receive: { messages: object[] };
  };
  const shown = Object.keys(received.messages[0] ?? {});
  for (const field of [...Object.keys(inboundMessageSchema.shape), 'warnings'])
    t.ok(shown.includes(field) || note.includes(`\`${field}\``), field);
});

t.test(
  'a session of tools is only for a client with a token; there is no stream to open or to end',
  async (t) => {
    const initialize = (auth: Record<string, string>) =>
      fetch(`${url}/mcp`, {
        method: 'POST',
        headers: {
          ...auth,
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'initialize',
          params: {
            protocolVersion: '2025-06-18',
            capabilities: {},
            clientInfo: { name: 'test', version: '1' },
          },
        }),
      });
    t.equal((await initialize({})).headers.get('mcp-session-id'), null);
    t.match((await initialize(headers)).headers.get('mcp-session-id'), /^[0-9a-f-]{36}$/);
    for (const method of ['GET', 'DELETE']) {
      const response = await fetch(`${url}/mcp`, {
        method,
        headers: { ...headers, Accept: 'text/event-stream' },
      });
      t.equal(response.status, 405, method);
      t.match(response.headers.get('allow'), /POST/);
    }
  },
);

/** These act or filter, so a mistyped field would change their result. Elsewhere an unknown field is ignored. */
const STRICT = [
  'sendSms',
  'receiveSms',
  'listMessages',
  'deleteMessages',
  'dialCall',
  'listCalls',
  'listReceipts',
  'addWebhook',
  'listWebhookDeliveries',
];

t.test(
  'an unknown field of a request that acts or filters is refused by name, with the one that was meant',
  async (t) => {
    const operations = (Object.values(OPERATION) as Operation[]).filter(({ id }) => STRICT.includes(id));
    t.same(operations.map(({ id }) => id).sort(), [...STRICT].sort());
    for (const operation of operations) {
      const inBody = fieldsOf(operation.body).length > 0;
      const [known = ''] = fieldsOf(inBody ? operation.body : operation.query);
      const typo = `${known}s`;
      const answer = inBody
        ? await ask(operation, '', { ...GOOD[operation.id], [typo]: 'x' })
        : await ask(operation, `?${typo}=x`);
      t.match(answer, { status: 400, body: { field: typo, suggestion: known } }, operation.id);
    }
  },
);

t.test('a deletion with a body deletes nothing', async (t) => {
  const operation = OPERATION.deleteMessages;
  t.match(await ask(operation, '', { direction: 'sent' }), { status: 400, body: { field: '$' } });
  t.match(await ask(operation, '', {}), { status: 200, body: { deleted: 0 } });
});
