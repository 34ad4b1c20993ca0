// An MMS for a number, the whole way: the carrier's push, the modem, the daemon, the service, and all that shows messages.
import t from 'tap';
import { ALICE } from '../dev-stack/wallets.ts';
import { subscribeInStore } from '../fixtures/agents/subscribed.ts';
import { toolClient } from '../fixtures/agents/tool-client.ts';
import { createRig } from '../fixtures/service/rig.ts';
import { rackStack } from '../fixtures/stacks/rack-stack.ts';
import { until } from '../fixtures/until.ts';

const FRIEND = '+13105550188';

t.test('an MMS is announced once, with its size and end, and never fetched', async (t) => {
  const { url, databaseUrl, simulator } = await rackStack(t, await createRig(), { modems: 1 });
  const number = String(simulator.modems[0]?.identity.number);
  const { headers } = await subscribeInStore(databaseUrl, ALICE, number);
  const post = async (path: string, body: object) => {
    const response = await fetch(`${simulator.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
    return { status: response.status, body: (await response.json()) as { segments: number } };
  };
  const mms = {
    from: FRIEND,
    to: number,
    size_bytes: 417_209,
    expires_in_seconds: 86_400,
    transaction: 'picture-1',
  };
  const announced = await post('/mms', mms);
  t.equal(announced.status, 202);
  t.equal(announced.body.segments, 2, 'longer than one SMS');
  // It is not fetched, so the carrier announces it again.
  await post('/mms', mms);
  await post('/mms', { ...mms, from: null, transaction: 'picture-2', subject: 'Your code is 123456' });
  await post('/sms', { from: FRIEND, to: number, body: 'the last one' });

  type Message = Record<string, unknown> & { mms: { expires_at: string } | null };
  const claimed: Message[] = [];
  await until('all', async () => {
    const answer = (await (await fetch(`${url}/sms/receive`, { headers })).json()) as { messages: Message[] };
    claimed.push(...answer.messages);
    return claimed.some(({ body }) => body === 'the last one');
  });
  t.match(claimed, [
    {
      kind: 'mms_notice',
      from_number: FRIEND,
      to_number: number,
      body: /^Picture message \(MMS\), 417 kB\. The carrier keeps it until .*Z\. This number cannot fetch it/,
      code: null,
      opt_out_type: null,
      mms: { size_bytes: 417_209 },
    },
    { kind: 'mms_notice', from_number: '6245', code: null, mms: { size_bytes: 417_209 } },
    { kind: 'text', from_number: FRIEND, body: 'the last one', mms: null },
  ]);
  t.equal(claimed.length, 3, 'the repetition is not a second message');
  const endsInHours = (Date.parse(String(claimed[0]?.mms?.expires_at)) - Date.now()) / 3_600_000;
  t.ok(endsInHours > 23.9 && endsInHours < 24.1, `${endsInHours} h`);

  const history = (await (await fetch(`${url}/sms/messages`, { headers })).json()) as { messages: Message[] };
  t.match(history.messages, [{ kind: 'text' }, { kind: 'mms_notice' }, { kind: 'mms_notice', status: null }]);
  const tools = await toolClient(t, url, { headers });
  const { structured, isError } = await tools.call('list_messages', {});
  t.equal(isError, false);
  t.same(structured['messages'], history.messages);
});
