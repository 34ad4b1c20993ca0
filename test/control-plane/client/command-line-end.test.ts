// The end of `simrack` when it cannot carry out its command: exit codes, closed pipes, Ctrl-C, and the output on a terminal.
import { spawn } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { commandLine } from '../../fixtures/agents/command-line.ts';
import { received, subscriber } from '../../fixtures/agents/subscriber.ts';
import { FAR_END } from '../../fixtures/agents/telephone.ts';
import { served } from '../../fixtures/network/served.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';

const rig = await createRig();
/** No server listens there. */
const NOWHERE = 'http://127.0.0.1:1';

async function alice(t: Test, service: Parameters<typeof rig.start>[1] = {}) {
  const subscribed = await subscriber(t, rig, { service });
  const token = subscribed.headers.Authorization.replace('Bearer ', '');
  return { ...subscribed, ...commandLine(t, subscribed.url, { token }) };
}

t.test('wrong use ends with 2, and says what is wrong', async (t) => {
  const { simrack, start, folder } = commandLine(t, NOWHERE);
  const loose = join(folder, 'token.json');
  writeFileSync(loose, '{}');
  chmodSync(loose, 0o644);
  const wrong: Array<[args: string[], says: RegExp]> = [
    [['sing'], /unknown command 'sing'/],
    [['--url', NOWHERE, 'numbr', '--help'], /unknown command 'numbr'\s+\(Did you mean number\?\)/],
    [['webhook', 'ad', '--help'], /\(Did you mean add\?\)/],
    [['receive', '--from', FAR_END], /--from needs --wait/],
    [['receive', '--wait', '1', '--from', '+310'], /write the number in E\.164/],
    [['send', '--to', FAR_END, '--text', 'x'], /unknown option '--text'/],
    [['send', '--to', FAR_END], /send needs --body/],
    [['subscribe', '--max', 'all'], /must be dollars, such as 1800 or 0.50/],
    [['subscribe', '--wallet', '99'], /wallets 0 to 4/],
    [['number', '--print', 'colour'], /the answer has no field "colour"; its fields are number, /],
    [['number', '--token-file', loose], /can be read by other users: run chmod 600/],
  ];
  for (const [args, says] of wrong)
    t.match(await simrack(...args), { status: 2, stdout: '', stderr: says }, args.join(' '));
  t.match(await start(['--version']), { status: 0, stdout: /^\d+\.\d+\.\d+\n$/, stderr: '' });
  t.match(await start(['sing']), { status: 2, stdout: '', stderr: /unknown command 'sing'/ });
  // Wherever the option stands: the parser ends before it has read it.
  for (const args of [
    ['sing', '--json'],
    ['send', '--to', FAR_END, '--json'],
    ['--wallet', 'x', '--json'],
    ['--json'],
  ]) {
    const ran = await simrack(...args);
    t.match(ran, { status: 2, stdout: '' }, args.join(' '));
    t.match(ran.failure(), { error: 'usage', message: /^(?!error)./ });
  }
  const lost = commandLine(t, NOWHERE, { env: { DATA_DIR: '/nonexistent', WALLET_KEY: '0x12' } });
  t.match(await lost.simrack('availability'), { status: 2, stderr: /or run npm start first/ });
  const keyless = await lost.simrack('recover', '--url', NOWHERE);
  t.match(keyless, { status: 2, stderr: /64 hexadecimal digits/ });
  t.notMatch(keyless.stderr, /0x12/, 'a key is not shown, not even a wrong one');
});

t.test('no server, another server, and a server that limits requests', async (t) => {
  const noServer = commandLine(t, NOWHERE);
  const unreachable = await noServer.start(['availability', '--json']);
  t.equal(unreachable.status, 3);
  t.match(unreachable.failure(), { error: 'unreachable', status: 0 });

  const page = createServer((_, response) => response.end('<html>'));
  const pageUrl = await served(t, page);
  t.match(await noServer.simrack('availability', '--url', pageUrl), { status: 3, stderr: /invalid_answer/ });

  const { url } = await rig.start(t, { noncesPerMinute: 1 });
  const { simrack } = commandLine(t, url);
  t.match(await simrack('recover'), { status: 1, stderr: /no_active_subscription.*\n.*simrack subscribe/s });
  const limited = await simrack('recover', '--json');
  t.equal(limited.status, 5);
  t.match(limited.failure(), { error: 'rate_limited', status: 429, retry_after_seconds: Number });
});

t.test('a stored token is sent only to the service that gave it', async (t) => {
  const tokens: unknown[] = [];
  const other = createServer((request, response) => {
    tokens.push(request.headers.authorization);
    response.end('{}');
  });
  const { port } = new URL(await served(t, other));
  const { simrack, kept, folder } = commandLine(t, NOWHERE);
  const keep = (file: string, baseUrl: string): void => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify({ base_url: baseUrl, token: 'secret' }), { mode: 0o600 });
  };
  const named = join(folder, 'named.json');
  keep(named, 'https://elsewhere.example');
  const url = `http://localhost:${port}`;
  const says = /token of https:\/\/elsewhere\.example, not of http:\/\/localhost:\d+: .*SIMRACK_TOKEN/;
  t.match(await simrack('number', '--url', url, '--token-file', named), { status: 2, stderr: says });
  const stored = kept(`http://127.0.0.1:${port}`, 'default.json');
  keep(stored, `https://127.0.0.1:${port}`);
  t.match(await simrack('number', '--url', url), { status: 2, stderr: /token of https:/ }, 'in clear text');
  t.same(tokens, []);
  keep(stored, `http://127.0.0.1:${port}/`);
  t.match(await simrack('number', '--url', url), { status: 3 }, 'another name of this machine');
  t.same(tokens, ['Bearer secret']);
  t.match(await simrack('number', '--url', url, '--token', 'given'), { status: 3 });
  t.same(tokens, ['Bearer secret', 'Bearer given'], 'a token that is given with the URL');
});

t.test('a reader that stops causes no error, unless a secret shown once is lost', async (t) => {
  const { node, environment, start } = await alice(t);
  await node.report(received('first'), received('second'));
  const closed = await start(['messages'], (child) => child.stdout?.destroy());
  t.match(closed, { status: 0, stderr: '' });
  const pipeline = spawn(
    'bash',
    ['-o', 'pipefail', '-c', 'node control-plane/client/bin.mjs messages --print body | head -1'],
    {
      cwd: PROJECT_FOLDER,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...environment, PATH: String(process.env['PATH']) },
    },
  );
  const [output, [status]] = await Promise.all([text(pipeline.stdout), once(pipeline, 'close')]);
  t.same({ output, status }, { output: 'second\n', status: 0 });
  const claimed = await start(['receive'], (child) => child.stdout?.destroy());
  t.match(
    claimed,
    { status: 141, stderr: '' },
    'messages are claimed once: the command says that they were not printed',
  );
  const nothing = await start(['receive'], (child) => child.stdout?.destroy());
  t.equal(nothing.status, 0, 'nothing was lost');
});

t.test('a wait that is interrupted prints what it claimed', async (t) => {
  const { node, start } = await alice(t);
  let asked = 0;
  const count = (message: unknown): void => {
    if ((message as { request: IncomingMessage }).request.url === '/mcp') asked += 1;
  };
  subscribe('http.server.request.start', count);
  t.teardown(() => void unsubscribe('http.server.request.start', count));
  const args = ['receive', '--wait', '60', '--from', FAR_END];
  for (const [sequence, signal, code] of [
    [1, 'SIGINT', 130],
    [2, 'SIGTERM', 143],
  ] as const) {
    const body = `not awaited ${signal}`;
    asked = 0;
    const waiting = await start(args, (child) => {
      child.stderr?.once('data', () => node.sendFact(sequence, received(body, '+13105550199')));
      // When it asks for more, it has what the service claimed for it.
      void until('it is claimed', () => asked === 2, 30_000).then(() => child.kill(signal));
    });
    t.equal(waiting.status, code);
    t.match(waiting.json(), { messages: [{ body }], count: 1 });
    t.match(waiting.stderr, /^waiting up to 60 s for a message of \+13105550188 …\nerror: interrupted\n$/);
  }
});

t.test('a terminal shows the seconds of a wait, and answers stay apart', async (t) => {
  const { node, environment, folder } = await alice(t);
  const answer = join(folder, 'answer.json');
  const command = `node control-plane/client/bin.mjs receive --wait 60 > ${answer}`;
  // script(1) of util-linux: the command has a terminal.
  const terminal = spawn('script', ['-qefc', command, '/dev/null'], {
    cwd: PROJECT_FOLDER,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...environment, PATH: String(process.env['PATH']), SHELL: '/bin/sh', TERM: 'xterm' },
  });
  let shown = '';
  terminal.stdout.on('data', (data) => {
    shown += String(data);
  });
  await until('seconds are shown', () => /… 1 s/.test(shown), 30_000);
  node.sendFact(1, received('here'));
  const [status] = (await once(terminal, 'close')) as [number];
  t.equal(status, 0);
  t.ok(shown.endsWith('\r\u001b[K'), 'the line is gone at the end');
  t.ok(existsSync(answer));
  t.match(JSON.parse(readFileSync(answer, 'utf8')), { messages: [{ body: 'here' }], count: 1 });
});
