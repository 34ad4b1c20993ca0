// Every tool, called by the official clients in every revision of the protocol: what it answers and how it refuses.
import t, { type Test } from 'tap';
import * as answers from '#shared/api/answers.ts';
import * as callAnswers from '#shared/api/call-answers.ts';
import { received } from '../../fixtures/agents/subscriber.ts';
import { FAR_END, telephone } from '../../fixtures/agents/telephone.ts';
import {
  HANDSHAKES,
  olderToolClient,
  STATELESS,
  type ToolClient,
  toolClient,
} from '../../fixtures/agents/tool-client.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

type Headers = Record<string, string>;
const CLIENTS: Record<string, (t: Test, url: string, headers?: Headers) => Promise<ToolClient>> = {
  'the client of the first line': olderToolClient,
};
for (const revision of [STATELESS, ...HANDSHAKES])
  CLIENTS[`revision ${revision}`] = (t, url, headers = {}) => toolClient(t, url, { headers, revision });

const NAMES = [
  'list_services',
  'check_availability',
  'receive_sms',
  'wait_for_code',
  'send_sms',
  'split_text',
  'list_messages',
  'delete_messages',
  'get_number',
  'dial_call',
  'wait_for_call',
  'listen',
  'hangup_call',
];
interface ListedTool {
  name: string;
  inputSchema: { properties?: Record<string, { default?: unknown }> };
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];

for (const [name, connect] of Object.entries(CLIENTS)) {
  t.test(`${name}: every tool`, async (t) => {
    const { headers, line, node, number, url } = await telephone(t, rig);
    const client = await connect(t, url, headers);

    const tools = await client.tools();
    t.same(
      tools.map((tool) => tool['name']),
      NAMES,
    );
    t.same(await client.tools(), tools, 'the same again');
    for (const tool of tools) {
      t.match(tool, {
        title: /./,
        description: /./,
        inputSchema: { type: 'object' },
        outputSchema: { type: 'object' },
      });
      for (const hint of HINTS)
        t.type((tool['annotations'] as Record<string, unknown>)[hint], 'boolean', `${tool['name']} ${hint}`);
    }

    const call = async (tool: string, args: Record<string, unknown> = {}) => {
      const { isError, structured, text } = await client.call(tool, args);
      t.same(JSON.parse(text), structured, `${tool}: the text is the same`);
      t.notOk(isError, `${tool}: ${text}`);
      return structured;
    };
    for (const { name, inputSchema } of tools as unknown as ListedTool[])
      for (const [field, { default: value }] of Object.entries(inputSchema.properties ?? {}))
        if (typeof value === 'number') {
          const { structured } = await client.call(name, { [field]: value, wait_seconds: 0 });
          t.not(structured['field'], field, `${name}: ${field} may have its default`);
        }

    const { services, catalog } = answers.servicesSchema.parse(await call('list_services'));
    t.match(services, [{ available: 0, subscribe: `${url}/subscribe`, prices: [{ price: '1800' }] }]);
    t.same(catalog, await (await fetch(url)).json());
    t.same(await call('check_availability'), { available: 0 });
    t.match(answers.subscriptionSchema.parse(await call('get_number')), { number });

    const { message_id: messageId } = answers.sentSchema.parse(
      await call('send_sms', { to: FAR_END, body: 'hello' }),
    );
    for (const [index, body] of ['one', 'two', 'three'].entries()) node.sendFact(index + 1, received(body));
    await until('they are stored', () => node.acknowledged === 3);
    const one = answers.receivedSchema.parse(await call('receive_sms', { limit: 1 }));
    t.match(one, { count: 1, messages: [{ body: 'one', to_number: number }] });
    const rest: string[] = [];
    // An instance without the node's link learns of a text a little later.
    await until('both others', async () => {
      const { messages } = answers.receivedSchema.parse(await call('receive_sms', { wait_seconds: 0 }));
      rest.push(...messages.map(({ body }) => body));
      return rest.length >= 2;
    });
    t.same(rest, ['two', 'three']);
    t.same(await call('receive_sms', { wait_seconds: 0 }), { messages: [], count: 0 });

    t.same(await call('wait_for_code', { wait_seconds: 0 }), {
      code: null,
      code_origin: null,
      code_embedded_origin: null,
      message: null,
    });
    t.same(await call('split_text', { body: 'It’s', transliterate: true }), {
      encoding: 'gsm7',
      messages: ["It's"],
      replaced: [{ from: '’', to: "'", count: 1 }],
    });

    const first = answers.historySchema.parse(await call('list_messages', { limit: 3 }));
    t.equal(first.messages.length, 3);
    const second = answers.historySchema.parse(await call('list_messages', { cursor: first.next_cursor }));
    t.match(second, { messages: [{ direction: 'sent', message_id: messageId }], next_cursor: null });

    const gone = second.messages[0]?.id as number;
    const mine = [first.messages[0]?.id as number, gone, gone, 9_007_199_254_740_991];
    t.same(await call('delete_messages', { ids: mine }), { deleted: 2 });
    t.same(await call('delete_messages', { ids: mine }), { deleted: 0 });
    t.equal(answers.historySchema.parse(await call('list_messages')).messages.length, 2);

    const dialled = callAnswers.dialledSchema.parse(
      await call('dial_call', { phone_number: number, to: FAR_END }),
    );
    t.equal(line.calls[0]?.call_id, dialled.call_id);
    t.match(callAnswers.hungUpSchema.parse(await call('hangup_call', { call_id: dialled.call_id })), {
      status: 'hangup_sent',
    });
    await until('it has ended', () => line.calls.length === 0);
  });

  t.test(`${name}: refusals are results with a code`, async (t) => {
    const { headers, line, node, number, url } = await telephone(t, rig);
    const client = await connect(t, url, headers);
    await client.tools();
    const refused = async (tool: string, args: Record<string, unknown>, refusal: Record<string, unknown>) => {
      const { isError, structured, text } = await client.call(tool, args);
      t.ok(isError, `${tool} ${JSON.stringify(args)}`);
      t.match(structured, { message: String, ...refusal });
      t.same(JSON.parse(text), structured, 'the text is the same');
    };
    const invalid = (field: string) => ({ error: 'invalid_request', field });
    await refused('receive_sms', { limit: 101 }, invalid('limit'));
    await refused('receive_sms', { limit: 1.5 }, invalid('limit'));
    await refused('receive_sms', { wait_seconds: 51 }, invalid('wait_seconds'));
    await refused('receive_sms', { wait_seconds: -1 }, invalid('wait_seconds'));
    await refused('list_messages', { direction: 'sideways' }, invalid('direction'));
    await refused('list_messages', { cursor: 'made up' }, invalid('cursor'));
    await refused('delete_messages', {}, invalid('ids'));
    await refused('delete_messages', { ids: [] }, invalid('ids'));
    await refused('delete_messages', { ids: ['1'] }, { error: 'invalid_request' });
    await refused('send_sms', { to: FAR_END }, invalid('body'));
    await refused('send_sms', { to: '911', body: 'help' }, { error: 'destination_not_allowed' });
    await refused('send_sms', { to: FAR_END, body: 'x'.repeat(161) }, { encoding: 'gsm7', max_units: 160 });
    await refused(
      'dial_call',
      { phone_number: '+12065559999', to: FAR_END },
      { error: 'phone_number_not_found' },
    );
    await refused('dial_call', { phone_number: number, to: '911' }, { error: 'destination_not_allowed' });
    line.dialled = () => ({ status: 'ended', reason: 'busy', cause: 17 });
    await refused(
      'dial_call',
      { phone_number: number, to: FAR_END },
      { error: 'phone_node_unreachable', reason: 'busy', cause: 17 },
    );
    line.dialled = ({ id }) => ({
      type: 'refusal',
      id,
      code: 'rate_limited',
      message: 'as scripted',
      retry_after_ms: 7_000,
    });
    await refused(
      'dial_call',
      { phone_number: number, to: FAR_END },
      { error: 'rate_limited', retry_after: 7 },
    );
    await refused('hangup_call', { call_id: 'call_none' }, { error: 'call_not_found', call_id: 'call_none' });
    await node.drop();
    await until('the node is gone', async () => {
      const { structured } = await client.call('send_sms', { to: FAR_END, body: 'hello' });
      return structured['error'] === 'phone_node_error';
    });
    await t.rejects(client.call('no_such_tool'), { code: -32602 }, 'a tool that is none is no result');
  });

  t.test(`${name}: without a token`, async (t) => {
    const { url } = await rig.start(t);
    const client = await connect(t, url);
    t.equal((await client.call('list_services')).isError, false);
    t.same((await client.call('check_availability')).structured, { available: 0 });
    t.match((await client.call('split_text', { body: 'a' })).structured, { messages: ['a'] });
    const isOpen = (name: string) => [...NAMES.slice(0, 2), 'split_text'].includes(name);
    for (const tool of NAMES.filter((name) => !isOpen(name)))
      await t.rejects(client.call(tool), /A valid token is required/, tool);
  });
}
