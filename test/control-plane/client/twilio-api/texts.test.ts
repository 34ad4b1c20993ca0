// Texts with Twilio's own library: sent, received by a signed callback, answered with TwiML, reported, listed and refused.
import t from 'tap';
import { SimrackClient } from '#control-plane/client/simrack-client.ts';
import type { FactOf } from '#shared/link/messages.ts';
import { received } from '../../../fixtures/agents/subscriber.ts';
import { FAR_END } from '../../../fixtures/agents/telephone.ts';
import { twilioApp } from '../../../fixtures/agents/twilio-app.ts';
import { AUTH_TOKEN, twilioRest } from '../../../fixtures/agents/twilio-rest.ts';
import { twilio } from '../../../fixtures/agents/twilio-sdk.ts';
import { slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { until } from '../../../fixtures/until.ts';

const rig = await createRig();
const WAIT_MS = 30_000;

const report = (commandId: string, status: 'delivered' | 'failed'): FactOf<'sms_report'> => ({
  kind: 'sms_report',
  iccid: String(slotAt(1).iccid),
  command_id: commandId,
  message_reference: 7,
  recipient: FAR_END,
  part: 1,
  parts: 1,
  status,
  tp_status: status === 'delivered' ? 0 : 0x46,
  at: new Date().toISOString(),
});

t.test('a text is sent, and callbacks report it until it is delivered or has failed', async (t) => {
  const { client, phone } = await twilioRest(t, rig);
  const app = await twilioApp(t, AUTH_TOKEN);
  const parts = { from: phone.number, to: FAR_END, statusCallback: `${app.url}/status?of=text` };
  const sent = await client.messages.create({ ...parts, body: 'Hello 🙂' });
  t.match(sent, {
    sid: /^SM[0-9a-f]{32}$/,
    status: 'sent',
    direction: 'outbound-api',
    from: phone.number,
    to: FAR_END,
  });
  t.match(phone.node.commands('send_sms')[0]?.params, { to: FAR_END, body: 'Hello 🙂' });
  const lost = await client.messages.create({ ...parts, body: 'two' });
  const [first, second] = phone.node.commands('send_sms').map(({ id }) => id) as [string, string];
  phone.node.sendFact(1, report(first, 'delivered'));
  phone.node.sendFact(2, report(second, 'failed'));
  const statuses = (sid: string) => app.requests.filter(({ fields }) => fields['MessageSid'] === sid);
  await until(
    'both are reported',
    () => statuses(sent.sid).length === 2 && statuses(lost.sid).length === 2,
    WAIT_MS,
  );
  t.same(
    statuses(sent.sid).map(({ fields }) => fields['MessageStatus']),
    ['sent', 'delivered'],
  );
  t.same(
    statuses(lost.sid).map(({ fields }) => [fields['MessageStatus'], fields['ErrorCode']]),
    [
      ['sent', undefined],
      ['undelivered', '30008'],
    ],
  );
  t.ok(app.requests.every(({ isSigned, path }) => isSigned && path === '/status?of=text'));
  t.match(await client.messages(sent.sid).fetch(), { status: 'delivered', body: 'Hello 🙂' });
  t.match(await client.messages(lost.sid).fetch(), { status: 'undelivered', errorCode: 30_008 });
  await t.rejects(client.messages(`SM${'f'.repeat(32)}`).fetch(), { status: 404, code: 20_404 });
});

t.test('a received text is posted to the app, signed, and its TwiML is the answer', async (t) => {
  const app = await twilioApp(t, AUTH_TOKEN, ({ fields }) => {
    const response = new twilio.twiml.MessagingResponse();
    if (fields['Body'] === 'hello') response.message('you said hello & <more>');
    return { text: fields['Body'] === 'bad' ? '<Response><Play/></Response>' : response.toString() };
  });
  const { client, phone, notes } = await twilioRest(t, rig, { textsUrl: `${app.url}/sms` });
  phone.node.sendFact(1, received('bad'));
  phone.node.sendFact(2, received('hello'));
  await until('both are posted', () => app.requests.length === 2, WAIT_MS);
  t.match(app.requests[1], {
    method: 'POST',
    path: '/sms',
    isSigned: true,
    fields: {
      MessageSid: /^SM[0-9a-f]{32}$/,
      From: FAR_END,
      To: phone.number,
      Body: 'hello',
      NumMedia: '0',
      SmsStatus: 'received',
    },
  });
  const answer = await until('the answer', () => phone.node.commands('send_sms')[0]);
  t.match(answer.params, { to: FAR_END, body: 'you said hello & <more>' });
  t.match(notes.join('\n'), /it stays in the history\): The bridge cannot do the TwiML verb <Play>/);
  const message = await client.messages(String(app.requests[1]?.fields['MessageSid'])).fetch();
  t.match(message, { direction: 'inbound', status: 'received', body: 'hello', from: FAR_END });
  phone.node.sendFact(3, received('STOP'));
  await until('it is posted, too', () => app.requests.length === 3, WAIT_MS);
  t.equal(app.requests[2]?.fields['OptOutType'], 'STOP');
  await t.rejects(client.messages.create({ from: phone.number, to: FAR_END, body: 'x' }), {
    status: 400,
    code: 21_610,
  });
});

t.test('an answer that cannot be sent is a note, and the next texts are posted', async (t) => {
  const app = await twilioApp(t, AUTH_TOKEN, ({ fields: { Body: body } }) => {
    const response = new twilio.twiml.MessagingResponse();
    response.message(body === 'astray' ? { to: '' } : {}, `you said ${body}`);
    return { text: response.toString() };
  });
  const { sendLong } = SimrackClient.prototype;
  t.intercept(SimrackClient.prototype, 'sendLong', {
    value(this: SimrackClient, text: Parameters<typeof sendLong>[0]) {
      if (text.body === 'you said boom') throw new TypeError('a fault of the program');
      return sendLong.call(this, text);
    },
  });
  const { api, notes, phone } = await twilioRest(t, rig, { textsUrl: `${app.url}/sms` });
  let ended: unknown;
  api.running.catch((error: unknown) => (ended = error));
  phone.node.sendFact(1, { ...received('hidden'), from: '' });
  phone.node.sendFact(2, received('astray'));
  phone.node.sendFact(3, received('boom'));
  phone.node.sendFact(4, received('hello'));
  await until(
    'the last is answered',
    () => ended !== undefined || phone.node.commands('send_sms').length > 0,
    WAIT_MS,
  );
  t.equal(ended, undefined);
  t.match(phone.node.commands('send_sms')[0]?.params, { to: FAR_END, body: 'you said hello' });
  t.match(notes, [
    /^a text without a sender \(it stays in the history\): The 'To' number {2}is not a valid phone number/,
    /^a text from \+.*: The 'To' number {2}is not a valid phone number/,
    /^a text from \+.*: TypeError: a fault of the program$/,
  ]);
});

t.test('an app that is not there yet, or hangs, loses no text', async (t) => {
  let isHanging = true;
  const app = await twilioApp(t, AUTH_TOKEN, () => (isHanging ? undefined : { text: '' }));
  const { phone, client } = await twilioRest(t, rig, { textsUrl: `${app.url}/sms` });
  for (let count = 1; count <= 3; count += 1) phone.node.sendFact(count, received(`text ${count}`));
  await until('the first is posted', () => app.requests.length === 1, WAIT_MS);
  const unclaimed = async () =>
    (
      (await phone.ask('/sms/messages?direction=received')).body['messages'] as Array<{
        delivered_at: unknown;
      }>
    ).filter(({ delivered_at: at }) => at === null).length;
  await until('the others wait at the service', async () => (await unclaimed()) === 2, WAIT_MS);
  isHanging = false;
  await until('they come after the time limit of the first', () => app.requests.length === 3, WAIT_MS);
  t.same(
    app.requests.map(({ fields }) => fields['Body']),
    ['text 1', 'text 2', 'text 3'],
  );
  t.equal((await client.messages.list()).length, 3);
});

t.test('an app that has a text when the API is closed may finish its answer', async (t) => {
  let answer: (() => void) | undefined;
  const app = await twilioApp(
    t,
    AUTH_TOKEN,
    () =>
      new Promise((resolve) => {
        answer = () => resolve({ text: '<Response><Message>goodbye</Message></Response>' });
      }),
  );
  const { api, notes, phone } = await twilioRest(t, rig, { textsUrl: `${app.url}/sms` });
  phone.node.sendFact(1, received('hello'));
  const finish = await until('it is posted', () => answer, WAIT_MS);
  const closed = api.close();
  // Its port is closed: the rest of the close has begun.
  await until('the port is closed', () =>
    fetch(api.url).then(
      () => false,
      () => true,
    ),
  );
  finish();
  await closed;
  t.match(phone.node.commands('send_sms')[0]?.params, { to: FAR_END, body: 'goodbye' });
  t.same(notes, []);
});

t.test('lists have pages and filters, and a long text is one message', async (t) => {
  const { client, phone } = await twilioRest(t, rig);
  phone.node.sendFact(1, received('first'));
  await until('it is stored', async () => (await client.messages.list()).length === 1, WAIT_MS);
  const long = `${'All work and no play makes Jack a dull boy. '.repeat(8)}End.`;
  const sent = await client.messages.create({ from: phone.number, to: FAR_END, body: long });
  t.equal(sent.numSegments, '3');
  t.equal(phone.node.commands('send_sms').length, 3);
  t.match(phone.node.commands('send_sms')[0]?.params, { body: /^\(1\/3\) / });
  for (let count = 0; count < 3; count += 1)
    await client.messages.create({ from: phone.number, to: '+13105550199', body: `text ${count}` });
  const all = await client.messages.list({ pageSize: 2 });
  t.same(
    all.map(({ body }) => body),
    ['text 2', 'text 1', 'text 0', long, 'first'],
    'over three pages',
  );
  t.equal(all[3]?.sid, sent.sid);
  t.same(
    (await client.messages.list({ to: '+13105550199', limit: 2, pageSize: 1 })).map(({ body }) => body),
    ['text 2', 'text 1'],
  );
  t.same(
    (await client.messages.list({ from: FAR_END })).map(({ body }) => body),
    ['first'],
  );
  t.equal((await client.messages.list({ dateSentAfter: new Date(Date.now() + 60_000) })).length, 0);
  t.equal((await client.messages.list({ dateSent: new Date() })).length, 5);
  for (const { sid, body } of all) t.equal((await client.messages(sid).fetch()).body, body);
});

t.test('a deleted text is gone, also in the service, with all its parts', async (t) => {
  const { client, phone } = await twilioRest(t, rig);
  phone.node.sendFact(1, received('first'));
  await until('it is stored', async () => (await client.messages.list()).length === 1, WAIT_MS);
  const body = `${'All work and no play makes Jack a dull boy. '.repeat(8)}End.`;
  const long = await client.messages.create({ from: phone.number, to: FAR_END, body });
  const [listed, first] = await client.messages.list();
  t.equal(listed?.sid, long.sid);
  t.equal(await client.messages(long.sid).remove(), true);
  t.equal(await client.messages(String(first?.sid)).remove(), true);
  t.same(await client.messages.list(), []);
  const history = await fetch(`${phone.url}/sms/messages`, { headers: phone.headers });
  t.match(await history.json(), { messages: [] }, 'no part is left');
  for (const sid of [long.sid, String(first?.sid), `SM${'0'.repeat(32)}`])
    await t.rejects(client.messages(sid).remove(), { status: 404, code: 20_404 }, sid);
});

t.test('refusals have Twilio’s codes', async (t) => {
  const { client, phone, request } = await twilioRest(t, rig);
  const text = { from: phone.number, to: FAR_END, body: 'hello' };
  const refused: Array<[Record<string, unknown>, number]> = [
    [{ ...text, to: '' }, 21_604],
    [{ ...text, to: '555-0123' }, 21_211],
    [{ ...text, to: '+1206555012' }, 21_211],
    [{ ...text, to: '911' }, 21_211],
    [{ ...text, to: '+442079460000' }, 21_408],
    [{ ...text, to: '+19005550123' }, 21_408],
    [{ ...text, from: '' }, 21_603],
    [{ ...text, from: '+13105550123' }, 21_606],
    [{ ...text, body: undefined }, 21_602],
    [{ ...text, to: text.from }, 21_266],
    [{ ...text, body: 'x'.repeat(1_601) }, 21_617],
    [{ ...text, body: '🙂'.repeat(790) }, 21_617],
    [{ ...text, statusCallback: 'file:///etc/passwd' }, 21_609],
    [{ ...text, mediaUrl: ['https://example.org/a.png'] }, 20_001],
  ];
  await t.rejects(client.messages.create({ ...text, to: ' 12065550123' }), { message: /Write \+ as %2B\.$/ });
  for (const [options, code] of refused)
    await t.rejects(
      client.messages.create(options),
      { status: 400, code },
      JSON.stringify(options).slice(0, 120),
    );
  t.equal(phone.node.commands('send_sms').length, 0);
  t.match(await request('/Messages.json?PageToken=e30'), { status: 400, body: { code: 20_001 } });
  t.match(await request('/Messages.json?PageSize=0'), { status: 400, body: { code: 20_001 } });
  t.match(await client.messages.create(text), { status: 'sent' });
  await phone.node.drop();
  await until('the node is gone', async () => {
    const answer = await phone.ask('/sms/send', { to: FAR_END, body: 'probe' });
    return answer.status === 502;
  });
  const failed = await client.messages.create(text);
  t.match(failed, { status: 'failed', errorCode: 30_008 }, 'the same text as before is another one');
  t.match(await client.messages(failed.sid).fetch(), { status: 'failed' });
  await phone.service.stop();
  await t.rejects(client.messages.list(), { status: 503, code: 20_503 });
});
