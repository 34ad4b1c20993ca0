// Calls with Twilio's own library: dialed with TwiML, answered, reported, hung up and listed.
import t from 'tap';
import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from '#shared/voice/media.ts';
import { botServer } from '../../../fixtures/agents/bot-server.ts';
import { FAR_END } from '../../../fixtures/agents/telephone.ts';
import { twilioApp } from '../../../fixtures/agents/twilio-app.ts';
import { AUTH_TOKEN, twilioRest } from '../../../fixtures/agents/twilio-rest.ts';
import { twilio } from '../../../fixtures/agents/twilio-sdk.ts';
import { tone } from '../../../fixtures/audio/tone.ts';
import { ScriptedNode } from '../../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { until } from '../../../fixtures/until.ts';

const rig = await createRig();

const connectTo = (url: string): string => {
  const response = new twilio.twiml.VoiceResponse();
  response.connect().stream({ url });
  return response.toString();
};

const EVENTS = ['initiated', 'ringing', 'answered', 'completed'];

t.test(
  'a call with a URL: the app is asked once it is answered, hears and is heard, and the call is ended',
  async (t) => {
    const { client, phone, api } = await twilioRest(t, rig);
    const bots = await botServer(t);
    const app = await twilioApp(t, AUTH_TOKEN, ({ path }) => ({
      text: path === '/voice' ? connectTo(bots.url) : '',
    }));
    const call = await client.calls.create({
      from: phone.number,
      to: FAR_END,
      url: `${app.url}/voice`,
      statusCallback: `${app.url}/status`,
      statusCallbackEvent: EVENTS,
    });
    t.match(call, {
      sid: /^CA[0-9a-f]{32}$/,
      direction: 'outbound-api',
      status: 'ringing',
      from: phone.number,
      to: FAR_END,
    });
    t.equal(app.to('/voice').length, 0);
    const [line] = phone.line.calls;
    phone.line.answer(String(line?.call_id));
    const bot = await until('the bot', () => bots.bots[0]);
    await until('start', () => bot.of({ event: 'start' }).length === 1);
    t.match(bot.of({ event: 'start' })[0]?.['start'], { callSid: call.sid, accountSid: api.accountSid });
    t.match(app.to('/voice'), [
      {
        isSigned: true,
        fields: { CallSid: call.sid, AccountSid: api.accountSid, CallStatus: 'in-progress', To: FAR_END },
      },
    ]);
    const media = await until('the media link', () => phone.line.media);
    media.capture();
    await until('it hears', () => bot.of({ event: 'media' }).length > 0);
    bot.say({ event: 'media', media: { payload: Buffer.alloc(160, 0x10).toString('base64') } });
    await until('it is heard', () => {
      media.capture();
      return media.heard.some((octet) => octet !== 0);
    });
    t.match(await client.calls(call.sid).fetch(), { status: 'in-progress', startTime: Date });
    t.match(await client.calls(call.sid).update({ status: 'completed' }), { status: 'completed' });
    t.equal(await bot.closed(), 1000);
    t.match(bot.texts.at(-1), { event: 'stop', stop: { callSid: call.sid, accountSid: api.accountSid } });
    await until('the callbacks', () => app.to('/status').length === 4);
    t.same(
      app.to('/status').map(({ fields }) => [fields['CallStatus'], fields['SequenceNumber']]),
      [
        ['initiated', '0'],
        ['ringing', '1'],
        ['in-progress', '2'],
        ['completed', '3'],
      ],
    );
    t.same(
      app.requests.slice(0, 2).map(({ fields }) => fields['CallStatus']),
      ['initiated', 'ringing'],
      'before the app is asked for TwiML',
    );
    t.ok(app.requests.every(({ isSigned }) => isSigned));
    t.match(app.to('/status')[3]?.fields, { CallSid: call.sid, CallDuration: /^\d+$/, To: FAR_END });
    t.match(await client.calls.list(), [
      { sid: call.sid, status: 'completed', duration: /^\d+$/, endTime: Date },
    ]);
    await t.rejects(client.calls(call.sid).update({ status: 'completed' }), {
      status: 404,
      code: 20_404,
      message: /it is over/,
    });
    const hangup = { twiml: '<Response><Hangup/></Response>' };
    await t.rejects(client.calls(call.sid).update(hangup), { status: 400, code: 21_220 });
  },
);

t.test(
  'a machine answers: the callbacks, the call and the list say so; then the call is deleted',
  async (t) => {
    const { client, phone } = await twilioRest(t, rig);
    const bots = await botServer(t);
    const app = await twilioApp(t, AUTH_TOKEN);
    const call = await client.calls.create({
      from: phone.number,
      to: FAR_END,
      twiml: connectTo(bots.url),
      statusCallback: `${app.url}/status`,
      machineDetection: 'Enable',
      asyncAmd: 'true',
      asyncAmdStatusCallback: `${app.url}/amd`,
    });
    t.equal(call.answeredBy, null);
    phone.line.answer(String(phone.line.calls[0]?.call_id));
    const media = await until('the media link', () => phone.line.media);
    const greeting = [
      tone({ hz: 1_000, rateHz: SAMPLE_RATE_HZ, seconds: 0.5 }),
      new Int16Array(8 * SAMPLE_RATE_HZ),
    ];
    for (const samples of greeting)
      for (let at = 0; at + FRAME_SAMPLES <= samples.length; at += FRAME_SAMPLES)
        media.capture(new Uint8Array(samples.slice(at, at + FRAME_SAMPLES).buffer));
    const [judged] = await until('the judgement', () =>
      app.to('/amd').length > 0 ? app.to('/amd') : undefined,
    );
    t.match(judged, {
      isSigned: true,
      fields: { CallSid: call.sid, AnsweredBy: 'machine_start', MachineDetectionDuration: /^\d+$/ },
    });
    await t.rejects(client.calls(call.sid).remove(), { status: 409, code: 20_009 });
    await client.calls(call.sid).update({ status: 'completed' });
    await until('the callback', () => app.to('/status').length === 1);
    t.match(app.to('/status')[0]?.fields, { CallStatus: 'completed', AnsweredBy: 'machine_start' });
    t.equal((await client.calls(call.sid).fetch()).answeredBy, 'machine_start');
    t.equal((await client.calls.list())[0]?.answeredBy, 'machine_start');
    t.equal(await client.calls(call.sid).remove(), true);
    t.same(await client.calls.list(), []);
    await t.rejects(client.calls(call.sid).fetch(), { status: 404, code: 20_404 });
    await t.rejects(client.calls(call.sid).remove(), { status: 404, code: 20_404 });
    await t.rejects(client.calls(call.sid).update({ status: 'completed' }), { status: 404, code: 20_404 });
    const later = { from: phone.number, to: FAR_END, twiml: connectTo(bots.url) };
    await t.rejects(client.calls.create({ ...later, machineDetection: 'DetectMessageEnd' }), {
      status: 400,
      code: 20_001,
    });
  },
);

t.test('a call with TwiML that is never answered: hung up by the app, or by its time limit', async (t) => {
  const { client, phone } = await twilioRest(t, rig);
  const app = await twilioApp(t, AUTH_TOKEN);
  const parts = { from: phone.number, to: FAR_END, statusCallback: `${app.url}/status` };
  const canceled = await client.calls.create({ ...parts, twiml: connectTo('ws://127.0.0.1:9/ws') });
  await t.rejects(
    client.calls.create({ ...parts, url: app.url }),
    { status: 429, code: 20_429 },
    'the line is busy',
  );
  await client.calls(canceled.sid).update({ twiml: '<Response><Hangup/></Response>' });
  await until('its end', () => app.requests.length === 1);
  const missed = await client.calls.create({ ...parts, twiml: connectTo('ws://127.0.0.1:9/ws'), timeout: 1 });
  await until('its end', () => app.requests.length === 2);
  t.same(
    app.requests.map(({ fields }) => [fields['CallSid'], fields['CallStatus'], fields['CallDuration']]),
    [
      [canceled.sid, 'canceled', '0'],
      [missed.sid, 'no-answer', '0'],
    ],
  );
  t.equal(phone.node.commands('hang_up').length, 2);
});

t.test('a far end that is slow, busy, or does not exist; an answer that comes first', async (t) => {
  const { client, phone } = await twilioRest(t, rig);
  const app = await twilioApp(t, AUTH_TOKEN);
  const parts = { from: phone.number, to: FAR_END, twiml: '<Response><Hangup/></Response>' };
  phone.line.dialled = () => ({ status: 'ended', reason: 'busy', cause: 17 });
  t.match(await client.calls.create(parts), { status: 'busy' });
  phone.line.dialled = () => undefined;
  const slow = await client.calls.create({ ...parts, statusCallback: app.url, statusCallbackEvent: EVENTS });
  t.equal(slow.status, 'queued');
  t.same(
    (await client.calls.list({ status: 'queued' })).map(({ sid }) => sid),
    [slow.sid],
    'its id stays the same',
  );
  await client.calls(slow.sid).update({ status: 'canceled' });
  const command = phone.node.commands('dial').at(-1) ?? t.fail('it was dialed');
  if (typeof command !== 'object') return;
  const dialed = {
    iccid: String((command.params as { iccid: string }).iccid),
    call_id: String(command.id),
  };
  const at = new Date().toISOString();
  const common = {
    ...dialed,
    direction: 'outbound',
    peer: FAR_END,
    started_at: at,
    answered_at: null,
  } as const;
  phone.line.report({ ...common, state: 'ringing' });
  phone.node.send({ type: 'result', id: String(command.id), ok: true, result: { status: 'ringing' } });
  await until('it is hung up as soon as it rings', () => phone.node.commands('hang_up').length === 1);
  await until('the callbacks', () => app.requests.length === 3);
  t.same(
    app.requests.map(({ fields }) => fields['CallStatus']),
    ['initiated', 'ringing', 'canceled'],
  );
  const late = await client.calls.create({ ...parts, statusCallback: `${app.url}/late` });
  t.equal(late.status, 'queued');
  const id = String(phone.node.commands('dial').at(-1)?.id);
  phone.node.send({ type: 'refusal', id, code: 'line_busy', message: 'the line has a call' });
  await until('the callback of a late refusal', () => app.to('/late').length === 1);
  t.match(app.to('/late'), [{ fields: { CallSid: late.sid, CallStatus: 'failed' } }]);
  // The far end answers before the service has answered the request.
  phone.line.dialled = () => ({ status: 'active' });
  phone.line.reportsByItself = true;
  const quick = await client.calls.create(parts);
  phone.line.answer(String(phone.node.commands('dial').at(-1)?.id));
  await until(
    'its TwiML ends it',
    async () => (await client.calls(quick.sid).fetch()).status === 'completed',
  );
});

t.test('an app that fails ends its call, with the reason', async (t) => {
  const { client, phone, notes } = await twilioRest(t, rig);
  const app = await twilioApp(t, AUTH_TOKEN, () => ({ status: 500, text: '' }));
  const call = await client.calls.create({ from: phone.number, to: FAR_END, url: `${app.url}/voice` });
  phone.line.answer(String(phone.line.calls[0]?.call_id));
  await until('hung up', () => phone.node.commands('hang_up').length === 1);
  await until('the words', () => notes.some((words) => words.startsWith(`${call.sid}: `)));
  t.match(notes.join('\n'), /\/voice answered with status 500/);
  await until('its end', async () => (await client.calls(call.sid).fetch()).status === 'completed');
});

t.test('an answer during a restart of the service is found later, and the call gets its bot', async (t) => {
  const { client, phone } = await twilioRest(t, rig);
  const bots = await botServer(t);
  const call = await client.calls.create({ from: phone.number, to: FAR_END, twiml: connectTo(bots.url) });
  t.equal(call.status, 'ringing');
  const [line] = phone.line.calls;
  await phone.service.stop();
  await phone.node.drop();
  phone.line.answer(String(line?.call_id));
  const again = await rig.start(t, {
    databaseUrl: phone.databaseUrl,
    port: Number(new URL(phone.url).port),
  });
  phone.line.node = await ScriptedNode.connect(again.url, {
    journalId: 'journal-1',
    onCommand: phone.line.onCommand,
    calls: phone.line.calls,
  });
  t.teardown(() => phone.line.node?.drop());
  const bot = await until('the bot', () => bots.bots[0], 30_000);
  await until('start', () => bot.of({ event: 'start' }).length === 1);
  t.match(await client.calls(call.sid).fetch(), { status: 'in-progress' });
  phone.line.end(phone.line.calls[0] as never, { reason: 'remote_hangup', cause: 16 });
  await until('its end', async () => (await client.calls(call.sid).fetch()).status === 'completed');
});

t.test('an inbound call is in the list, and its id is that of its bot', async (t) => {
  const { client, phone, api } = await twilioRest(t, rig);
  const { call_id: callId } = phone.line.ring();
  const { callSid } = api.nameCall(callId);
  await until('it is listed', async () => (await client.calls.list()).length === 1);
  t.match(await client.calls.list(), [
    { sid: callSid, direction: 'inbound', from: FAR_END, status: 'ringing' },
  ]);
  t.match(await client.calls(callId).fetch(), { sid: callSid, status: 'ringing' }, 'the id of the service');
  t.match(await client.calls(callSid).update({ status: 'completed' }), { status: 'no-answer' });
  t.match(await client.calls(callSid).fetch(), { status: 'no-answer' });
});

t.test('refusals have Twilio’s codes', async (t) => {
  const { client, phone } = await twilioRest(t, rig);
  const call = { from: phone.number, to: FAR_END, url: 'http://127.0.0.1:9/' };
  const refused: Array<[Record<string, unknown>, number]> = [
    [{ ...call, to: '' }, 21_201],
    [{ ...call, to: '911' }, 21_211],
    [{ ...call, to: '+442079460000' }, 21_215],
    [{ ...call, from: '+13105550123' }, 21_210],
    [{ ...call, from: '' }, 21_213],
    [{ ...call, url: undefined }, 21_205],
    [{ ...call, url: 'ftp://example.org' }, 21_205],
    [{ ...call, url: undefined, twiml: '<Response><Say>hello</Say></Response>' }, 12_100],
    [{ ...call, statusCallback: 'x' }, 21_609],
    [{ ...call, statusCallbackEvent: ['hello'] }, 21_626],
    [{ ...call, record: true }, 20_001],
    [{ ...call, timeout: 100_000 }, 20_001],
  ];
  for (const [options, code] of refused)
    await t.rejects(client.calls.create(options), { status: 400, code }, JSON.stringify(options));
  t.equal(phone.node.commands('dial').length, 0);
  await t.rejects(client.calls(`CA${'0'.repeat(32)}`).fetch(), { status: 404, code: 20_404 });
  await t.rejects(client.calls(`CA${'0'.repeat(32)}`).update({ status: 'completed' }), { code: 20_404 });
  await t.rejects(client.calls('call_x').update({ url: 'http://127.0.0.1:9/' }), { code: 20_001 });
});
