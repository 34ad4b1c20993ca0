// The agents of docs/agents/examples: one logs in with a code that a site texts, one echoes texts.
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import t from 'tap';
import { ALICE } from '../dev-stack/wallets.ts';
import { installClientPackage } from '../fixtures/agents/client-package.ts';
import { received } from '../fixtures/agents/subscriber.ts';
import { PYTHON } from '../fixtures/foreign-program.ts';
import { slotAt } from '../fixtures/nodes/scripted-node.ts';
import { createRig } from '../fixtures/service/rig.ts';
import { until } from '../fixtures/until.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';
import { EXAMPLES, runExample } from './example.ts';

const LINES_MAX = 60;
const hasPackages = spawnSync(PYTHON, ['-c', 'import ecdsa, Cryptodome.Hash.keccak']).status === 0;

const rig = await createRig();
const number = String(slotAt(1).number);

async function service(t: Parameters<typeof rig.start>[0]) {
  const { url } = await rig.start(t);
  const node = await rig.connect(t, url, { journalId: 'journal-1', slots: [slotAt(1)] });
  const env = { PATH: String(process.env['PATH']), SIMRACK_URL: url, WALLET_KEY: ALICE.privateKey };
  return { node, env };
}

t.test('each example is short', async (t) => {
  for (const name of ['otp_login.mjs', 'echo_bot.py'])
    t.ok(readFileSync(join(EXAMPLES, name), 'utf8').split('\n').length <= LINES_MAX, name);
});

t.test('the first login buys a number, the second one uses the same', async (t) => {
  const { node, env } = await service(t);
  const { folder } = await installClientPackage(t, ['viem', 'ws']);
  copyFileSync(join(EXAMPLES, 'otp_login.mjs'), join(folder, 'otp_login.mjs'));
  let texts = 0;
  let code = '';
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const given = (await json(request)) as { phone: string; code?: string };
    const isKnown = given.phone === number && (request.url === '/login' || given.code === code);
    response.writeHead(isKnown ? 200 : 403, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ user: given.phone }));
    if (request.url !== '/login') return;
    texts += 1;
    code = String(400_000 + texts);
    node.sendFact(texts, received(`Your code is ${code}`));
  };
  const site = createServer((...each) => void serve(...each));
  site.listen(0, '127.0.0.1');
  t.teardown(() => site.close());
  await until('the site', () => site.listening);
  const SITE_URL = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  for (const attempt of [1, 2]) {
    const run = await runExample([process.execPath, 'otp_login.mjs'], {
      env: { ...env, SITE_URL },
      cwd: folder,
    });
    t.same(run, { status: 0, stdout: `logged in as ${number}\n`, stderr: '' }, `login ${attempt}`);
  }
});

t.test('the bot echoes texts, but not one of a name', { skip: !hasPackages }, async (t) => {
  const { node, env } = await service(t);
  const PYTHONPATH = join(PROJECT_FOLDER, 'control-plane/client/python');
  const lines: string[] = [];
  const running = runExample([PYTHON, join(EXAMPLES, 'echo_bot.py')], {
    env: { ...env, PYTHONPATH, PYTHONDONTWRITEBYTECODE: '1' },
    onLine: async (line) => void lines.push(line),
  });
  void running;
  await until('it has a number', () => lines.includes(`number ${number}`), 30_000);
  node.sendFact(1, received('from a name', 'Bank'));
  node.sendFact(2, received('hello'));
  await until('it has echoed', () => lines.includes('echoed hello'), 30_000);
  t.equal(node.commands('send_sms').length, 1);
  t.match(JSON.stringify(node.commands('send_sms')), '+13105550188');
});
