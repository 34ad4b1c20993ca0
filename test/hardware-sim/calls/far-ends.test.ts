// The behavior of numbers that are not modems in a call, as a modem, the record and the events see it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { request } from '../../fixtures/network/json-request.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';
import { callOf, putFarEnd } from '../fixtures/call-terminal.ts';
import { EventSource } from '../fixtures/event-source.ts';
import { post } from '../fixtures/http.ts';
import { quietTerminal, startModem, startRack } from '../fixtures/rack.ts';

const FAR = '+15550001111';

t.test('an unconfigured number answers at once and is silent', async (t) => {
  const { rack, terminal } = await startModem(t);
  const { body } = await request(`${rack.url}/subscribers/${FAR}`);
  t.match(body, { answer: 'auto', after_ms: 0, audio: 'silence' });
  const events = await EventSource.open(t, rack.url);
  await terminal.command(`ATD${FAR};`);
  const times: unknown[] = [];
  for (const kind of ['call_dialling', 'call_alerting', 'call_answered']) {
    const { data } = await events.next(kind);
    t.match(data, { id: 1, from: '+12065550100', to: FAR, destination_imei: null });
    times.push(data['at_ms']);
  }
  t.same([...times].sort(), times, 'on one clock, in order');
  await terminal.command('ATH');
  const { data } = await events.next('call_ended');
  t.match(data, { id: 1, cause: 16, ended_by: 'origin' });
  t.match(await callOf(rack.url, 1), { state: 'ended', cause: 16, ended_by: 'origin' });
});

const ENDS: [name: string, settings: object, result: string, record: object][] = [
  ['busy', { answer: 'busy' }, 'BUSY', { cause: 17, ended_by: 'destination', alerting_at_ms: null }],
  ['reject', { answer: 'reject' }, 'NO CARRIER', { cause: 21, ended_by: 'destination' }],
  ['reject by the network', { answer: 'reject', cause: 38 }, 'NO CARRIER', { cause: 38 }],
  ['no_answer', { answer: 'no_answer', no_answer_ms: 40 }, 'NO ANSWER', { cause: 19, ended_by: 'network' }],
  ['reject after ringing', { answer: 'reject', alerting_ms: 1, after_ms: 5 }, 'NO CARRIER', { cause: 21 }],
  ['hang up', { hangup_after_ms: 30, cause: 41 }, 'NO CARRIER', { cause: 41, ended_by: 'destination' }],
];

for (const [name, settings, result, record] of ENDS) {
  t.test(`${name}: the modem says ${result}, and +CEER why`, async (t) => {
    const { rack, terminal } = await startModem(t);
    await putFarEnd(rack.url, FAR, settings);
    t.equal(await terminal.command(`ATD${FAR};`), '\r\nOK\r\n');
    t.equal(await terminal.expect(/\r\n(BUSY|NO ANSWER|NO CARRIER)\r\n/), `\r\n${result}\r\n`);
    const call = await callOf(rack.url, 1);
    t.match(call, { state: 'ended', ...record });
    t.match(await terminal.command('AT+CEER'), `+CEER: 5,${call.cause}\r\n`);
  });
}

t.test('the times of a call are as configured', async (t) => {
  const { rack, terminal } = await startModem(t);
  await putFarEnd(rack.url, FAR, { alerting_ms: 60, after_ms: 80, hangup_after_ms: 100 });
  await terminal.command(`ATD${FAR};`);
  await terminal.expect('NO CARRIER');
  const { dialling_at_ms, alerting_at_ms, answered_at_ms, ended_at_ms } = await callOf(rack.url, 1);
  const times = [dialling_at_ms, Number(alerting_at_ms), Number(answered_at_ms), Number(ended_at_ms)];
  const steps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  // Timers count whole milliseconds on another clock: one may be missing.
  for (const [index, least] of [60, 80, 100].entries()) t.ok((steps[index] ?? 0) >= least - 2, String(steps));
});

t.test('with +COLP=1 the OK waits for the answer, or the final result comes instead', async (t) => {
  const { rack, terminal } = await startModem(t);
  await putFarEnd(rack.url, FAR, { after_ms: 40 });
  await terminal.command('AT+COLP=1;+QINDCFG="ccinfo",1,0');
  const said = await terminal.command(`ATD${FAR};`);
  t.match(said, /"ccinfo",1,0,0,.*\r\n\+COLP: "\+15550001111",145\r\n\r\nOK\r\n$/s);
  await terminal.command('AT+CHUP');
  await terminal.expect('-1,0,0');
  await putFarEnd(rack.url, FAR, { answer: 'busy' });
  terminal.write(`ATD${FAR};\r`);
  t.notMatch(await terminal.expect('\r\nBUSY\r\n'), /OK\r\n\r\n\+QIND.*,2,/s);
});

t.test('a call is recorded as a WAV of what the far end hears', async (t) => {
  const folder = temporaryFolder(t);
  const { rack, terminal } = await startModem(t);
  await putFarEnd(rack.url, FAR, { record: join(folder, 'call-{id}.wav') });
  await terminal.command(`ATD${FAR};`);
  await until(
    'half a second',
    async () => ((await callOf(rack.url, 1)).destination.far_end?.frames ?? 0) >= 25,
  );
  await terminal.command('ATH');
  const wav = readFileSync(join(folder, 'call-1.wav'));
  const frames = (await callOf(rack.url, 1)).destination.far_end?.frames ?? 0;
  t.equal(wav.toString('latin1', 0, 4), 'RIFF');
  t.equal(wav.readUInt32LE(24), 16_000);
  t.equal(wav.readUInt32LE(40), frames * 640);
  t.equal(wav.length, 44 + frames * 640);
});

t.test('impossible requests are refused with a reason', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  const put = (settings: unknown) =>
    request(`${rack.url}/subscribers/${FAR}`, { method: 'PUT', body: JSON.stringify(settings) });
  t.match(await put({ answer: 'perhaps' }), { status: 400, body: { error: 'invalid_request' } });
  t.match(await put({ audio: 'wav' }), { status: 400, body: { error: 'invalid_request' } });
  t.match(await put({ audio: 'wav', wav: '/nowhere.wav' }), { status: 400, body: { error: 'invalid_wav' } });
  t.match(await put({ audio: 'wav', wav: 'UklGRg==' }), { status: 400, body: { error: 'invalid_wav' } });
  t.match(await put({ record: 'relative.wav' }), { status: 400 });
  const ring = (to: string) => post(`${rack.url}/calls`, { from: FAR, to });
  t.match(await ring('+15550009999'), { status: 404, body: { error: 'unknown_number' } });
  t.match(await request(`${rack.url}/calls/7`), { status: 404, body: { error: 'unknown_call' } });
  t.match(await request(`${rack.url}/calls/1/dtmf`, { method: 'POST', body: '{"digits":"1"}' }), {
    status: 404,
  });
  t.match(await ring(modem.number), { status: 202, body: { id: 1 } });
  t.match(await ring(modem.number), { status: 409, body: { error: 'line_busy' } });
  t.match(await post(`${rack.url}/calls/1/dtmf`, { digits: '1' }), {
    status: 409,
    body: { error: 'no_far_end' },
  });
  t.match(await request(`${rack.url}/calls/1?cause=200`, { method: 'DELETE' }), { status: 400 });
  await terminal.command('AT+CFUN=4');
  t.match(await ring(modem.number), { status: 409, body: { error: 'unreachable' } });
  const { body } = await request(`${rack.url}/calls?since=1`);
  t.match(body, [
    { id: 2, cause: 17 },
    { id: 3, cause: 20 },
  ]);
});

t.test('records are kept up to a number', async (t) => {
  const { rack, terminal } = await startModem(t, { keepCalls: 3 });
  await putFarEnd(rack.url, FAR, { answer: 'busy' });
  for (let count = 0; count < 5; count++) {
    await terminal.command(`ATD${FAR};`);
    await terminal.expect('BUSY');
  }
  const { body } = await request(`${rack.url}/calls`);
  t.same(
    (body as { id: number }[]).map(({ id }) => id),
    [3, 4, 5],
  );
});

t.test('keys pressed on one modem are announced by another', async (t) => {
  const rack = await startRack(t, { makes: ['generic', 'simcom'] });
  const [first, second] = rack.modems;
  if (first === undefined || second === undefined) throw new Error('no modems');
  const one = await quietTerminal(t, first.portPaths.at);
  const other = await quietTerminal(t, second.portPaths.at);
  await other.command('AT+DDET=1');
  await one.command(`ATD${second.number};`);
  await other.expect('RING\r\n');
  await other.command('ATA');
  await one.command('AT+VTS=7');
  await other.expect('\r\n+RXDTMF: 7\r\n');
});

t.test('an unanswered modem rings until the network gives up, or the caller does', async (t) => {
  const unanswered = await startModem(t, { noAnswerMs: 50 });
  await post(`${unanswered.rack.url}/calls`, { from: FAR, to: unanswered.modem.number });
  await unanswered.terminal.expect('\r\nNO CARRIER\r\n');
  t.match(await callOf(unanswered.rack.url, 1), { cause: 19, ended_by: 'network', answered_at_ms: null });
  const { rack, modem, terminal } = await startModem(t);
  await post(`${rack.url}/calls`, { from: FAR, to: modem.number, far_end: { hangup_after_ms: 30 } });
  await terminal.expect('RING');
  await terminal.command('ATA');
  await terminal.expect('\r\nNO CARRIER\r\n');
  t.match(await callOf(rack.url, 1), { cause: 16, ended_by: 'origin' });
  await post(`${rack.url}/calls`, { from: FAR, to: modem.number });
  await terminal.expect('RING');
  await terminal.command('AT+CHUP');
  t.match(await callOf(rack.url, 2), { cause: 21, ended_by: 'destination' });
});

t.test('the frames of old calls are forgotten, their counters are not', async (t) => {
  const { rack, terminal } = await startModem(t, { makes: ['generic'] });
  await terminal.command(`ATD${FAR};`);
  const frames = async () => (await request(`${rack.url}/calls/1/frames`)).body as unknown[];
  await until('frames', async () => (await frames()).length > 2);
  await terminal.command('ATH');
  t.ok((await frames()).length > 2);
  await putFarEnd(rack.url, FAR, { answer: 'busy' });
  for (let count = 0; count < 32; count++) {
    await terminal.command(`ATD${FAR};`);
    await terminal.expect('BUSY\r\n');
  }
  t.same(await frames(), []);
  t.ok(((await callOf(rack.url, 1)).origin.audio?.frames_to_host ?? 0) > 2);
});
