// Tools on calls over two instances, and their limits in time: one instance holds the stream, tools come to either.
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { ALICE } from '../../dev-stack/wallets.ts';
import { FAR_END, telephone, telephoneClient } from '../../fixtures/agents/telephone.ts';
import { type ToolResult, toolClient } from '../../fixtures/agents/tool-client.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { TalkingModem } from '../../fixtures/nodes/talking-modem.ts';
import { recoverToken } from '../../fixtures/payments/payer.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig({ hasInstances: true });

/** Its output is what it read: the text as samples. */
const SPEAKS = { speechCommand: 'cat' };
const IDLE_MS = 60_000;
const word = (): Int16Array =>
  Int16Array.from({ length: 8_000 }, (_, index) => Math.round(9_000 * Math.sin(index / 9)));
const refusal = ({ isError, structured }: ToolResult) => (isError ? structured['error'] : 'none');

async function twoInstances(t: Test) {
  const here = await telephone(t, rig, { service: SPEAKS });
  const logged: string[] = [];
  const log = pino({ level: 'error' }, { write: (line) => void logged.push(line) });
  const { url, service } = await rig.start(t, { ...SPEAKS, databaseUrl: here.databaseUrl, log });
  const there = telephoneClient(t, { url, headers: here.headers, number: here.number });
  const tools = {
    here: await toolClient(t, here.url, { headers: here.headers }),
    there: await toolClient(t, url, { headers: here.headers }),
  };
  /** Dialed through the second instance, and answered. */
  const dialed = async () => {
    const before = here.line.medias.length;
    const { structured } = await tools.there.call('dial_call', { phone_number: here.number, to: FAR_END });
    const callId = String(structured['call_id']);
    const media = await until('the media link', () => here.line.medias[before]);
    here.line.answer(callId);
    return { callId, modem: new TalkingModem(t, media) };
  };
  return { here, there, service, tools, dialed, logged, line: here.line };
}

t.test('tools at either instance use the one stream of the call', async (t) => {
  const { dialed, here, line, logged, tools } = await twoInstances(t);
  const { callId, modem } = await dialed();
  modem.say(word());
  const heard = await tools.here.call('listen', { call_id: callId });
  t.match(heard.structured, { state: 'active', is_complete: true });
  t.equal(heard.audio.length, 1, 'heard at the other instance');
  const said = tools.here.call('say', { call_id: callId, text: 'spoken at the other instance' });
  t.match((await said).structured, { is_heard: true });
  t.match(modem.media.heard.toString(), /^spoken at the other instance/);
  t.match((await tools.there.call('say', { call_id: callId, text: 'and here' })).structured, {
    is_heard: true,
  });
  t.equal(line.medias.length, 1, 'the audio never moved');

  const listening = tools.there.call('listen', { call_id: callId, wait_seconds: 2 });
  await until('one tool at a time, wherever', async () => {
    const second = await tools.here.call('listen', { call_id: callId, wait_seconds: 0 });
    return refusal(second) === 'speech_in_progress';
  });
  t.match((await listening).structured, { duration_ms: 0 });

  const abort = new AbortController();
  const waiting = tools.here.call('listen', { call_id: callId, wait_seconds: 50 }, { signal: abort.signal });
  await until('it waits', async () => {
    const second = await tools.there.call('listen', { call_id: callId, wait_seconds: 0 });
    return refusal(second) === 'speech_in_progress';
  });
  abort.abort();
  await t.rejects(waiting);
  await until('the cancellation arrives', async () => {
    const next = await tools.there.call('listen', { call_id: callId, wait_seconds: 0 });
    return refusal(next) === 'none';
  });
  t.same(logged, [], 'a cancellation is no error');

  t.equal(refusal(await tools.here.call('hangup_call', { call_id: callId })), 'none');
  await until('it has ended', () => line.calls.length === 0);
  t.same(here.node.commands('hang_up').length, 1);
});

t.test('a token that is revoked hears no more of a call at the other instance', async (t) => {
  const { dialed, here, tools } = await twoInstances(t);
  const { callId, modem } = await dialed();
  const listening = tools.here.call('listen', { call_id: callId, wait_seconds: 50 });
  await until('it listens', async () => {
    const second = await tools.there.call('listen', { call_id: callId, wait_seconds: 0 });
    return refusal(second) === 'speech_in_progress';
  });
  const { token } = (await (await recoverToken(here.url, ALICE.privateKey)).json()) as { token: string };
  t.equal(refusal(await listening), 'unauthorized');
  modem.say(word());
  const headers = { authorization: `Bearer ${token}` };
  const next = await (await toolClient(t, here.url, { headers })).call('listen', { call_id: callId });
  t.match(next.structured, { is_complete: true, duration_ms: Number });
  t.equal(next.audio.length, 1);
});

t.test('the last words before the end are heard at the other instance, too', async (t) => {
  const { dialed, line, tools } = await twoInstances(t);
  const { callId, modem } = await dialed();
  modem.say(word());
  await until('it is said', () => modem.isSilent);
  const [call] = line.calls;
  if (call) line.end(call, { reason: 'remote_hangup', cause: 16 });
  await until('the media link closes', () => modem.media.closeCode !== undefined);
  const heard = await tools.here.call('listen', { call_id: callId });
  t.match(heard.structured, { state: 'ended' });
  t.equal(heard.audio.length, 1);
  t.equal(refusal(await tools.here.call('listen', { call_id: callId })), 'call_not_found');
});

t.test('a client opens the stream at the other instance: tools are refused at both', async (t) => {
  const { dialed, here, line, tools } = await twoInstances(t);
  const { callId } = await dialed();
  const listening = tools.here.call('listen', { call_id: callId, wait_seconds: 50 });
  await until('it waits', async () => {
    const second = await tools.there.call('listen', { call_id: callId, wait_seconds: 0 });
    return refusal(second) === 'speech_in_progress';
  });
  const socket = await here.stream(callId);
  t.equal(refusal(await listening), 'stream_open');
  await until('its media link', () => line.medias.length === 2);
  for (const client of [tools.here, tools.there])
    t.equal(refusal(await client.call('say', { call_id: callId, text: 'x' })), 'stream_open');
  t.equal(socket.closeCode, undefined);
});

t.test('the instance with the stream stops: the tool may be used again at the other one', async (t) => {
  const { dialed, line, service, tools } = await twoInstances(t);
  const { callId } = await dialed();
  const listening = tools.here.call('listen', { call_id: callId, wait_seconds: 50 });
  await until('it waits', async () => {
    const second = await tools.there.call('listen', { call_id: callId, wait_seconds: 0 });
    return refusal(second) === 'speech_in_progress';
  });
  await service.stop();
  t.match(['restarting', 'unavailable'].includes(String(refusal(await listening))), true);
  const next = tools.here.call('listen', { call_id: callId });
  const modem = new TalkingModem(t, await until('its media link', () => line.medias[1]));
  modem.say(word());
  t.match((await next).structured, { state: 'active', is_complete: true });
});

t.test('a call that rings at the other instance is found and answered', async (t) => {
  const { line, tools } = await twoInstances(t);
  const waiting = tools.there.call('wait_for_call', { wait_seconds: 50 });
  const { call_id: callId } = line.ring();
  t.match((await waiting).structured, { call: { call_id: callId, caller: FAR_END } });
  const said = tools.there.call('say', { call_id: callId, text: 'hello!' });
  const modem = new TalkingModem(t, await until('the media link', () => line.media));
  t.match((await said).structured, { is_heard: true });
  t.match(modem.media.heard.toString(), /^hello!/);
});

t.test('an agent that has gone: the call ends after a minute without tools', async (t) => {
  const clock = new ManualClock(Date.now());
  const phone = await telephone(t, rig, { service: { clock, heartbeatMs: 3_600_000 } });
  const client = await toolClient(t, phone.url, { headers: phone.headers });
  const { structured } = await client.call('dial_call', { phone_number: phone.number, to: FAR_END });
  const callId = String(structured['call_id']);
  await until('the media link', () => phone.line.media);
  phone.line.answer(callId);
  await until('answered', async () => (await phone.calls())[0]?.['state'] === 'active');
  clock.advance(IDLE_MS - 1_000);
  t.equal(refusal(await client.call('listen', { call_id: callId, wait_seconds: 0 })), 'none');
  clock.advance(IDLE_MS - 1_000);
  t.same(phone.node.commands('hang_up'), [], 'each tool begins the minute again');
  clock.advance(2_000);
  await until('hung up', () => phone.node.commands('hang_up').length === 1);
});
