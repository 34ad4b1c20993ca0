// Long texts through the client library: numbered texts in order, and a retry after a cut sends nothing twice.
import t from 'tap';
import { SimrackClient } from '#control-plane/client/simrack-client.ts';
import { received, subscriber } from '../../fixtures/agents/subscriber.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const rig = await createRig();
const TO = '+13105550188';

async function alice(t: Parameters<typeof subscriber>[0]) {
  const rigged = await subscriber(t, rig);
  const token = rigged.headers.Authorization.replace('Bearer ', '');
  const client = new SimrackClient({ baseUrl: rigged.url, token });
  const bodies = async (): Promise<string[]> => {
    const all: string[] = [];
    for await (const { body } of client.history({ direction: 'sent' })) all.unshift(body);
    return all;
  };
  return { ...rigged, client, bodies };
}

t.test('a long text goes out as numbered texts, in order', async (t) => {
  const { client, bodies } = await alice(t);
  const body = 'alpha beta gamma '.repeat(20).trim();
  const { messages } = await client.sendLong({ to: TO, body });
  t.equal(messages.length, 3);
  t.match(messages[0], { body: /^\(1\/3\) alpha/, status: 'queued', message_id: String });
  t.same(
    await bodies(),
    messages.map((message) => message.body),
  );
});

t.test('a curly quote costs 90 characters, unless it is replaced', async (t) => {
  const { client } = await alice(t);
  const body = `It’s ${'a'.repeat(100)}`;
  await t.rejects(client.send({ to: TO, body }), {
    code: 'invalid_request',
    message: /105 units, and at most 70 are allowed\. Replace ’, and up to 160 are allowed\./,
    details: { encoding: 'ucs2', units: 105, max_units: 70, segments: 2, ucs2_characters: ['’'] },
  });
  const { messages, replaced } = await client.sendLong({ to: TO, body, transliterate: true });
  t.same(
    messages.map((message) => message.body),
    [body.replace('’', "'")],
  );
  t.same(replaced, [{ from: '’', to: "'", count: 1 }]);
});

t.test('a text that needs more than 20 texts is refused like any other, and nothing is sent', async (t) => {
  const { client, bodies } = await alice(t);
  await t.rejects(client.sendLong({ to: TO, body: 'ж'.repeat(1_300) }), {
    name: 'ApiError',
    code: 'invalid_request',
    message: 'too long: 20 texts hold about 1,240 characters (3,040 if all are GSM 7-bit)',
    details: { field: 'body' },
  });
  t.same(await bodies(), []);
});

t.test('after a failure in the middle, a retry sends the rest', async (t) => {
  const { client, bodies } = await alice(t);
  const body = 'delta beta gamma '.repeat(20).trim();
  const send = client.send.bind(client);
  let calls = 0;
  client.send = async (text) => {
    calls += 1;
    // The refusal of the whole text, the first part, then a cut: the second part went out, and its answer was lost.
    const answer = await send(text);
    if (calls === 3) {
      const { noAnswer } = await import('#control-plane/client/api-error.ts');
      throw noAnswer('timeout', 'cut');
    }
    return answer;
  };
  const failure = await client.sendLong({ to: TO, body }).then(
    () => undefined,
    (error: unknown) => error as { since: Date; sent: unknown[]; unsent: string[]; isUnclear: boolean },
  );
  t.match(failure, { name: 'PartlySentError', isUnclear: true, sent: [{ body: /^\(1\/3\)/ }] });
  t.equal(failure?.unsent.length, 2);
  client.send = send;
  const { messages } = await client.sendLong({ to: TO, body, since: failure?.since });
  t.equal(messages.length, 3);
  t.same(
    await bodies(),
    messages.map((message) => message.body),
    'each once',
  );
});

t.test('waitForCode gets the text with the code, and holds the others', async (t) => {
  const { client, node } = await alice(t);
  node.sendFact(1, received('hello'));
  node.sendFact(2, received('G-417209 is your code'));
  t.match(await client.waitForCode({ timeoutMs: 10_000, pollMs: 20 }), { code: '417209', code_origin: null });
  t.match(await client.held(), [{ body: 'hello', code: null }]);
});
