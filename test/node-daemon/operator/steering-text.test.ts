// A text that steers terminals, read with the daemon's tools on a terminal.
import t, { type Test } from 'tap';
import { STEERING_TEXT, steeringIn } from '../../fixtures/steering-text.ts';
import { startOnTerminal } from '../../fixtures/terminal-program.ts';
import { startToolRig } from './tool-rig.ts';

async function onTerminal(t: Test, env: Record<string, string>, ...args: string[]) {
  const program = startOnTerminal(t, 'node-daemon/bin.cjs', args, { env, columns: 4_000, rows: 50 });
  const status = await program.ended;
  t.equal(steeringIn(program.output()), undefined);
  return { status, output: program.output() };
}

t.test('messages, and what is typed', { timeout: 240_000 }, async (t) => {
  const { env, simulator, tool } = await startToolRig(t, { modems: 1 });
  const sms = { to: String(simulator.modems[0]?.number) };
  await tool('list');
  simulator.carrier.send({ ...sms, from: '+12065559999', body: STEERING_TEXT });
  const shown = await onTerminal(t, env, 'sms', '1-1.1');
  t.match(shown, { status: 0, output: 'code 417209 �[2J' });
  t.notMatch(shown.output, /^error/m, 'a message is a line');
  const { output } = await onTerminal(t, env, 'sms', '1-1.1', '--json');
  const json = JSON.parse(output.slice(output.indexOf('{'))) as { waiting: object[]; stored: object[] };
  t.match([...json.waiting, ...json.stored], [{ text: STEERING_TEXT }], 'says the same');
  await onTerminal(t, env, 'list', '--json');
  for (const args of [
    ['list', STEERING_TEXT],
    ['at', STEERING_TEXT, 'AT'],
    [`x${STEERING_TEXT}`],
    ['list', `--${STEERING_TEXT}`],
  ])
    t.equal((await onTerminal(t, env, ...args)).status, 1);
});
