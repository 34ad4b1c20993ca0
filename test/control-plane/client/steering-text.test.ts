// A text that steers terminals, from a stranger and from a hostile service, on a terminal and in a pipe.
import { createServer } from 'node:http';
import t, { type Test } from 'tap';
import { commandLine } from '../../fixtures/agents/command-line.ts';
import { received, subscriber } from '../../fixtures/agents/subscriber.ts';
import { served } from '../../fixtures/network/served.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { STEERING_TEXT, steeringIn } from '../../fixtures/steering-text.ts';
import { startOnTerminal } from '../../fixtures/terminal-program.ts';

const rig = await createRig();
const PROGRAM = 'control-plane/client/bin.mjs';

async function onTerminal(t: Test, env: Record<string, string>, ...args: string[]) {
  const program = startOnTerminal(t, PROGRAM, args, { env, columns: 4_000, rows: 50 });
  const status = await program.ended;
  const output = program.output();
  t.equal(steeringIn(output), undefined);
  return { status, output };
}

t.test('texts of strangers', { timeout: 240_000 }, async (t) => {
  const { headers, node, url } = await subscriber(t, rig);
  const token = headers.Authorization.replace('Bearer ', '');
  const { environment: env, simrack } = commandLine(t, url, { token });
  const name = 'B\u202eank\u001b[2J';
  const arrive = async (): Promise<void> => {
    await node.report(received(STEERING_TEXT, name));
  };
  const shown = 'code 417209 �[2J';

  await arrive();
  const printed = await onTerminal(t, env, 'receive', '--print', 'body');
  t.match(printed, { status: 0, output: shown });
  t.equal(printed.output.trimEnd().split('\n').length, 1, 'a message is a line');
  await arrive();
  const pretty = await onTerminal(t, env, 'receive', '--wait', '10');
  const json = pretty.output.slice(pretty.output.indexOf('{'));
  t.match(JSON.parse(json), { messages: [{ body: STEERING_TEXT, from_number: name }] }, 'says the same');
  const line = await onTerminal(t, env, 'messages', '--json');
  t.match(JSON.parse(line.output), { messages: [{ body: STEERING_TEXT }, { body: STEERING_TEXT }] });
  t.match(line.output, '\\u001b[2J');
  await onTerminal(t, env, 'messages', '--print', 'from_number');

  const piped = await simrack('messages', '--limit', '1', '--print', 'body');
  t.equal(piped.stdout, `${STEERING_TEXT}\n`, 'a program gets it to the letter');
  const pipedJson = await simrack('messages', '--limit', '1');
  t.match(pipedJson.json(), { messages: [{ body: STEERING_TEXT }] });
  t.equal(steeringIn(pipedJson.stdout), undefined);
});

t.test('a hostile service, and what is typed', { timeout: 240_000 }, async (t) => {
  const refusal = {
    error: `no\u001b[2J${STEERING_TEXT}`,
    message: STEERING_TEXT,
    [STEERING_TEXT]: STEERING_TEXT,
  };
  const hostile = createServer((_, response) =>
    response.writeHead(400, { 'Content-Type': 'application/json' }).end(JSON.stringify(refusal)),
  );
  const url = await served(t, hostile);
  const { environment: env } = commandLine(t, url, { token: 'x' });
  const refused = await onTerminal(t, env, 'number');
  t.match(refused, { status: 1, output: shownError });
  t.equal(refused.output.trimEnd().split('\n').length, 1, 'no line of theirs looks like one of ours');
  const { output } = await onTerminal(t, env, 'number', '--json');
  t.match(JSON.parse(output), { message: STEERING_TEXT });
  await onTerminal(t, env, 'receive', '--wait', '1');
  for (const args of [
    [STEERING_TEXT],
    ['messages', '--since', STEERING_TEXT],
    ['number', '--print', STEERING_TEXT],
  ])
    t.equal((await onTerminal(t, env, ...args)).status, 2);
});

const shownError = 'error: no�[2Jcode 417209 �[2J';
