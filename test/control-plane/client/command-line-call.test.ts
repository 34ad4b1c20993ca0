// `simrack dial | listen | hangup`: what is said, pressed and recorded, and how it ends.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { FRAME_BYTES, SAMPLE_RATE_HZ } from '#shared/voice/media.ts';
import { writeWave } from '#shared/voice/wave.ts';
import { commandLine } from '../../fixtures/agents/command-line.ts';
import { FAR_END, telephone } from '../../fixtures/agents/telephone.ts';
import { tone } from '../../fixtures/audio/tone.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const WAIT_MS = 30_000;
const SIX_SECONDS_FRAMES = 300;

async function phone(t: Test) {
  const telephoned = await telephone(t, rig);
  return { ...telephoned, ...commandLine(t, telephoned.url, { token: telephoned.token }) };
}

t.test('dial presses keys, plays, records, and prints how the call ended', async (t) => {
  const { line, simrack, folder } = await phone(t);
  const recording = join(folder, 'heard.wav');
  const speech = join(folder, 'said.raw');
  writeFileSync(speech, Buffer.alloc(5 * FRAME_BYTES, 3));
  const calling = simrack(
    'dial',
    FAR_END,
    '--say',
    speech,
    '--raw',
    '--press',
    '42#',
    '--record',
    recording,
    '--json',
  );
  const call = await until('the call', () => line.calls[0], WAIT_MS);
  line.answer(call.call_id);
  const media = await until('the media link', () => line.media, WAIT_MS);
  const heard = Buffer.alloc(FRAME_BYTES, 9);
  await until('audio both ways', () => {
    media.capture(heard);
    const isRecorded = existsSync(recording) && statSync(recording).size >= 44 + 10 * heard.length;
    return isRecorded && media.heard.length >= 5 * FRAME_BYTES && media.texts.length > 0;
  });
  t.same(media.heard.subarray(0, 5 * FRAME_BYTES), readFileSync(speech));
  t.match(media.texts, [{ type: 'dtmf', digits: '42#' }]);
  line.end(call, { reason: 'remote_hangup', cause: 16 });
  const called = await calling;
  t.match(called, { status: 0, stderr: '' });
  t.match(called.json(), {
    caller: FAR_END,
    answered: true,
    end: { kind: 'call_ended', cause: 16 },
    recorded_ms: Number,
  });
  const wave = readFileSync(recording);
  t.equal(wave.toString('latin1', 0, 4), 'RIFF');
  t.equal(wave.readUInt32LE(40), wave.length - 44, 'a WAVE with the right size');
  t.same(wave.subarray(44, 44 + heard.length), heard);
});

t.test('dial --detect-machine says who answered', async (t) => {
  const { calls, line, simrack } = await phone(t);
  const calling = simrack('dial', FAR_END, '--detect-machine');
  const call = await until('the call', () => line.calls[0], WAIT_MS);
  line.answer(call.call_id);
  const media = await until('the media link', () => line.media, WAIT_MS);
  const beep = tone({ hz: 1_000, rateHz: SAMPLE_RATE_HZ, seconds: 0.5 });
  const audio = Buffer.concat([Buffer.from(beep.buffer), Buffer.alloc(8 * 2 * SAMPLE_RATE_HZ)]);
  for (let at = 0; at < audio.length; at += FRAME_BYTES) media.capture(audio.subarray(at, at + FRAME_BYTES));
  await until('it is judged', async () => (await calls())[0]?.['answered_by'] === 'machine', WAIT_MS);
  line.end(call, { reason: 'remote_hangup', cause: 16 });
  const called = await calling;
  t.match(called.json(), { answered: true, answered_by: 'machine' });
  t.match(called.stderr, /a machine answered/);
});

t.test('dial with --say alone hangs up when six seconds were played, without a warning', async (t) => {
  const { line, start, folder } = await phone(t);
  const speech = join(folder, 'said.raw');
  writeFileSync(speech, Buffer.alloc(SIX_SECONDS_FRAMES * FRAME_BYTES, 3));
  const calling = start(['dial', FAR_END, '--say', speech, '--raw']);
  const call = await until('the call', () => line.calls[0], WAIT_MS);
  line.answer(call.call_id);
  const media = await until('the media link', () => line.media, WAIT_MS);
  await until(
    'the end',
    () => {
      for (let frame = 0; frame < 10; frame += 1) media.capture();
      return line.calls.length === 0;
    },
    WAIT_MS,
  );
  t.equal(media.heard.length, SIX_SECONDS_FRAMES * FRAME_BYTES);
  const called = await calling;
  // The service hangs up, once modem and network have let go of the last words.
  t.match(called.json(), { answered: true, end: { kind: 'call_ended', cause: 16 } });
  t.notMatch(called.stderr, /Warning/, 'no listener is added for each piece');
});

t.test('Ctrl-C hangs up, also before the service has answered the request', async (t) => {
  const { line, start } = await phone(t);
  let interrupt = (): void => undefined;
  line.dialled = () => {
    interrupt();
    return { status: 'ringing' };
  };
  const rung = await start(['dial', FAR_END, '--json'], (child) => {
    interrupt = () => void child.kill('SIGINT');
  });
  t.equal(rung.status, 1);
  t.match(rung.failure(), { error: 'not_answered' });
  await until('the call is over', () => line.calls.length === 0);
});

t.test('a call that is refused, not answered or impossible exits with an error', async (t) => {
  const { calls, line, simrack, start, folder } = await phone(t);
  const rung = start(['dial', FAR_END, '--json'], (child) => {
    void until('it rings', () => line.calls.length === 1, WAIT_MS).then(() => child.kill('SIGINT'));
  });
  t.equal((await rung).status, 1);
  t.match((await rung).failure(), { error: 'not_answered' });
  await until('Ctrl-C has hung up', async () => (await calls())[0]?.['state'] === 'ended');
  line.dialled = () => ({ status: 'ended', reason: 'busy', cause: 17 });
  const busy = await simrack('dial', FAR_END, '--json');
  t.equal(busy.status, 1);
  t.match(busy.failure(), { error: 'phone_node_unreachable', reason: 'busy', cause: 17 });
  t.match(await simrack('dial', FAR_END, '--press', '1x'), { status: 2, stderr: /keys must be 0-9/ });
  const missing = await simrack('dial', FAR_END, '--say', join(folder, 'none.wav'));
  t.match(
    missing,
    { status: 2, stderr: /none\.wav: no such file or directory\n/ },
    'a bad file makes no phone ring',
  );
  const song = join(folder, 'song.mp3');
  writeFileSync(song, Buffer.alloc(4 * FRAME_BYTES, 'ID3'));
  const noise = await simrack('dial', FAR_END, '--say', song);
  t.match(noise, { status: 2, stderr: /song\.mp3: not a WAVE file\. To convert it: ffmpeg.*\n.*--raw/ });
  writeFileSync(song, Buffer.from(writeWave({ samples: new Int16Array(8), rateHz: 8000 })));
  t.match(await simrack('dial', FAR_END, '--say', song), {
    status: 2,
    stderr: /mono, 16 kHz, 16 bit, not mono, 8000 Hz/,
  });
  t.match(await simrack('dial', FAR_END, '--say', song, '--raw'), {
    status: 2,
    stderr: /a WAVE file. Leave --raw out/,
  });
  t.match(await simrack('dial', FAR_END, '--raw'), { status: 2, stderr: /--raw needs --say/ });
  t.equal(line.calls.length, 0);
  t.match(await simrack('hangup', 'call-none', '--json'), { status: 1, stderr: /"call_not_found"/ });
});

t.test('listen prints calls until Ctrl-C; hangup rejects one', async (t) => {
  const { line, simrack, start } = await phone(t);
  let output = '';
  const reported = (kind: string): boolean => output.includes(`"kind":"${kind}"`);
  const listening = start(['listen'], (child) => {
    child.stdout?.on('data', (data) => {
      output += String(data);
    });
    child.stderr?.once('data', () => void line.ring());
    void until('the end is printed', () => reported('ended'), WAIT_MS).then(() => child.kill('SIGINT'));
  });
  await until('the ring is printed', () => reported('ringing'), WAIT_MS);
  const { call_id: callId } = JSON.parse(output.split('\n')[0] ?? '') as { call_id: string };
  t.match((await simrack('hangup', callId)).json(), { call_id: callId, status: 'hangup_sent' });
  t.match(await listening, { status: 0, stderr: /waiting for calls to/ });
  const kinds = output
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text).kind);
  t.same(kinds, ['ringing', 'ended']);
});

t.test('listen --answer takes the first call, and reports when none comes', async (t) => {
  const { line, simrack, folder } = await phone(t);
  const none = await simrack('listen', '--answer', '--wait', '0', '--json');
  t.match(none, { status: 3, stderr: /"timeout"/ });
  const recording = join(folder, 'heard.raw');
  const listening = simrack('listen', '--answer', '--record', recording, '--json');
  const ringing = line.ring();
  const media = await until('the media link', () => line.media, WAIT_MS);
  await until('some audio', () => {
    media.capture(Buffer.alloc(FRAME_BYTES, 5));
    return statSync(recording).size >= FRAME_BYTES;
  });
  line.end(ringing, { reason: 'remote_hangup', cause: 16 });
  const answered = await listening;
  t.match(answered, { status: 0, stderr: '' });
  t.match(answered.json(), { call_id: ringing.call_id, caller: FAR_END, answered: true });
  t.same(readFileSync(recording).subarray(0, 4), Buffer.alloc(4, 5));
});
