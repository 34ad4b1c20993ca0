// `simrack bridge --command`: a program that hears and speaks through pipes; and a bridge that is killed.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { commandBot } from '#control-plane/client/bridge/command-bot.ts';
import type { LiveCall } from '#shared/voice/call.ts';
import { FRAME_BYTES } from '#shared/voice/media.ts';
import { botServer } from '../../../fixtures/agents/bot-server.ts';
import type { Answered } from '../../../fixtures/agents/command-line.ts';
import { commandLine } from '../../../fixtures/agents/command-line.ts';
import { FAR_END, telephone } from '../../../fixtures/agents/telephone.ts';
import type { ScriptedMedia } from '../../../fixtures/nodes/scripted-media.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { until } from '../../../fixtures/until.ts';
import { PROJECT_FOLDER } from '../../../tidy/sources.ts';

const rig = await createRig();
const WAIT_MS = 60_000;

async function bridge(t: Test, args: (folder: string) => string[]) {
  const phone = await telephone(t, rig, { service: { streamHoldMs: 300 } });
  const line = commandLine(t, phone.url, { token: phone.token });
  let stderr = '';
  let kill: (signal: NodeJS.Signals) => void = () => undefined;
  const ran: Promise<Answered> = line.start(['bridge', ...args(line.folder)], (child) => {
    kill = (signal) => child.kill(signal);
    child.stderr?.on('data', (chunk) => {
      stderr += String(chunk);
    });
  });
  t.teardown(() => kill('SIGKILL'));
  return {
    ...phone,
    folder: line.folder,
    ran,
    kill: (signal: NodeJS.Signals) => kill(signal),
    said: () => stderr,
  };
}

/** A process that has ended may wait for its parent. */
function isRunning(pid: number): boolean {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) && !/\) [ZX] /.test(readFileSync(file, 'latin1'));
}

/** The service knows that no call is left. */
const isFree = ({ calls }: Awaited<ReturnType<typeof telephone>>) =>
  until('the line is free', async () => (await calls()).every(({ state }) => state === 'ended'), WAIT_MS);

async function ring({ line, said }: Awaited<ReturnType<typeof bridge>>): Promise<ScriptedMedia> {
  await until('it waits', () => said().includes('waiting for calls'), WAIT_MS);
  line.ring();
  return until('the media link', () => line.media, WAIT_MS);
}

t.test('an echo: it is heard as it spoke; the end of the call ends the program', async (t) => {
  const phone = await bridge(t, () => ['--command', 'cat']);
  const media = await ring(phone);
  let count = 0;
  await until('the echo', () => {
    count += 1;
    media.capture(Buffer.alloc(FRAME_BYTES, (count % 250) + 1));
    return media.frames.length > 20;
  });
  const first = media.heard[0] ?? 0;
  t.ok(first > 0);
  const [call] = phone.line.calls;
  if (call !== undefined) phone.line.end(call, { reason: 'remote_hangup', cause: 16 });
  await until('its end', () => phone.said().includes('the far end hung up (16 normal_clearing)'), WAIT_MS);
  phone.kill('SIGTERM');
  const { stdout } = await phone.ran;
  t.match(JSON.parse(stdout), {
    call_id: call?.call_id,
    call_sid: null,
    account_id: String,
    direction: 'inbound',
    from: FAR_END,
    answered: true,
    bot_connected: true,
    failed: false,
    reason: 'remote_hangup',
    words: 'the call ended: the far end hung up (16 normal_clearing)',
  });
});

t.test(
  'a program that writes a minute at once and ends is heard whole; it sees the call, and no secret',
  async (t) => {
    const speech = Buffer.concat(
      Array.from({ length: 3_500 }, (_, index) => Buffer.alloc(FRAME_BYTES, index % 251)),
    );
    const phone = await bridge(t, (folder) => {
      writeFileSync(join(folder, 'speech.raw'), speech);
      return ['--command', `env | sort >&2; cat ${join(folder, 'speech.raw')}`];
    });
    const media = await ring(phone);
    await until(
      'hung up',
      () => {
        for (let count = 0; count < 8; count += 1) media.capture();
        return phone.node.commands('hang_up').length > 0;
      },
      WAIT_MS,
    );
    t.ok(
      media.heard.equals(speech),
      `${media.frames.length} of 3500 frames, 70 s: more than the service queues`,
    );
    await until('its end', () => phone.said().includes('the program has ended'), WAIT_MS);
    t.match(phone.said(), `SIMRACK_FROM=${FAR_END}`);
    t.match(phone.said(), `SIMRACK_TO=${phone.number}`);
    t.match(phone.said(), 'SIMRACK_DIRECTION=inbound');
    t.notMatch(phone.said(), phone.token);
    phone.kill('SIGTERM');
    await phone.ran;
  },
);

t.test('a background process of a program ends with its call', async (t) => {
  // One that holds the output of the shell, so that the end of the call ends it; and one that does not.
  const phone = await bridge(t, (folder) => ['--command', `. ${folder}/program`]);
  for (const quiet of ['', '>/dev/null 2>&1 </dev/null']) {
    const file = join(phone.folder, `pid${quiet.length}`);
    writeFileSync(join(phone.folder, 'program'), `sleep 600 ${quiet} & echo $! > ${file}`);
    phone.line.medias.length = 0;
    await ring(phone);
    const pid = await until('its process', () =>
      existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined,
    );
    t.teardown(() => isRunning(pid) && process.kill(pid));
    const [call] = phone.line.calls;
    if (quiet === '' && call !== undefined) phone.line.end(call, { reason: 'remote_hangup', cause: 16 });
    await until('its end', () => !isRunning(pid), WAIT_MS);
    await isFree(phone);
  }
  phone.kill('SIGTERM');
  t.equal((await phone.ran).status, 0);
});

t.test('a program that fails ends the call, with the reason', async (t) => {
  const phone = await bridge(t, () => ['--command', 'sleep 0.5; exit 7']);
  await ring(phone);
  await until('hung up', () => phone.node.commands('hang_up').length > 0, WAIT_MS);
  await until('words', () => /ended with exit code 7/.test(phone.said()), WAIT_MS);
  phone.kill('SIGTERM');
  await phone.ran;
});

t.test('a bridge that is killed: the call ends, and its record stays', async (t) => {
  const phone = await bridge(t, () => ['--command', 'cat']);
  const media = await ring(phone);
  media.capture();
  phone.kill('SIGKILL');
  await phone.ran;
  await until('hung up', () => phone.node.commands('hang_up').length > 0, WAIT_MS);
  const record = await until('the record', async () =>
    (await phone.calls()).find(({ state }) => state === 'ended'),
  );
  t.match(record, { direction: 'inbound', caller: FAR_END, reason: String, ended_at: String });
});

// The request that Pipecat's TwilioFrameSerializer sends to end a call (`_hang_up_call`), with a call's SID from its stream:
// https://github.com/pipecat-ai/pipecat/blob/main/src/pipecat/serializers/twilio.py
t.test('--api: a bot of Pipecat hangs up as it does at Twilio, and again', async (t) => {
  const bots = await botServer(t);
  const phone = await bridge(t, () => [bots.url, '--api', '127.0.0.1:0']);
  const [, baseUrl, accountSid, authToken] = await until(
    'the API',
    () =>
      /API at (\S+): TWILIO_ACCOUNT_SID=(AC[0-9a-f]{32}), TWILIO_AUTH_TOKEN=([0-9a-f]{32})\n/.exec(
        phone.said(),
      ) ?? undefined,
    WAIT_MS,
  );
  await ring(phone);
  const bot = await until('the bot', () => bots.bots[0]);
  await until('start', () => bot.of({ event: 'start' }).length === 1);
  const [{ start } = {}] = bot.of({ event: 'start' });
  t.match(start, { accountSid, callSid: /^CA[0-9a-f]{32}$/ });
  const hangUp = () =>
    fetch(
      `${baseUrl}/2010-04-01/Accounts/${accountSid}/Calls/${(start as { callSid: string }).callSid}.json`,
      {
        method: 'POST',
        headers: {
          Authorization: `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`,
          'Content-Type': 'application/x-www-form-urlencoded',
          Accept: '*/*',
          'User-Agent': 'Python/3.12 aiohttp/3.11.16',
        },
        body: 'Status=completed',
      },
    );
  t.equal((await hangUp()).status, 200);
  t.equal(await bot.closed(), 1000);
  await until('recorded', async () => (await phone.calls())[0]?.['state'] === 'ended');
  const again = await hangUp();
  t.match([again.status, await again.json()], [404, { code: 20_404 }]);
  const beganAt = Date.now();
  phone.kill('SIGTERM');
  t.equal((await phone.ran).status, 0);
  t.ok(Date.now() - beganAt < 30_000, 'a goodbye to a call that has ended does not keep the bridge');
});

t.test('--control: one clear waits for the stream, behind more keys than may wait', async (t) => {
  const keys = `for key in $(seq 150); do echo '{"type":"dtmf","digits":"1"}' >&4; done`;
  const sent: string[] = [];
  let isDone = false;
  const connect = commandBot(`${keys}; echo '{"type":"clear"}' >&4`, process.env, { control: true });
  const bot = await connect(
    { callId: 'in_1', accountId: 'AC1', direction: 'inbound', from: FAR_END, to: null },
    {
      send: (data) => void sent.push(String(data)),
      // After all that the program wrote was read.
      done: () => {
        isDone = true;
      },
      failed: (words) => t.fail(words),
      note: () => undefined,
    },
    new AbortController().signal,
  );
  await until('the end of the program', () => isDone);
  t.same(sent, []);
  bot.reopened();
  bot.resume();
  t.equal(sent.length, 101, 'the keys that may wait, and the clear');
  t.equal(sent.filter((text) => text.includes('clear')).length, 1);
  bot.end('the call ended');
});

t.test('--dial: no bot, one that fails, or no answer is exit code 1; a bot that is done is 0', async (t) => {
  const phone = await telephone(t, rig);
  const { line, token, url } = phone;
  const { simrack } = commandLine(t, url, { token });
  const noAnswer = (call: LiveCall): void => line.end(call, { reason: 'no_answer', cause: 19 });
  const answered = async ({ call_id: callId }: LiveCall): Promise<void> => {
    line.answer(callId);
    (await until('the media link', () => line.media, WAIT_MS)).capture();
  };
  type Then = (call: LiveCall) => unknown;
  const BOTS: ReadonlyArray<[status: number, bot: string[], line: object, then?: Then]> = [
    [1, ['ws://127.0.0.1:9/ws'], { failed: true, bot_connected: false, answered: false }],
    [1, ['--command', './nosuch'], { failed: true }],
    [
      1,
      ['--command', 'cat'],
      { failed: false, answered: false, reason: 'no_answer', words: /^the call ended: no answer/ },
      noAnswer,
    ],
    [0, ['--command', 'head -c 640 >/dev/null'], { failed: false, answered: true }, answered],
  ];
  for (const [status, bot, shown, then] of BOTS) {
    line.medias.length = 0;
    const running = simrack('bridge', '--dial', FAR_END, ...bot);
    const call = then && (await until('the call', () => line.calls[0], WAIT_MS));
    if (call !== undefined) await then?.(call);
    const ran = await running;
    t.equal(ran.status, status, ran.stderr);
    t.match(ran.json(), shown);
    await isFree(phone);
  }
});

t.test('--tokens: a token that the service refuses is named by its line', async (t) => {
  const { url, token } = await telephone(t, rig);
  const { simrack, folder } = commandLine(t, url, {});
  const file = join(folder, 'tokens');
  writeFileSync(file, `${token}\n\nwrong\n`);
  const refused = await simrack('bridge', '--command', 'cat', '--tokens', file);
  t.match(refused, { status: 1, stderr: /unauthorized: line 3 of .*tokens: / });
});

t.test('npx that gets SIGTERM leaves no bridge behind', async (t) => {
  const { token, url } = await telephone(t, rig);
  const { environment } = commandLine(t, url, { token });
  const npx = spawn('npx', ['--no-install', 'simrack', 'bridge', '--command', 'cat'], {
    cwd: PROJECT_FOLDER,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  npx.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  // The bridge has the other end of the pipe.
  let isOver = false;
  npx.on('close', () => {
    isOver = true;
  });
  await until('it waits', () => said.includes('waiting for calls'), WAIT_MS);
  npx.kill('SIGTERM');
  await until('its bridge has ended', () => isOver, WAIT_MS);
});

t.test('--control: a line that is ignored is reported, each kind once', async (t) => {
  const phone = await bridge(t, () => [
    '--control',
    '--command',
    `for n in 1 2; do echo '{"type":"hangup","when":"played"}' >&4; echo nonsense >&4; done; cat`,
  ]);
  await ring(phone);
  await until('words', () => /it is no clear, dtmf or hangup/.test(phone.said()), WAIT_MS);
  await until('words', () => /a hangup of the program was ignored/.test(phone.said()), WAIT_MS);
  phone.kill('SIGTERM');
  t.equal((await phone.ran).status, 0);
  t.equal(phone.said().match(/was ignored/g)?.length, 2);
});

t.test('wrong usage is refused before anything is connected', async (t) => {
  const { simrack } = commandLine(t, 'http://127.0.0.1:9', { token: 'x' });
  for (const args of [
    [],
    ['ws://localhost:1', '--command', 'cat'],
    ['http://localhost:1'],
    ['--twiml', 'ws://localhost:1'],
    ['--api', 'nowhere'],
    ['--api', '0.0.0.0:2010'],
    ['--api', '127.0.0.1:0', '--dial', '+13105550188'],
    ['--api', '127.0.0.1:0', '--json'],
    ['--api', '127.0.0.1:0', '--texts', 'mailto:x'],
    ['--command', 'cat', '--texts', 'http://127.0.0.1:9/'],
  ]) {
    const { status, stderr } = await simrack('bridge', ...args);
    t.equal(status, 2, stderr);
  }
});
