// The commands of the client in the README and on the pages for agents, pasted into a shell in their order, with one service.
import { existsSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { runSimrack } from '#control-plane/client/commands/run.ts';
import { FRAME_BYTES } from '#shared/voice/media.ts';
import { writeWave } from '#shared/voice/wave.ts';
import { botServer } from '../fixtures/agents/bot-server.ts';
import { commandLine } from '../fixtures/agents/command-line.ts';
import { received } from '../fixtures/agents/subscriber.ts';
import { captured } from '../fixtures/captured-output.ts';
import { freePort } from '../fixtures/network/free-port.ts';
import { served } from '../fixtures/network/served.ts';
import { ScriptedLine } from '../fixtures/nodes/scripted-line.ts';
import { type Command, slotAt } from '../fixtures/nodes/scripted-node.ts';
import { availableAt } from '../fixtures/payments/presented.ts';
import type { Ran } from '../fixtures/run-program.ts';
import { createRig } from '../fixtures/service/rig.ts';
import { until } from '../fixtures/until.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';
import { runExample } from './example.ts';
import { blocksOf, blockWith, readPage } from './pages.ts';
import { pastedShell } from './pasted-shell.ts';

const START_MS = 60_000;
const AUDIO = Buffer.alloc(FRAME_BYTES, 9);
/** One second. */
const SPEECH = new Int16Array(16_000).fill(5_000);

const rig = await createRig();
const { url } = await rig.start(t, { webhookAllowPrivate: true });
const slots = [1, 2].map((index) => slotAt(index));
const line = new ScriptedLine(url);
const node = await rig.connect(t, url, {
  journalId: 'journal-1',
  slots,
  onCommand(command) {
    if (command.name === 'send_sms') void answerText(command);
    return line.onCommand(command);
  },
});
line.node = node;
// The facts of texts and of calls have one sequence.
line.end = (call, end) => {
  line.forget(call);
  const { state: _state, has_media: _hasMedia, ...reported } = call;
  void node.report({
    kind: 'call_ended',
    ...reported,
    ...end,
    ended_at: new Date().toISOString(),
    audio: null,
  });
};
await until('both numbers are on sale', async () => (await availableAt(url)) === slots.length);

/** A text to a number of ours arrives there; the one of another number is answered. */
async function answerText({ params }: Command): Promise<void> {
  const { to, iccid, body } = params as Record<'to' | 'iccid' | 'body', string>;
  const slot = slots.find(({ number }) => number === to);
  const text = slot === undefined ? received('I am here', to) : received(body);
  await node.report({ ...text, iccid: String(slot?.iccid ?? iccid) });
}

const client = commandLine(t, url);
/** The value that a page shows, and the one that it has here. */
const real = new Map<string, string>();
const shell = await pastedShell(
  t,
  {
    simrack: (args, env) =>
      captured(async () => {
        const given = args.map((arg) => real.get(arg) ?? arg);
        return (await runSimrack(given, env)).exitCode;
      }),
  },
  { env: { ...client.environment, SIMRACK_URL: url }, lasts: ['bridge'] },
);
writeFileSync(join(shell.folder, 'hello.wav'), writeWave({ samples: SPEECH, rateHz: 16_000 }));

t.test(
  'README.md: two wallets buy a number each, one texts the other, and an agent is connected',
  async (t) => {
    const pasted = blocksOf(readPage('README.md')).filter(({ code }) =>
      /^TOKEN=|simrack subscribe$/m.test(code),
    );
    t.equal(pasted.length, 2);
    const [buying = '', connecting = ''] = pasted.map(({ code }) => code);
    const bought = await shell.paste(buying);
    t.equal(bought.status, 0, bought.stderr);
    t.equal(bought.stdout.match(/"outcome": "bought"/g)?.length, 2);
    t.match(bought.stdout, /\nYour code is 417209\n$/);
    shell.install('claude', 'echo "$@"');
    const { stdout } = await shell.paste(connecting.replace('http://127.0.0.1:8080', url));
    const [, endpoint = '', header = ''] =
      /^mcp add --transport http simrack (\S+) --header (.*)$/m.exec(stdout) ?? [];
    const [name = '', value = ''] = header.split(': ');
    const tools = await fetch(endpoint, {
      method: 'POST',
      headers: {
        [name]: value,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    t.match(await tools.text(), /send_sms/, endpoint);
  },
);

t.test('quick-start.md and first-bot.md: the number and the token of the wallet', async (t) => {
  const given = blockWith('agents/quick-start.md', 'TOKEN=$(simrack');
  const { stdout, stderr } = await shell.paste(`${given}printenv NUMBER TOKEN`);
  const [, number = '', token = ''] = /^(\+1206555\d{4})\n(.+)\n$/.exec(stdout) ?? [];
  const answer = await fetch(`${url}/number`, { headers: { Authorization: `Bearer ${token}` } });
  t.match(await answer.json(), { number }, stderr);
  t.equal((await shell.paste(blockWith('agents/first-bot.md', 'simrack subscribe'))).stdout, `${number}\n`);
});

t.test('client.md: it texts, gets the answer, calls, takes a call, and has a bot', async (t) => {
  const bots = await botServer(t);
  const code = blockWith('agents/client.md', 'simrack bridge').replace('ws://localhost:7860/ws', bots.url);
  const pasted = shell.start(code);
  /** The far end of a call speaks until `isHeard`, and hangs up. */
  const converse = async (callId: string, isHeard: (heard: Buffer) => boolean) => {
    const media = await until('the media link', () => line.media ?? pasted.mustRun(), START_MS);
    await until('audio both ways', () => {
      media.capture(AUDIO);
      return isHeard(media.heard);
    });
    const call = line.calls.find((each) => each.call_id === callId);
    if (call !== undefined) line.end(call, { reason: 'remote_hangup', cause: 16 });
    return media;
  };
  const hearsSpeech = (heard: Buffer): boolean =>
    heard.includes(Buffer.from(SPEECH.buffer).subarray(0, FRAME_BYTES));
  const dialed = await until('it calls', () => line.calls[0], START_MS);
  t.match(pasted.said(), /"outcome": "unchanged"[\s\S]*"status": "queued"[\s\S]*\nI am here\n/);
  line.answer(dialed.call_id);
  const recording = join(shell.folder, 'heard.wav');
  const { texts } = await converse(
    dialed.call_id,
    (heard) => hearsSpeech(heard) && existsSync(recording) && statSync(recording).size > 44,
  );
  t.match(texts, [{ type: 'dtmf', digits: '1' }]);

  line.medias.length = 0;
  const rung = line.ring();
  await converse(rung.call_id, hearsSpeech);
  await until('the bot waits', () => pasted.said().includes('waiting for calls'), START_MS);
  line.medias.length = 0;
  line.ring();
  const bot = await until('the bot', () => bots.bots[0], START_MS);
  await until('it is connected', () => bot.of({ event: 'start' }).length === 1);
  bot.socket.close(1000);
  await until('the call ends', () => pasted.said().includes('"bot_connected":true'), START_MS);
  await pasted.stop();
});

t.test('bots.md: the echo', async (t) => {
  line.medias.length = 0;
  const pasted = shell.start(blockWith('agents/bots.md', '--command cat'));
  await until('it waits', () => pasted.said().includes('waiting for calls') || pasted.mustRun(), START_MS);
  line.ring();
  const media = await until('the media link', () => line.media, START_MS);
  await until('the caller hears it', () => {
    media.capture(AUDIO);
    return media.heard.includes(AUDIO);
  });
  await pasted.stop();
  await until('it hangs up', () => line.calls.length === 0);
  t.match(pasted.said(), /"bot_connected":true/);
});

t.test('twilio.md: the API takes the request of the page, and posts texts to the app', async (t) => {
  const posted: string[] = [];
  const app = createServer((request, response) => {
    void text(request).then((body) => {
      posted.push(`${request.url} ${body}`);
      response.writeHead(200, { 'Content-Type': 'text/xml' }).end('<Response/>');
    });
  });
  const appUrl = await served(t, app);
  const api = `127.0.0.1:${await freePort()}`;
  const here = (code: string): string =>
    code.replaceAll('127.0.0.1:2010', api).replaceAll('http://127.0.0.1:3000', appUrl);
  // Its credentials are of one shell.
  const report = join(shell.folder, 'credentials');
  const pasted = shell.start(
    here(blockWith('agents/twilio.md', '--texts')).replace(
      /^simrack bridge/m,
      `env | grep ^TWILIO_ > ${report}; simrack bridge`,
    ),
  );
  await until('the API', () => pasted.said().includes('API at'), START_MS);
  const number = (await shell.paste('simrack number --print number')).stdout.trim();
  const request = here(blockWith('agents/twilio.md', 'Messages.json'));
  const sent = await shell.paste(`. ${report}; NUMBER=${number}\n${request}`);
  t.match(JSON.parse(sent.stdout), { body: 'hello', from: number, status: /sent|sending/ }, sent.stderr);
  await until('the app has the answer', () => posted.some((each) => /^\/sms .*Body=I\+am\+here/.test(each)));
  line.ring();
  await until('the app is asked about a call', () => posted.some((each) => each.startsWith('/voice ')));
  await pasted.stop();
  await until('no call is left', () => line.calls.length === 0);
});

t.test('receipts.md: they are valid, and with the last hash', async (t) => {
  const read = await shell.paste(blockWith('agents/receipts.md', 'jwks.json'));
  t.equal(read.status, 0, read.stderr);
  const { valid, head } = JSON.parse(read.stdout) as { valid: boolean; head: { hash: string } };
  t.equal(valid, true);
  const since = (code: string): string => code.replace('yG3H…', head.hash);
  t.match(await shell.paste(since(blockWith('agents/receipts.md', '--since'))), { status: 0, stderr: '' });
  t.match(await shell.paste(blockWith('agents/receipts.md', '--sign')), { status: 0 });
  t.match(
    await shell.paste(since(blockWith('agents/receipts.md', '--since'))),
    { status: 0 },
    'they are the same',
  );
});

t.test('webhooks.md: each command, and the library verifies what is posted', async (t) => {
  const posts: Array<{ headers: IncomingHttpHeaders; rawBody: string }> = [];
  const receiver = createServer((request, response) => {
    void text(request).then((rawBody) => {
      posts.push({ headers: request.headers, rawBody });
      response.end();
    });
  });
  const [adding = '', using = ''] = blockWith('agents/webhooks.md', 'simrack webhook add').split(
    /(?<=\nsimrack webhook add .*\n)/,
  );
  real.set('https://example.org/simrack', `${await served(t, receiver)}/simrack`);
  const added = await shell.paste(adding);
  t.equal(added.status, 0, added.stderr);
  const { id, secret } = JSON.parse(added.stdout) as { id: string; secret: string };
  real.set('wh_q0Zk2mV8aXbT4r1c', id);
  real.set('2027-01-31T12:00:00Z', new Date(Date.now() - 60_000).toISOString());
  t.same(using.match(/^simrack/gm)?.length, 4, 'the page has one webhook');
  const used = await shell.paste(using);
  t.equal(used.status, 0, used.stderr);
  t.match(used.stdout, /"delivered": true[\s\S]*"deliveries": \[\][\s\S]*"queued": \d/);
  const { headers, rawBody } = await until('a post', () => posts[0]);
  const program = `const { secret, rawBody, headers } = JSON.parse(process.env.GIVEN);
    ${blockWith('agents/webhooks.md', 'standardwebhooks')}
    console.log(event.type);`;
  writeFileSync(join(shell.folder, 'receive.mjs'), program);
  symlinkSync(join(PROJECT_FOLDER, 'node_modules'), join(shell.folder, 'node_modules'));
  const verified = (body: string): Promise<Ran> =>
    runExample([process.execPath, 'receive.mjs'], {
      cwd: shell.folder,
      env: { GIVEN: JSON.stringify({ secret, rawBody: body, headers }) },
    });
  t.match(await verified(rawBody), { status: 0, stdout: 'webhook.test\n', stderr: '' });
  t.match(await verified(`${rawBody} `), { status: 1, stderr: /WebhookVerificationError/ }, 'another body');
});
