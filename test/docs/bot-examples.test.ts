// The examples of docs/agents for bots, each as a program of its own: a receptionist on OpenAI's SDK, and an app for Twilio.
import { copyFileSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { socketBot } from '#control-plane/client/bridge/socket-bot.ts';
import { FRAME_BYTES } from '#shared/voice/media.ts';
import { botServer } from '../fixtures/agents/bot-server.ts';
import { bridged } from '../fixtures/agents/bridged.ts';
import { installClientPackage } from '../fixtures/agents/client-package.ts';
import { commandLine } from '../fixtures/agents/command-line.ts';
import { received } from '../fixtures/agents/subscriber.ts';
import { type ClientSocket, FAR_END, telephone } from '../fixtures/agents/telephone.ts';
import { freePort } from '../fixtures/network/free-port.ts';
import { createRig } from '../fixtures/service/rig.ts';
import { until } from '../fixtures/until.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';
import { EXAMPLES, runExample } from './example.ts';

const LINES_MAX = 60;
const WAIT_MS = 60_000;
const OWNER = '+12065550142';
const AUTH_TOKEN = '0123456789abcdef0123456789abcdef';
const ACCOUNT_SID = `AC${'5'.repeat(32)}`;

const rig = await createRig();

/** A folder with the example and its packages, as `npm i` makes it. */
async function installed(t: Test, example: string, packages: readonly string[]): Promise<string> {
  const { folder } = await installClientPackage(t, ['ws']);
  for (const name of packages)
    symlinkSync(join(PROJECT_FOLDER, 'test/tools/node_modules', name), join(folder, 'node_modules', name));
  copyFileSync(join(EXAMPLES, example), join(folder, example));
  return folder;
}

/** Starts the example; resolves with its lines. */
function start(cwd: string, example: string, env: Record<string, string>): string[] {
  const lines: string[] = [];
  const running = runExample([process.execPath, example], {
    env: { PATH: String(process.env['PATH']), ...env },
    cwd,
    onLine: async (line) => void lines.push(line),
  });
  void running.then(({ stderr }) => stderr !== '' && lines.push(stderr));
  return lines;
}

t.test('each example is short', async (t) => {
  for (const name of ['receptionist.mjs', 'twilio_app.mjs'])
    t.ok(readFileSync(join(EXAMPLES, name), 'utf8').split('\n').length <= LINES_MAX, name);
});

/** Events of a model that takes a message (https://platform.openai.com/docs/api-reference/realtime-server-events). */
function takeMessage(model: ClientSocket): void {
  const item = {
    id: 'item_1',
    object: 'realtime.item',
    type: 'function_call',
    status: 'completed',
    name: 'take_message',
    call_id: 'fc_1',
    arguments: JSON.stringify({ name: 'Bob', message: 'call me back' }),
  };
  const ids = { event_id: 'event_2', response_id: 'resp_1', output_index: 0 };
  model.say({ type: 'response.created', event_id: 'event_1', response: { id: 'resp_1' } });
  model.say({ type: 'response.output_item.done', ...ids, item });
  model.say({
    type: 'response.done',
    event_id: 'event_3',
    response: { id: 'resp_1', status: 'completed', output: [item] },
  });
}

function speak(model: ClientSocket): void {
  const ids = { response_id: 'resp_0', item_id: 'item_0', output_index: 0, content_index: 0 };
  model.say({ type: 'response.created', event_id: 'event_0', response: { id: 'resp_0' } });
  const delta = Buffer.alloc(8_000, 0x10).toString('base64');
  model.say({ type: 'response.output_audio.delta', event_id: 'event_a', ...ids, delta });
  model.say({
    type: 'response.done',
    event_id: 'event_d',
    response: { id: 'resp_0', status: 'completed', output: [] },
  });
}

t.test('receptionist.mjs speaks first, hears the caller, and texts the message to the owner', async (t) => {
  const realtime = await botServer(t);
  const folder = await installed(t, 'receptionist.mjs', ['@openai', 'zod']);
  const options: { url?: string } = {};
  const phone = await bridged(t, rig, (call, host, signal) =>
    socketBot({ url: String(options.url), protocol: 'twilio' })(call, host, signal),
  );
  const lines = start(folder, 'receptionist.mjs', {
    OPENAI_API_KEY: 'test',
    OPENAI_REALTIME_URL: realtime.url,
    OWNER,
    PORT: '0',
    SIMRACK_URL: phone.url,
    SIMRACK_TOKEN: phone.token,
  });
  options.url = await until('it is ready', () => /ready at (\S+)/.exec(lines[0] ?? '')?.[1], WAIT_MS);
  const { media } = await phone.ring();
  const model = await until('its model', () => realtime.bots[0], WAIT_MS);
  model.say({ type: 'session.created', event_id: 'event_s', session: { id: 'sess_1', type: 'realtime' } });
  await until(
    'it asks the model to speak',
    () => model.of({ type: 'response.create' }).length === 1,
    WAIT_MS,
  );
  const updates = model.of({ type: 'session.update' });
  t.match(JSON.stringify(updates), /take_message/);
  // The SDK may update how the session is traced after that.
  const audio = updates.flatMap(({ session }) => (session as { audio?: object }).audio ?? []).at(-1);
  t.match(audio, { input: { format: { type: 'audio/pcmu' } }, output: { format: { type: 'audio/pcmu' } } });
  speak(model);
  await until('the caller hears it', () => {
    media.capture(Buffer.alloc(FRAME_BYTES, 1));
    return media.heard.some((octet) => octet !== 0);
  });
  await until('it hears the caller', () => {
    media.capture(Buffer.alloc(FRAME_BYTES, 1));
    return model.of({ type: 'input_audio_buffer.append' }).length > 3;
  });
  takeMessage(model);
  await until('it has taken the message', () => lines.includes('message of Bob'), WAIT_MS);
  t.match(phone.node.commands('send_sms')[0]?.params, { to: OWNER, body: 'Bob: call me back' });
  await until(
    'the model knows',
    () => JSON.stringify(model.texts).includes('The owner has the message.'),
    WAIT_MS,
  );
  t.same(lines.slice(1), ['message of Bob']);
});

t.test('twilio_app.mjs, beside a bridge: it texts, answers texts, and calls when asked to', async (t) => {
  const phone = await telephone(t, rig);
  const [apiPort, appPort] = [await freePort(), await freePort()];
  const bots = await botServer(t);
  const credentials = { TWILIO_ACCOUNT_SID: ACCOUNT_SID, TWILIO_AUTH_TOKEN: AUTH_TOKEN };
  const bridge = commandLine(t, phone.url, { token: phone.token, env: credentials });
  let said = '';
  const args = ['bridge', '--api', `127.0.0.1:${apiPort}`, '--texts', `http://127.0.0.1:${appPort}/sms`];
  let stop: () => void = () => undefined;
  const ran = bridge.start(args, (child) => {
    stop = () => child.kill('SIGTERM');
    child.stderr?.on('data', (chunk) => {
      said += String(chunk);
    });
  });
  t.teardown(() => stop());
  await until('the API', () => said.includes('API at'), WAIT_MS);
  t.notMatch(said, AUTH_TOKEN);
  const folder = await installed(t, 'twilio_app.mjs', ['twilio']);
  const lines = start(folder, 'twilio_app.mjs', {
    ...credentials,
    API_URL: `http://127.0.0.1:${apiPort}`,
    BOT_URL: bots.url,
    FROM: phone.number,
    TO: FAR_END,
    PORT: String(appPort),
  });
  await until('it has texted', () => lines.includes('text sent'), WAIT_MS);
  phone.node.sendFact(1, received('OK'));
  await until('it answers', () => phone.node.commands('send_sms').length === 2, WAIT_MS);
  t.same(
    phone.node.commands('send_sms').map(({ params }) => (params as { body: string }).body),
    ['Your table is ready at 8. Reply OK, or CALL to talk to us.', 'See you at 8!'],
  );
  phone.node.sendFact(2, received('Call please'));
  await until('it calls', () => phone.line.calls.length === 1, WAIT_MS);
  phone.line.answer(String(phone.line.calls[0]?.call_id));
  const bot = await until('the bot', () => bots.bots[0], WAIT_MS);
  await until('start', () => bot.of({ event: 'start' }).length === 1);
  t.match(bot.of({ event: 'start' })[0]?.['start'], { accountSid: ACCOUNT_SID });
  bot.socket.close(1000);
  await until('hung up', () => phone.node.commands('hang_up').length === 1, WAIT_MS);
  stop();
  t.equal((await ran).status, 0);
  t.match(await fetch(`http://127.0.0.1:${appPort}/sms`, { method: 'POST', body: 'Body=call' }), {
    status: 403,
  });
});
