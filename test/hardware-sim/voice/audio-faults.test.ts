// Faults of the voice between modem and host, and the pauses that a Quectel modem asks for.
import t from 'tap';
import { bytesOf, samplesOf } from '#hardware-sim/audio/frame.ts';
import { Tone } from '#hardware-sim/audio/tone.ts';
import { parseFault } from '#hardware-sim/faults/fault-set.ts';
import { request } from '../../fixtures/network/json-request.ts';
import { until } from '../../fixtures/until.ts';
import { callOf, FarEndClient } from '../fixtures/call-terminal.ts';
import { startCallingModem } from '../fixtures/calling-modem.ts';
import { quietTerminal } from '../fixtures/rack.ts';
import { measureTone } from '../fixtures/tone-meter.ts';

const TONE = { audio: 'tone', tone_hz: 1000, level_dbfs: -12 };
const isSilent = (samples: Int16Array): boolean => samples.every((sample) => sample === 0);

t.test('pcm_drift: both directions follow the clock of the modem', async (t) => {
  const { rack, modem, pcm, call } = await startCallingModem(t, TONE);
  // So fast that a few frames show it.
  modem.play(parseFault({ kind: 'pcm_drift', ppm: 50_000 }));
  const id = await call();
  await pcm.receiveSamples(16_000);
  const { body } = await request(`${rack.url}/calls/${id}/frames`);
  const times = (body as { at_ms: number }[]).map(({ at_ms: atMs }) => atMs);
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  // 20 / 1.05 ms; on a busy machine frames come late, and some are lost.
  const frameMs = gaps.sort((one, other) => one - other)[gaps.length >> 1] ?? Number.NaN;
  t.ok(frameMs < 19.6, `${frameMs} ms a frame`);
});

t.test('pcm_jitter: frames are late by random times, and none is missing', async (t) => {
  const { rack, modem, pcm, call } = await startCallingModem(t, TONE);
  modem.play(parseFault({ kind: 'pcm_jitter', ms: 60 }));
  const id = await call();
  const samples = (await pcm.receiveSamples(16_000)).slice(1600);
  t.ok(measureTone(samples, 1000, 8000).sinadDb > 40, 'nothing is lost');
  const { body } = await request(`${rack.url}/calls/${id}/frames`);
  const times = (body as { at_ms: number }[]).map(({ at_ms: atMs }) => atMs);
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  t.ok(Math.max(...gaps) > 35, `longest gap ${Math.max(...gaps)}`);
  t.ok(Math.min(...gaps) < 10, `shortest gap ${Math.min(...gaps)}`);
});

t.test('pcm_byte_shift: after one lost octet samples are noise, in either direction', async (t) => {
  const { rack, modem, pcm, call } = await startCallingModem(t, TONE);
  const tone = new Tone(1000, -12, 8000);
  pcm.answerWith((samples) => tone.next(samples));
  const id = await call();
  const far = await FarEndClient.open(t, rack.url, id);
  await far.hear(6400);
  modem.play(parseFault({ kind: 'pcm_byte_shift', direction: 'to_host' }));
  await until('the loss', () => !modem.faults.has('pcm_byte_shift'));
  await pcm.receive(pcm.bytes.length + 1600);
  t.equal(pcm.bytes.length % 2, 1);
  modem.play(parseFault({ kind: 'pcm_byte_shift', direction: 'from_host' }));
  await until('the loss', () => !modem.faults.has('pcm_byte_shift'));
  far.forget();
  await far.hear(3200);
  t.ok(measureTone((await far.hear(9600)).slice(3200), 1000, 16_000).sinadDb < 10, 'noise');
});

t.test('nmea_in_pcm: sentences among the samples, unless the port is set to none', async (t) => {
  const { modem, terminal, pcm, call } = await startCallingModem(t);
  modem.play(parseFault({ kind: 'nmea_in_pcm', every_ms: 100 }));
  await call();
  await until('a sentence', () => pcm.bytes.includes('$GPGGA'));
  const sentence = /\$(GPGGA,[^*]*)\*([0-9A-F]{2})\r\n/.exec(pcm.bytes.toString('latin1'));
  const sum = [...(sentence?.[1] ?? '')].reduce((total, character) => total ^ character.charCodeAt(0), 0);
  t.equal(Number.parseInt(sentence?.[2] ?? '', 16), sum);
  t.match(await terminal.command('AT+QGPSCFG="outport"'), '"usbnmea"');
  await terminal.command('AT+QGPSCFG="outport","none"');
  pcm.forget();
  await pcm.receive(320 * 20);
  t.notOk(pcm.bytes.subarray(320).includes('$GPGGA'));
});

t.test('nmea_in_pcm without a call: the receiver writes whenever it is on', async (t) => {
  const { modem, terminal, pcm } = await startCallingModem(t);
  modem.play(parseFault({ kind: 'nmea_in_pcm', every_ms: 50 }));
  t.match(await terminal.command('AT+QGPS?'), '+QGPS: 1');
  await until('a sentence', () => pcm.bytes.includes('$GPGGA'));
  modem.clearFaults();
  t.match(await terminal.command('AT+QGPS?'), '+QGPS: 0');
});

t.test('AT+QAUDLOOP: without a call what comes on the port goes back, as long as it is on', async (t) => {
  const { terminal, pcm } = await startCallingModem(t);
  const said = Buffer.from('0123456789'.repeat(32), 'latin1');
  await terminal.command('AT+QPCMV=1,0');
  await terminal.command('AT+QAUDLOOP=1');
  pcm.write(said);
  await until('the same octets', () => pcm.bytes.equals(said));
  await terminal.command('AT+QAUDLOOP=0');
});

t.test('one_way_audio: silence in the direction that was named', async (t) => {
  const { rack, modem, pcm, call } = await startCallingModem(t, TONE);
  const tone = new Tone(500, -12, 8000);
  pcm.answerWith((samples) => tone.next(samples));
  modem.play(parseFault({ kind: 'one_way_audio', silent: 'to_host' }));
  const far = await FarEndClient.open(t, rack.url, await call());
  t.ok(isSilent(await pcm.receiveSamples(3200)));
  t.notOk(isSilent(await far.hear(4800)));
  modem.play(parseFault({ kind: 'one_way_audio', silent: 'from_host' }));
  far.forget();
  pcm.forget();
  t.ok(isSilent((await far.hear(4800)).slice(640)));
  t.notOk(isSilent(await pcm.receiveSamples(1600)));
});

t.test('pcm_stall: the modem writes nothing, or reads nothing', async (t) => {
  const { rack, modem, pcm, call } = await startCallingModem(t, TONE, { makes: ['generic'] });
  const id = await call();
  await pcm.receive(640);
  modem.play(parseFault({ kind: 'pcm_stall', direction: 'to_host' }));
  const { frames = 0 } = (await callOf(rack.url, id)).destination.far_end ?? {};
  pcm.forget();
  const played = async () => ((await callOf(rack.url, id)).destination.far_end?.frames ?? 0) - frames;
  await until('ten frames of the network', async () => (await played()) > 10);
  t.ok(pcm.bytes.length <= 640, `${pcm.bytes.length} octets were under way`);
  modem.clearFaults();
  await pcm.receive(pcm.bytes.length + 640);
  modem.play(parseFault({ kind: 'pcm_stall', direction: 'from_host' }));
  let taken = 0;
  // The terminal and one read in flight hold this much; then there is no room.
  await until('a full terminal', () => {
    const written = pcm.write(Buffer.alloc(4096));
    taken += written;
    return written === 0;
  });
  t.ok(taken < 256 * 1024, `${taken} octets`);
  modem.clearFaults();
  await until('room', () => pcm.write(Buffer.alloc(320)) === 320);
});

t.test('pcm_refused: so many tries, then it is taken', async (t) => {
  const { modem, terminal, call } = await startCallingModem(t, {}, { makes: ['simcom'] });
  await terminal.command('AT+CMEE=1');
  modem.play(parseFault({ kind: 'pcm_refused', count: 2 }));
  await t.rejects(call(), /CME ERROR: 3/);
  t.match(await terminal.command('AT+CPCMREG=1'), '+CME ERROR: 3');
  t.match(await terminal.command('AT+CPCMREG=1;+CPCMREG?'), '+CPCMREG: 1');
});

t.test('second_call_silent: from the second call on, until a restart', async (t) => {
  const { rack, modem, terminal, pcm, call } = await startCallingModem(t, TONE, {
    makes: ['simcom'],
    bootMs: 0,
  });
  modem.play(parseFault({ kind: 'second_call_silent' }));
  await call();
  t.notOk(isSilent(await pcm.receiveSamples(3200)));
  await terminal.command('AT+CHUP');
  await t.rejects(call(), /ERROR/, 'the first try is refused: the only sign');
  await terminal.command('AT+CPCMREG=1');
  pcm.forget();
  t.ok(isSilent((await pcm.receiveSamples(3200)).slice(640)));
  await terminal.command('AT+CHUP');
  await terminal.command('AT+CFUN=4;+CFUN=1');
  await t.rejects(call(), /ERROR/, 'radio off and on is no cure');
  await terminal.command('AT+CRESET');
  await terminal.expectHangUp();
  await until('the modem', () => modem.state === 'registered');
  const again = await quietTerminal(t, modem.portPaths.at);
  await again.command('ATD+15550001111;');
  await again.expect('VOICE CALL: BEGIN');
  t.match(await again.command('AT+CPCMREG=1'), 'OK');
  t.match((await callOf(rack.url, 4)).origin.audio, { route: 'serial' });
});

t.test('wrong_rate: other samples than the read-back says', async (t) => {
  const { modem, terminal, pcm, call } = await startCallingModem(t, TONE, { makes: ['simcom'] });
  await terminal.command('AT+CPCMBANDWIDTH=1,1');
  modem.play(parseFault({ kind: 'wrong_rate', sample_rate_hz: 16_000 }));
  await call();
  t.match(await terminal.command('AT+CPCMBANDWIDTH?'), '+CPCMBANDWIDTH: 1,1');
  const samples = (await pcm.receiveSamples(8000)).slice(1600);
  t.ok(measureTone(samples, 1000, 16_000).sinadDb > 40, 'a tone at 16 kHz');
  t.ok(measureTone(samples, 1000, 8000).sinadDb < 0, 'none at 8 kHz');
});

t.test(
  'a Quectel modem asks for a pause when its buffer is full, and drops what comes all the same',
  async (t) => {
    const { rack, terminal, pcm, call } = await startCallingModem(t);
    const id = await call();
    const second = bytesOf(new Tone(1000, -12, 8000).next(8000));
    let written = 0;
    await until('a second to be written', () => {
      written += pcm.write(second.subarray(written));
      return written === second.length;
    });
    await terminal.expect('\r\n+QPCMV: 0,0\r\n');
    await terminal.expect('\r\n+QPCMV: 1,0\r\n');
    const { audio } = (await callOf(rack.url, id)).origin;
    t.ok(
      (audio?.bytes_dropped ?? 0) > 0 && (audio?.bytes_dropped ?? 0) % 2 === 0,
      `${audio?.bytes_dropped} dropped`,
    );
    await until('underruns', async () => ((await callOf(rack.url, id)).origin.audio?.underruns ?? 0) > 0);
  },
);

t.test('+CMUT=1 has the far end hear nothing', async (t) => {
  const { rack, terminal, pcm, call } = await startCallingModem(t);
  const tone = new Tone(500, -12, 8000);
  pcm.answerWith((samples) => tone.next(samples));
  await terminal.command('AT+CMUT=1');
  const far = await FarEndClient.open(t, rack.url, await call());
  t.ok(isSilent(await far.hear(4800)));
  t.ok(isSilent(samplesOf(await pcm.receive(640))));
});
