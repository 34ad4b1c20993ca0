// Voice between a modem and its host: tones both ways, rates, when it is on, and what is counted.
import t from 'tap';
import { Tone } from '#hardware-sim/audio/tone.ts';
import type { MakeName } from '#hardware-sim/makes/make.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { request } from '../../fixtures/network/json-request.ts';
import { undisturbed } from '../../fixtures/undisturbed.ts';
import { until } from '../../fixtures/until.ts';
import { callOf, FarEndClient, putFarEnd } from '../fixtures/call-terminal.ts';
import { FAR, startCallingModem } from '../fixtures/calling-modem.ts';
import { post } from '../fixtures/http.ts';
import { PcmPort } from '../fixtures/pcm-port.ts';
import { quietTerminal, startModem, startRack } from '../fixtures/rack.ts';
import { measureTone, medianTone } from '../fixtures/tone-meter.ts';

const CASES: [make: MakeName, rateHz: number, options: object][] = [
  ['quectel', 8000, {}],
  ['quectel', 16_000, { pcmRateHz: 16_000 }],
  ['simcom', 16_000, {}],
  ['simcom', 8000, { isVolte: false }],
  ['huawei', 8000, {}],
  ['huawei-e303', 8000, {}],
  ['generic', 8000, {}],
];

for (const [make, rateHz, options] of CASES) {
  t.test(`${make} at ${rateHz} Hz: 1 kHz goes both ways within 0.5 dB, 40 dB above all else`, async (t) => {
    const farEnd = { audio: 'tone', tone_hz: 1000, level_dbfs: -12 };
    const { rack, pcm, call } = await startCallingModem(t, farEnd, { makes: [make], ...options });
    const tone = new Tone(1000, -20, rateHz);
    pcm.answerWith((samples) => tone.next(samples));
    const id = await call();
    const far = await FarEndClient.open(t, rack.url, id);
    // The silence in front of the tone, and of the filters, comes first.
    const received = (await pcm.receiveSamples(rateHz)).slice(rateHz / 5);
    const down = medianTone(received, 1000, rateHz);
    t.ok(Math.abs(down.levelDbfs + 12) < 0.5, `to the host: ${down.levelDbfs} dBFS`);
    t.ok(down.sinadDb > 40, `to the host: ${down.sinadDb} dB`);
    const up = medianTone(await far.hear(16_000, 4800), 1000, 16_000);
    t.ok(Math.abs(up.levelDbfs + 20) < 0.5, `from the host: ${up.levelDbfs} dBFS`);
    t.ok(up.sinadDb > 40, `from the host: ${up.sinadDb} dB`);
    const { origin } = await callOf(rack.url, id);
    t.match(origin.audio, { route: 'serial', sample_rate_hz: rateHz, bytes_dropped: 0 });
  });
}

t.test('a client says what the far end says, and hears what the modem says', async (t) => {
  const { rack, pcm, call } = await startCallingModem(t);
  const id = await call();
  const far = await FarEndClient.open(t, rack.url, id);
  await pcm.receive(3200);
  pcm.forget();
  far.say(new Tone(400, -10).next(16_000));
  const { levelDbfs, sinadDb } = measureTone((await pcm.receiveSound(4800)).slice(800), 400, 8000);
  t.ok(Math.abs(levelDbfs + 10) < 0.5, `level ${levelDbfs}`);
  t.ok(sinadDb > 40, `SINAD ${sinadDb}`);
  // More than two seconds ahead is dropped.
  for (let count = 0; count < 4; count++) far.say(new Int16Array(16_000));
  await until('drops', async () => {
    const { far_end: view } = (await callOf(rack.url, id)).destination;
    return (view?.mouth_samples_dropped ?? 0) > 0;
  });
  await request(`${rack.url}/calls/${id}?cause=16`, { method: 'DELETE' });
  t.equal(await far.closed, 1000);
});

t.test('half a sample and text end the connection; there is one far end at a time', async (t) => {
  const { rack, call } = await startCallingModem(t);
  const id = await call();
  const far = await FarEndClient.open(t, rack.url, id);
  await t.rejects(FarEndClient.open(t, rack.url, id), /409/);
  await t.rejects(FarEndClient.open(t, rack.url, 99), /404/);
  far.sendText('hello');
  t.equal(await far.closed, 1003);
});

t.test('an echo comes back after its delay', async (t) => {
  const { rack, pcm, call } = await startCallingModem(t, { audio: 'echo', delay_ms: 200 });
  let written = 0;
  // Silence for 100 ms, then a tone.
  const tone = new Tone(1000, -10, 8000);
  pcm.answerWith((samples) => {
    written += samples;
    return written <= 800 ? new Int16Array(samples) : tone.next(samples);
  });
  const id = await call();
  await pcm.receiveSamples(8000);
  type Frame = { at_ms: number; peak: number };
  const framesOf = async (direction: string): Promise<Frame[]> => {
    const { body } = await request(`${rack.url}/calls/${id}/frames?direction=${direction}`);
    return body as Frame[];
  };
  const saidAtMs = (await framesOf('from_host')).find(({ peak }) => peak > 1000)?.at_ms ?? Number.NaN;
  const heard = await framesOf('to_host');
  const before = heard.filter(({ at_ms: atMs }) => atMs < saidAtMs).length;
  // In frames, which a late clock does not change; one more or less for the filters and where the tone begins.
  const delay = heard.findIndex(({ peak }) => peak > 1000) - before;
  t.ok(Math.abs(delay - 10) <= 1, `${delay} frames`);
});

t.test('a WAV is played from its beginning, from the file or from the request', async (t) => {
  // Far longer than from the answer to the first sample that the host hears.
  const samples = new Tone(800, -10, 8000).next(80_000);
  const wav = Buffer.alloc(44 + samples.length * 2);
  wav.write('RIFF', 0);
  wav.write('WAVEfmt ', 8);
  wav.writeUInt32LE(16, 16);
  for (const [offset, value] of [
    [20, 1],
    [22, 1],
    [32, 2],
    [34, 16],
  ] as const)
    wav.writeUInt16LE(value, offset);
  wav.writeUInt32LE(8000, 24);
  wav.write('data', 36);
  wav.writeUInt32LE(samples.length * 2, 40);
  for (const [index, sample] of samples.entries()) wav.writeInt16LE(sample, 44 + index * 2);
  const { pcm, call } = await startCallingModem(t, { audio: 'wav', wav: wav.toString('base64') });
  await call();
  const { levelDbfs } = measureTone((await pcm.receiveSound(3200)).slice(1600), 800, 8000);
  t.ok(Math.abs(levelDbfs + 10) < 0.5, `level ${levelDbfs}`);
});

t.test('keys of the far end are dual tones as in Q.23', async (t) => {
  const { rack, pcm, call } = await startCallingModem(t);
  const id = await call();
  await post(`${rack.url}/calls/${id}/dtmf`, { digits: '5', tone_ms: 400 });
  const samples = (await pcm.receiveSound(2800)).slice(800);
  t.ok(measureTone(samples, 770, 8000).levelDbfs > -14, 'the row');
  t.ok(measureTone(samples, 1336, 8000).levelDbfs > -12, 'the column');
  for (const other of [697, 852, 941, 1209, 1477, 1633]) {
    t.ok(measureTone(samples, other, 8000).levelDbfs < -30, `not ${other} Hz`);
  }
});

t.test('modems call each other, with voice both ways', async (t) => {
  const rack = await startRack(t, { makes: ['quectel', 'huawei'] });
  const [first, second] = rack.modems;
  if (first === undefined || second === undefined) throw new Error('no modems');
  const one = await quietTerminal(t, first.portPaths.at);
  const other = await quietTerminal(t, second.portPaths.at);
  await other.command('AT+CLIP=1');
  await one.command(`AT+QPCMV=1,0;D${second.number};`);
  await other.expect(`+CLIP: "${first.number}",145`);
  await other.command('ATA');
  await other.command('AT^DDSETEX=2');
  const ports = [new PcmPort(t, first.portPaths.pcm), new PcmPort(t, second.portPaths.pcm)] as const;
  const tones = [new Tone(500, -10, 8000), new Tone(1500, -10, 8000)] as const;
  ports[0].answerWith((samples) => tones[0].next(samples));
  ports[1].answerWith((samples) => tones[1].next(samples));
  for (const [port, frequencyHz] of [
    [ports[0], 1500],
    [ports[1], 500],
  ] as const) {
    await port.receiveSamples(4000);
    port.forget();
    const { levelDbfs } = medianTone(await port.receiveSamples(8000), frequencyHz, 8000);
    t.ok(Math.abs(levelDbfs + 10) < 1, `${frequencyHz} Hz: ${levelDbfs}`);
  }
  await other.command('AT+CHUP');
  await one.expect('\r\nNO CARRIER\r\n');
  t.match(await callOf(rack.url, 1), { cause: 16, ended_by: 'destination', duration_ms: Number });
});

t.test('SIMCom: switched on during a call only, off with the flag, and read back', async (t) => {
  const { rack, terminal, call } = await startCallingModem(t, {}, { makes: ['simcom'] });
  t.match(await terminal.command('AT+CPCMREG=1'), 'ERROR');
  t.match(await terminal.command('AT+CPCMREG?'), '+CPCMREG: 0');
  t.match(await terminal.command('AT+CPCMBANDWIDTH?'), '+CPCMBANDWIDTH: 0,1');
  await terminal.command('AT+CPCMBANDWIDTH=1,1');
  const id = await call();
  t.match(await terminal.command('AT+CPCMREG?'), '+CPCMREG: 1');
  t.match((await callOf(rack.url, id)).origin.audio, { sample_rate_hz: 8000 });
  t.match(await terminal.command('AT+CPCMREG=0'), 'ERROR');
  t.match(await terminal.command('AT+CPCMREG=0,1'), 'OK');
  t.match((await callOf(rack.url, id)).origin.audio, { route: null });
  await terminal.command('AT+CPCMREG=1');
  await terminal.command('AT+CHUP');
  t.match(await terminal.command('AT+CPCMREG?'), '+CPCMREG: 0', 'off with the call');
});

t.test('nothing comes before the call, nor when it was not switched on', async (t) => {
  const { modem, terminal, rack } = await startModem(t);
  const pcm = new PcmPort(t, modem.portPaths.pcm);
  await terminal.command(`ATD${FAR};`);
  await until('frames', async () => ((await callOf(rack.url, 1)).destination.far_end?.frames ?? 0) > 5);
  t.equal(pcm.bytes.length, 0);
  await terminal.command('AT+QPCMV=1,0');
  await pcm.receive(640);
  await terminal.command('AT+QPCMV=0');
  pcm.forget();
  const { frames = 0 } = (await callOf(rack.url, 1)).destination.far_end ?? {};
  await until(
    'more',
    async () => ((await callOf(rack.url, 1)).destination.far_end?.frames ?? 0) > frames + 5,
  );
  t.ok(pcm.bytes.length <= 320, 'at most what was under way');
});

t.test('a client that opens the port late gets no old audio', async (t) => {
  /** Counts the frames, out of ten that a client gets, which the modem sent after it opened the port. */
  const newFrames = async (): Promise<number> => {
    const { rack, modem, terminal } = await startModem(t);
    await putFarEnd(rack.url, FAR, { audio: 'tone' });
    await terminal.command(`AT+QPCMV=1,0;D${FAR};`);
    const sent = async () => (await callOf(rack.url, 1)).origin.audio;
    // After a second without a reader the modem throws away what waits.
    await until('a second without a reader', async () => ((await sent())?.frames_not_read ?? 0) > 60);
    const from = (await sent())?.frames_to_host ?? 0;
    const pcm = new PcmPort(t, modem.portPaths.pcm);
    await pcm.receiveSamples(1600);
    return ((await sent())?.frames_to_host ?? 0) - from;
  };
  const frames = await undisturbed(newFrames, (count) => count >= 8);
  t.ok(frames >= 8, `ten frames took ${frames} to come`);
});

t.test('drift: a quarter of an hour of frames on a clock that is moved by hand', async (t) => {
  for (const ppm of [0, 200, -200]) {
    const audioClock = new ManualClock(0);
    const { rack, modem, terminal } = await startModem(t, { audioClock });
    if (ppm !== 0) await post(`${rack.url}/modems/m0/faults`, { kind: 'pcm_drift', ppm });
    await terminal.command(`ATD${FAR};`);
    await until('the answer', () => modem.voice.calls.active !== undefined);
    for (let minute = 0; minute < 15; minute++) audioClock.advance(60_000);
    const { frames = 0 } = (await callOf(rack.url, 1)).destination.far_end ?? {};
    const wanted = 45_000 * (1 + ppm / 1e6);
    t.ok(Math.abs(frames - wanted) <= 2, `${ppm} ppm: ${frames} frames, ${wanted} wanted`);
  }
});
