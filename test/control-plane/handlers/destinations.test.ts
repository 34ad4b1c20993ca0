// Where a subscriber may text and call, over HTTP, tools and probes: no toll-fraud country of +1, no premium number.
import t from 'tap';
import { destinationListSchema } from '#shared/destination-list.ts';
import { telephone } from '../../fixtures/agents/telephone.ts';
import { toolClient } from '../../fixtures/agents/tool-client.ts';
import { acceptAll, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { openTestOperator } from '../../fixtures/service/test-operator.ts';

const rig = await createRig();

/** Area codes that passed as "+1": Caribbean countries, Canada, personal, carriers' and premium numbers. */
const REFUSED = [876, 809, 473, 284, 649, 767, 868, 264, 441, 613, 500, 521, 544, 700, 900]
  .map((code) => `+1${code}5550123`)
  .concat('+12069760123', '+17879765551');
const ALLOWED = ['+12065550123', '+13105550199', '+17872345678', '+16712345678', '+18002345678'];

t.test('texts and calls, by request and by tool', async (t) => {
  const { ask, dial, headers, line, node, number, url } = await telephone(t, rig);
  const tools = await toolClient(t, url, { headers });
  const refusal = { error: 'destination_not_allowed', message: String };
  for (const to of REFUSED) {
    t.match(await ask('/sms/send', { to, body: 'x' }), { status: 400, body: refusal }, to);
    t.match(await dial(to), { status: 400, body: refusal }, to);
    t.match(await tools.call('send_sms', { to, body: 'x' }), {
      isError: true,
      text: 'destination_not_allowed',
    });
    const call = { phone_number: number, to };
    t.match(await tools.call('dial_call', call), { isError: true, text: 'destination_not_allowed' });
  }
  t.match((await dial('+18765550123')).body, { message: /the US and its territories/ });
  t.same([...node.commands('send_sms'), ...node.commands('dial')], [], 'the node hears of none');
  for (const to of ALLOWED) t.match(await ask('/sms/send', { to, body: 'x' }), { status: 200 }, to);
  t.match(await dial('+17872345678'), { status: 200 });
  t.equal(line.calls.length, 1);
});

t.test('a malformed number is named, with the number that was probably meant', async (t) => {
  const { ask, dial } = await telephone(t, rig);
  const body = { error: 'invalid_request', field: 'to', expected: 'E.164' };
  for (const to of ['(310) 555-0188', '3105550188', '1-310-555-0188']) {
    const wanted = { status: 400, body: { ...body, suggestion: '+13105550188' } };
    t.match(await ask('/sms/send', { to, body: 'x' }), wanted, to);
    t.match(await dial(to), wanted, to);
  }
  const unknown = await ask('/sms/send', { to: 'my mother', body: 'x' });
  t.match(unknown, { status: 400, body });
  t.notMatch(unknown.body, { suggestion: String });
  const message = '"to" must have 10 digits after +1. It has 6.';
  t.match(await dial('+1310555'), { status: 400, body: { ...body, message } });
});

t.test('the operator allows more, and never premium or personal numbers', async (t) => {
  const destinations = destinationListSchema.parse(['US', 'CA', '+1876', '+44']);
  const { ask, node } = await telephone(t, rig, { service: { destinations } });
  for (const to of ['+16132345678', '+18762345678', '+442079460000', '+12065550123'])
    t.match(await ask('/sms/send', { to, body: 'x' }), { status: 200 }, to);
  for (const to of [
    '+18092345678',
    '+15005550123',
    '+17005550123',
    '+19002345678',
    '+449012345678',
    '+447012345678',
  ])
    t.match(await ask('/sms/send', { to, body: 'x' }), {
      status: 400,
      body: { error: 'destination_not_allowed' },
    });
  t.equal(node.commands('send_sms').length, 4);
});

t.test("a destination that the node's operator does not allow gets the same answer", async (t) => {
  const message = 'only these destinations are allowed: PR';
  const { ask, dial } = await telephone(t, rig, {
    onCommand: (command) =>
      command.name === 'bind_sim'
        ? acceptAll(command)
        : { type: 'refusal', id: command.id, code: 'destination_not_allowed', message },
  });
  const refusal = { status: 400, body: { error: 'destination_not_allowed', message } };
  t.match(await ask('/sms/send', { to: '+13105550188', body: 'x' }), refusal);
  t.match((await ask('/sms/messages')).body, { messages: [{ status: 'failed' }] }, 'it was not tried');
  t.match(await dial('+13105550188'), refusal);
  t.match((await ask('/voice/calls')).body, { calls: [] });
});

t.test('a node that reports a foreign number as its own does not open it as a destination', async (t) => {
  const { databaseUrl, url } = await rig.start(t);
  const number = '+18765550123';
  const [here, elsewhere] = [slotAt(1), slotAt(2, { number })];
  const node = await rig.connect(t, url, { slots: [here, elsewhere] });
  const operator = await openTestOperator(t, { databaseUrl, url: '' });
  const from = String(here.number);
  await t.rejects(operator.call('sendTest', { from, to: number }), /is not a number of this service/);
  t.same(node.commands('send_sms'), []);
});
