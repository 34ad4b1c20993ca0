// Agents that talk on calls by tools alone: dial_call, wait_for_call, say, listen, hangup_call.
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readWave } from '#shared/voice/wave.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { FAR_END, telephone } from '../../fixtures/agents/telephone.ts';
import { type ToolResult, toolClient } from '../../fixtures/agents/tool-client.ts';
import { skipWithoutSpeech, spoken } from '../../fixtures/audio/spoken.ts';
import { likeness, TalkingModem } from '../../fixtures/nodes/talking-modem.ts';
import { recoverToken } from '../../fixtures/payments/payer.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { ofOneInstance } from '../../fixtures/service/several-instances.ts';
import { isAlive } from '../../fixtures/stacks/started-stack.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

const VOICE = { name: 'en-us', wordsPerMinute: 175, pitch: 50 };
const SPEAKS = 'espeak-ng --stdout -v en-us -s 175 -p 50';
/** A beep is as good as a word where nothing is recognized. */
const RATE_HZ = 16_000;
const word = (): Int16Array =>
  Int16Array.from({ length: RATE_HZ / 2 }, (_, index) => Math.round(9_000 * Math.sin(index / 9)));

const refusal = ({ isError, structured }: ToolResult) => (isError ? structured['error'] : 'none');

type Service = NonNullable<Parameters<typeof telephone>[2]>['service'];

async function agent(t: Test, service: Service = {}) {
  const phone = await telephone(t, rig, { service });
  const client = await toolClient(t, phone.url, { headers: phone.headers });
  const { line, number } = phone;
  /** A call that the far end has answered. */
  const dialedBy = async (t: Test) => {
    const before = line.medias.length;
    // A call of before may still be ending.
    const callId = await until('the line is free', async () => {
      const dialled = await client.call('dial_call', { phone_number: number, to: FAR_END });
      return refusal(dialled) === 'line_busy' ? undefined : String(dialled.structured['call_id']);
    });
    const media = await until('the media link', () => line.medias[before]);
    line.answer(callId);
    return { callId, modem: new TalkingModem(t, media) };
  };
  return { ...phone, client, dialedBy, dialed: () => dialedBy(t) };
}

/** Makes `file` a program: that of an absolute path, or what a shell begins with this command. */
function writeProgram(file: string, command: string): void {
  rmSync(file, { force: true });
  if (command.startsWith('/')) symlinkSync(command, file);
  else writeFileSync(file, `#!/bin/sh\nexec ${command}\n`, { mode: 0o755 });
}

const speaker = join(temporaryFolder(t), 'speak');
const shared = await agent(t, { speechCommand: speaker, streamHoldMs: 60_000 });

/** The agent of many tests, on a line without a call, and with a program of each test's own that speaks. */
function speaking(t: Test, command: string) {
  writeProgram(speaker, command);
  for (const call of shared.line.calls) shared.line.end(call, { reason: 'remote_hangup', cause: 16 });
  return { ...shared, dialed: () => shared.dialedBy(t) };
}

t.test(
  'a conversation: what each side says is heard by the other',
  { skip: skipWithoutSpeech() },
  async (t) => {
    const { client, dialed, line } = speaking(t, SPEAKS);
    t.ok((await client.tools()).some(({ name }) => name === 'say'));
    const { callId, modem } = await dialed();
    const question = spoken('Hello, who is calling please?', VOICE);
    modem.say(question);
    const heard = await client.call('listen', { call_id: callId });
    t.match(heard.structured, {
      call_id: callId,
      state: 'active',
      answered_by: null,
      is_complete: true,
      dropped_ms: 0,
      text: null,
      keys: '',
    });
    const [recording] = heard.audio;
    const { rateHz, samples } = readWave(recording ?? Buffer.alloc(0));
    t.equal(rateHz, 8_000);
    const every = (list: Int16Array): Int16Array => list.filter((_, index) => index % 2 === 0);
    t.ok(likeness(samples, every(question), rateHz) > 0.95, 'the recording is the question');

    const text = 'Good morning. This is a robot, calling about the parcel.';
    const said = client.call('say', { call_id: callId, text });
    await until('it speaks', () => modem.media.frames.length > 0);
    t.equal(refusal(await client.call('listen', { call_id: callId })), 'speech_in_progress');
    const { structured } = await said;
    t.match(structured, { call_id: callId, state: 'active', is_heard: true });
    const words = spoken(text, VOICE);
    const played = new Int16Array(new Uint8Array(modem.media.heard).buffer);
    t.ok(likeness(played, words, RATE_HZ) > 0.95, 'the far end has heard the text, all of it');
    t.ok(Number(structured['duration_ms']) >= (words.length / RATE_HZ) * 1_000);

    modem.media.say({ type: 'dtmf', digit: '5' });
    t.match((await client.call('listen', { call_id: callId, wait_seconds: 1 })).structured, {
      duration_ms: 0,
      keys: '5',
    });
    t.equal(refusal(await client.call('hangup_call', { call_id: callId })), 'none');
    await until('it has ended', async () => {
      const again = await client.call('listen', { call_id: callId, wait_seconds: 0 });
      return refusal(again) === 'call_not_found';
    });
    t.same(line.calls, []);
  },
);

t.test('a call that comes in: it is awaited, then answered by speaking', async (t) => {
  // The output of the program is played: here the text itself.
  const { client, line, node } = speaking(t, 'cat');
  const [before, medias] = [node.commands('answer').length, line.medias.length];
  t.same((await client.call('wait_for_call', { wait_seconds: 0 })).structured, { call: null });
  t.same((await client.call('wait_for_call', { wait_seconds: 1 })).structured, { call: null });
  const waited = client.call('wait_for_call', { wait_seconds: 50 });
  const { call_id: callId } = line.ring();
  t.match((await waited).structured, { call: { call_id: callId, caller: FAR_END, at: /Z$/ } });
  t.match((await client.call('wait_for_call')).structured, { call: { call_id: callId } }, 'it still rings');
  t.equal(node.commands('answer').length, before, 'waiting answers nothing');
  const text = '$(touch /tmp/never); `id` -x "quoted" ';
  const said = client.call('say', { call_id: callId, text });
  const modem = new TalkingModem(t, await until('the media link', () => line.medias[medias]));
  t.match((await said).structured, { state: 'active', is_heard: true, duration_ms: 1 });
  t.equal(node.commands('answer').length, before + 1);
  t.equal(modem.media.heard.toString().replaceAll('\u0000', ''), text, 'no shell has read it');
  t.same((await client.call('wait_for_call', { wait_seconds: 0 })).structured, { call: null });
});

t.test('the program gets no variable of the service', async (t) => {
  const { client, dialed } = speaking(t, '/usr/bin/env');
  const { callId, modem } = await dialed();
  await client.call('say', { call_id: callId, text: 'anything' });
  const names = modem.media.heard
    .toString()
    .replaceAll('\u0000', '')
    .split('\n')
    .map((line) => line.split('=')[0]);
  t.same(names.filter(Boolean).sort(), ['LANG', 'PATH']);
});

t.test('without a program there is no say; a program that fails, hangs or floods is a refusal', async (t) => {
  const mute = await agent(t);
  t.notOk((await mute.client.tools()).some(({ name }) => name === 'say'));
  await t.rejects(
    mute.client.call('say', { call_id: 'call_x', text: 'x' }),
    /unknown tool: say.*SPEECH_COMMAND/,
  );
  const speechCommand = join(temporaryFolder(t), 'speak');
  const { client, dialed } = await agent(t, { speechCommand, speechTimeoutMs: 400 });
  for (const command of ['false', 'sleep 60', 'yes', '/no/such/program', 'true']) {
    writeProgram(speechCommand, command);
    const { callId, modem } = await dialed();
    t.equal(refusal(await client.call('say', { call_id: callId, text: 'hello' })), 'speech_failed', command);
    t.same(modem.media.frames, [], 'nothing was said');
    t.equal(
      refusal(await client.call('listen', { call_id: callId, wait_seconds: 0 })),
      'none',
      'the call goes on',
    );
    t.equal(refusal(await client.call('hangup_call', { call_id: callId })), 'none');
  }
});

t.test('texts that are too long, empty, or take too long to say', async (t) => {
  const { client, dialed } = speaking(t, 'head -c 1300000 /dev/zero');
  const { callId } = await dialed();
  for (const text of ['', 'x'.repeat(601), 'a\u0000b'])
    t.match((await client.call('say', { call_id: callId, text })).structured, {
      error: 'invalid_request',
      field: 'text',
    });
  t.match((await client.call('say', { call_id: callId, text: 'long' })).structured, {
    error: 'invalid_request',
    field: 'text',
    message: /takes 41 s/,
  });
  t.equal(refusal(await client.call('say', { call_id: 'call_none', text: 'x' })), 'call_not_found');
});

t.test('a program that recognizes speech: its text, or the recording if it fails', async (t) => {
  const recognitionCommand = join(temporaryFolder(t), 'recognize');
  writeProgram(recognitionCommand, 'wc -c');
  const { client, dialed } = await agent(t, { recognitionCommand });
  const { callId, modem } = await dialed();
  modem.say(word());
  const { audio, structured } = await client.call('listen', { call_id: callId });
  t.same(audio, []);
  t.equal(Number(structured['text']), 44 + Number(structured['duration_ms']) * 32, 'a WAVE of 16 kHz');
  t.equal(refusal(await client.call('hangup_call', { call_id: callId })), 'none');
  writeProgram(recognitionCommand, 'false');
  const other = await dialed();
  other.modem.say(word());
  const fallback = await client.call('listen', { call_id: other.callId });
  t.match(fallback.structured, { text: null });
  t.equal(fallback.audio.length, 1);
});

t.test('the stream of a client takes over, and tools are refused while it is open', async (t) => {
  const { client, dialed, line, node, stream } = speaking(t, 'cat');
  const hungUp = node.commands('hang_up').length;
  const { callId } = await dialed();
  const listening = client.call('listen', { call_id: callId });
  const socket = await stream(callId);
  t.equal(refusal(await listening), 'stream_open');
  await until('answered', () => socket.of({ type: 'answered' }).length === 1);
  for (const [tool, args] of [
    ['say', { text: 'x' }],
    ['listen', {}],
  ] as const)
    t.equal(refusal(await client.call(tool, { call_id: callId, ...args })), 'stream_open', tool);
  t.equal(node.commands('hang_up').length, hungUp);
  t.equal(socket.closeCode, undefined);
  socket.socket.close(1000);
  await until('it has ended', () => line.calls.length === 0);
});

t.test('the last words before the end are not lost', async (t) => {
  const { client, dialed, line } = speaking(t, 'cat');
  const { callId, modem } = await dialed();
  modem.say(word());
  await until('it is said', () => modem.isSilent);
  const [call] = line.calls;
  if (call) line.end(call, { reason: 'remote_hangup', cause: 16 });
  await until('the media link closes', () => modem.media.closeCode !== undefined);
  const { audio, structured } = await client.call('listen', { call_id: callId });
  t.match(structured, { state: 'ended' });
  t.ok(Number(structured['duration_ms']) >= 500);
  t.equal(audio.length, 1);
  t.equal(refusal(await client.call('listen', { call_id: callId })), 'call_not_found');
});

t.test('an agent that cancels: it stops speaking, and what is said stays for the next listen', async (t) => {
  const { client, dialed } = speaking(t, 'head -c 320000 /dev/zero');
  const { callId, modem } = await dialed();
  const abort = new AbortController();
  const said = client.call('say', { call_id: callId, text: 'ten seconds' }, { signal: abort.signal });
  await until('it speaks', () => modem.media.frames.length > 0);
  abort.abort();
  await t.rejects(said);
  await until('cleared', () => modem.media.texts.some(({ type }) => type === 'clear'));
  const second = new AbortController();
  const listened = client.call('listen', { call_id: callId }, { signal: second.signal });
  second.abort();
  await t.rejects(listened);
  modem.say(word());
  await until('it may be used again', async () => {
    const heard = await client.call('listen', { call_id: callId });
    return heard.audio.length === 1;
  });
});

t.test('a token that is revoked hears and says no more, and the next one has the words', async (t) => {
  const { client, dialed, url, number } = await agent(t, { speechCommand: 'head -c 320000 /dev/zero' });
  const { callId, modem } = await dialed();
  const listen = async (): Promise<ToolResult> => {
    const heard = await client.call('listen', { call_id: callId, wait_seconds: 50 });
    // The question whether it listens came first.
    return refusal(heard) === 'speech_in_progress' ? listen() : heard;
  };
  const listening = listen();
  await until('it listens', async () => {
    const second = await client.call('listen', { call_id: callId, wait_seconds: 0 });
    return refusal(second) === 'speech_in_progress';
  });
  const recovered = async () => {
    const { token } = (await (await recoverToken(url, ALICE.privateKey)).json()) as { token: string };
    return toolClient(t, url, { headers: { authorization: `Bearer ${token}` } });
  };
  const second = await recovered();
  t.equal(refusal(await listening), 'unauthorized');
  modem.media.say({ type: 'dtmf', digit: '7' });
  modem.say(word());
  t.match((await second.call('listen', { call_id: callId })).structured, { keys: '7', is_complete: true });

  const saying = second.call('say', { call_id: callId, text: 'ten seconds' });
  await until('it speaks', () => modem.media.frames.length > 0);
  const third = await recovered();
  t.equal(refusal(await saying), 'unauthorized');
  await until('cleared', () => modem.media.texts.some(({ type }) => type === 'clear'));
  t.match((await third.call('get_number')).structured, { number });
  const next = await third.call('listen', { call_id: callId, wait_seconds: 0 });
  t.equal(refusal(next), 'none', 'the line is free');
});

t.test('a listen that is canceled while its words are recognized: the next one has them', async (t) => {
  const folder = temporaryFolder(t);
  const [script, hasBegun] = [join(folder, 'recognize'), join(folder, 'has-begun')];
  // It hangs once.
  writeFileSync(
    script,
    `cat >/dev/null; if [ -e ${hasBegun} ]; then echo good morning; else touch ${hasBegun}; exec sleep 60; fi`,
  );
  const { client, dialed } = await agent(t, { recognitionCommand: `sh ${script}` });
  const { callId, modem } = await dialed();
  modem.media.say({ type: 'dtmf', digit: '7' });
  modem.say(word());
  const abort = new AbortController();
  const listened = client.call('listen', { call_id: callId }, { signal: abort.signal });
  await until('it is recognized', () => existsSync(hasBegun));
  modem.media.say({ type: 'dtmf', digit: '8' });
  abort.abort();
  await t.rejects(listened);
  const next = await until('the next one', async () => {
    const heard = await client.call('listen', { call_id: callId });
    return refusal(heard) === 'none' ? heard : undefined;
  });
  t.match(next.structured, { text: 'good morning', keys: '78' });
});

/** A program that hangs, and the ids of its processes. */
function hangingProgram(t: Test) {
  const folder = temporaryFolder(t);
  const [script, log] = [join(folder, 'program'), join(folder, 'runs')];
  writeFileSync(log, '');
  writeFileSync(script, `echo $$ >> ${log}; exec sleep 60`);
  const runs = (): number[] => readFileSync(log, 'utf8').split('\n').filter(Boolean).map(Number);
  return { command: `sh ${script}`, runs };
}

t.test('a call that ends during the program of a say: the program ends, and its place is free', async (t) => {
  const { command, runs } = hangingProgram(t);
  const { client, dialed, line } = await agent(t, { speechCommand: command, speechTimeoutMs: 30_000 });
  for (const times of [1, 2, 3, 4, 5]) {
    const { callId } = await dialed();
    const said = client.call('say', { call_id: callId, text: 'hello' });
    const pid = await until('the program runs', () => runs()[times - 1]);
    const [call] = line.calls;
    if (call) line.end(call, { reason: 'remote_hangup', cause: 16 });
    t.match((await said).structured, { state: 'ended', is_heard: false, duration_ms: 0 });
    await until('the program has ended', () => !isAlive(pid));
  }
});

t.test('a subscriber has one place for programs', async (t) => {
  const { command, runs } = hangingProgram(t);
  const { client, dialed, line } = await agent(t, {
    speechCommand: 'cat',
    recognitionCommand: command,
    speechTimeoutMs: 30_000,
  });
  const before = await dialed();
  before.modem.say(word());
  await until('it is said', () => before.modem.isSilent);
  const [call] = line.calls;
  if (call) line.end(call, { reason: 'remote_hangup', cause: 16 });
  const abort = new AbortController();
  const listening = client.call('listen', { call_id: before.callId }, { signal: abort.signal });
  await until('it is recognized', () => runs().length === 1);
  const { callId, modem } = await dialed();
  const say = () => client.call('say', { call_id: callId, text: 'hello!' });
  t.match((await say()).structured, { error: 'overloaded', message: /of this number/ });
  abort.abort();
  await t.rejects(listening);
  const said = await until('it is free', async () => {
    const answer = await say();
    return refusal(answer) === 'none' ? answer : undefined;
  });
  t.match(said.structured, { is_heard: true });
  t.match(modem.media.heard.toString(), 'hello!');
});

const MOVES = ofOneInstance('on several the media link moves: call-tools-across.test.ts');

t.test(
  'a stream that broke: tools take over, and its audio and marks are not theirs',
  { skip: MOVES },
  async (t) => {
    const { client, dialed, stream } = speaking(t, 'cat');
    const { callId, modem } = await dialed();
    modem.say(word());
    const socket = await stream(callId);
    await until('it is heard', () => socket.binary.length > 0);
    socket.socket.send(Buffer.alloc(32_000, 'x'));
    for (const name of ['reply', '1700000000']) socket.say({ type: 'mark', name });
    socket.socket.ping();
    await once(socket.socket, 'pong');
    socket.drop();
    const said = await until('it has gone', async () => {
      const answer = await client.call('say', { call_id: callId, text: 'hello!' });
      return refusal(answer) === 'stream_open' ? undefined : answer;
    });
    t.match(said.structured, { is_heard: true });
    t.match(modem.media.heard.toString(), /hello!/, 'all of it was played');
  },
);
