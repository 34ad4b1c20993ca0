// docs/agents/examples/livekit_agent.mjs with the interfaces of LiveKit's AudioInput and AudioOutput: the row of the matrix without a bridge.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { FRAME_BYTES } from '#shared/voice/media.ts';
import { installClientPackage } from '../../../fixtures/agents/client-package.ts';
import { telephone } from '../../../fixtures/agents/telephone.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { until } from '../../../fixtures/until.ts';
import { PROJECT_FOLDER } from '../../../tidy/sources.ts';

const rig = await createRig();

const AGENT = join(PROJECT_FOLDER, 'docs/agents/examples/livekit_agent.mjs');
const INTERFACES = join(PROJECT_FOLDER, 'test/fixtures/agents/bots/livekit-agents.mjs');

const SESSION = `import { voice } from '@livekit/agents';
export const createSession = (call) => ({
  session: new voice.AgentSession(call),
  agent: {},
  onKey: (key) => console.log(JSON.stringify({ key })),
});
`;

t.test('the agent hears, speaks, knows what was heard, gets and presses keys, and hangs up', async (t) => {
  const phone = await telephone(t, rig);
  const { folder } = await installClientPackage(t, ['ws']);
  for (const name of ['@livekit/agents', '@livekit/rtc-node']) {
    const file = join(folder, 'node_modules', name, 'index.mjs');
    mkdirSync(dirname(file), { recursive: true });
    cpSync(INTERFACES, file);
    writeFileSync(join(dirname(file), 'package.json'), '{"type":"module","exports":"./index.mjs"}');
  }
  cpSync(AGENT, join(folder, 'livekit_agent.mjs'));
  writeFileSync(join(folder, 'session.mjs'), SESSION);
  const { SIMRACK_URL, SIMRACK_TOKEN } = { SIMRACK_URL: phone.url, SIMRACK_TOKEN: phone.token };
  const child = spawn(process.execPath, ['livekit_agent.mjs'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], SIMRACK_URL, SIMRACK_TOKEN },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const events = (name: string): Array<Record<string, unknown>> =>
    lines
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((event) => name in event);
  const order = (what: object): boolean => child.stdin.write(`${JSON.stringify(what)}\n`);
  const ring = async () => {
    const before = phone.line.medias.length;
    const call = phone.line.ring();
    const media = await until('the media link', () => phone.line.medias[before], 20_000);
    return { call, media };
  };
  await until('it waits', () => lines.some((line) => line.startsWith('waiting for calls')), 20_000);

  const { media } = await ring();
  await until('it hears', () => {
    media.capture(Buffer.alloc(FRAME_BYTES, 1));
    return events('heard').length === 1;
  });
  order({ speakMs: 1_000 });
  await until('all of it is heard', () => {
    media.capture();
    return events('finished').length === 1;
  });
  t.equal(media.frames.length, 50);
  t.same(events('finished'), [{ finished: 1, interrupted: false }]);

  order({ speakMs: 10_000 });
  await until('a second of it is heard', () => {
    media.capture();
    return media.frames.length > 100;
  });
  order({ interrupt: true });
  await until('it knows', () => {
    media.capture();
    return events('finished').length === 2;
  });
  const { finished, interrupted } = events('finished')[1] ?? {};
  t.equal(interrupted, true);
  const heardSeconds = (media.frames.length - 50) / 50;
  t.ok(
    Number(finished) > heardSeconds - 0.25 && Number(finished) <= heardSeconds,
    `${String(finished)} of ${heardSeconds} s; the node held 120 ms`,
  );

  media.say({ type: 'dtmf', digit: '4' });
  await until('it gets keys', () => events('key')[0]?.['key'] === '4');
  order({ press: '12#' });
  await until('keys are pressed', () => media.texts.some(({ type }) => type === 'dtmf'));
  order({ speakMs: 200, hangUp: true });
  await until('hung up', () => {
    media.capture();
    return phone.node.commands('hang_up').length === 1;
  });
  await until('its session is closed', () => events('closed').length === 1);
  t.same(events('finished')[2], { finished: 0.2, interrupted: false }, 'its last words were heard');

  const next = await ring();
  await until('the next session', () => events('started').length === 2);
  phone.line.end(next.call, { reason: 'remote_hangup', cause: 16 });
  await until('it notices the end', () => events('closed').length === 2);
});
