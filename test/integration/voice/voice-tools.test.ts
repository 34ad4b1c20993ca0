// Two agents talk by tools alone, through two modems and the carrier: one dials, the other waits for the call.
import t from 'tap';
import { readWave } from '#shared/voice/wave.ts';
import { type ToolResult, toolClient } from '../../fixtures/agents/tool-client.ts';
import { skipWithoutSpeech, spoken } from '../../fixtures/audio/spoken.ts';
import { likeness } from '../../fixtures/nodes/talking-modem.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { voiceStack } from '../../fixtures/stacks/voice-stack.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

const VOICE = { name: 'en-us', wordsPerMinute: 175, pitch: 50 };

/** Thirds of other sentences of this length are 0.6 alike at most. */
const ALIKE_MIN = 0.7;

/** How alike a text and what a listener has heard are in two of three parts: a busy machine may drop frames, which shifts what follows. */
function alike({ audio }: ToolResult, text: string): number {
  const { rateHz, samples } = readWave(audio[0] ?? Buffer.alloc(0));
  const words = spoken(text, VOICE).filter((_, index) => index % (16_000 / rateHz) === 0);
  const third = Math.ceil(words.length / 3);
  const [, middle = 0] = [0, 1, 2]
    .map((part) => likeness(samples, words.subarray(part * third, (part + 1) * third), rateHz))
    .sort((a, b) => a - b);
  return middle;
}

t.test('each hears what the other says', { skip: skipWithoutSpeech() }, async (t) => {
  const { people, url } = await voiceStack(t, rig, {
    makes: ['quectel'],
    ringIntervalMs: 500,
    service: { speechCommand: 'espeak-ng --stdout -v en-us -s 175 -p 50' },
  });
  const [alice, bob] = people as [(typeof people)[0], (typeof people)[0]];
  const [caller, callee] = [
    await toolClient(t, url, { headers: alice.headers }),
    await toolClient(t, url, { headers: bob.headers }),
  ];
  const watcher = await alice.presence();
  const waiting = callee.call('wait_for_call', { wait_seconds: 50 });
  const dialed = await caller.call('dial_call', {
    phone_number: alice.number,
    to: bob.number,
    detect_machine: true,
  });
  const call_id = dialed.structured['call_id'];
  const ringing = (await waiting).structured['call'] as Record<string, unknown>;
  t.match(ringing, { caller: alice.number, phone_number: bob.number });
  const bobs = ringing['call_id'];

  const listening = caller.call('listen', { call_id, wait_seconds: 50 });
  t.match((await callee.call('say', { call_id: bobs, text: 'Hello? Who is this?' })).structured, {
    is_heard: true,
  });
  const greeting = await listening;
  t.match(greeting.structured, { state: 'active', is_complete: true });
  const alikeGreeting = alike(greeting, 'Hello? Who is this?');
  t.ok(alikeGreeting > ALIKE_MIN, `the caller hears the greeting: ${alikeGreeting.toFixed(2)}`);
  await until('it is judged', () => watcher.of({ kind: 'detected' }).length === 1);
  t.match(watcher.of({ kind: 'detected' }), [{ answered_by: 'human' }]);

  const question = 'This is the robot of Alice. When do you open tomorrow?';
  const hearing = callee.call('listen', { call_id: bobs, wait_seconds: 50 });
  t.match((await caller.call('say', { call_id, text: question })).structured, {
    is_heard: true,
    answered_by: 'human',
  });
  const heard = await hearing;
  const alikeQuestion = alike(heard, question);
  t.ok(alikeQuestion > ALIKE_MIN, `the callee hears the question: ${alikeQuestion.toFixed(2)}`);

  await caller.call('hangup_call', { call_id });
  await until('both calls have ended', async () => {
    const [call] = await bob.calls();
    return call?.['state'] === 'ended';
  });
});
