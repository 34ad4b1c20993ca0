// The programs and the commands with curl on the pages for agents, as they are written there, with one service: they pay, sign in, take a call,
// and send and receive texts. In a folder outside of the checkout, with the packages that the pages name.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transform } from 'esbuild';
import t from 'tap';
import { FRAME_BYTES } from '#shared/voice/media.ts';
import { ALICE, BOB, CAROL, DAVE } from '../dev-stack/wallets.ts';
import { installClientPackage } from '../fixtures/agents/client-package.ts';
import { received } from '../fixtures/agents/subscriber.ts';
import { PYTHON } from '../fixtures/foreign-program.ts';
import { ScriptedLine } from '../fixtures/nodes/scripted-line.ts';
import { slotAt } from '../fixtures/nodes/scripted-node.ts';
import { availableAt } from '../fixtures/payments/presented.ts';
import { createRig } from '../fixtures/service/rig.ts';
import { until } from '../fixtures/until.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';
import { runExample } from './example.ts';
import { blocksOf, blockWith } from './pages.ts';

const START_MS = 60_000;
const hasPackages = spawnSync(PYTHON, ['-c', 'import ecdsa, Cryptodome.Hash.keccak']).status === 0;

const rig = await createRig();
const { url } = await rig.start(t);
const slots = [1, 2, 3, 4].map((index) => slotAt(index));
const line = new ScriptedLine(url);
const node = await rig.connect(t, url, { journalId: 'journal-1', slots, onCommand: line.onCommand });
line.node = node;
await until('all numbers are on sale', async () => (await availableAt(url)) === slots.length);

const PACKAGES = ['viem', 'ws', 'x402-fetch', '@x402', 'mppx'];
const { folder } = await installClientPackage(t, PACKAGES);
const program = (name: string, code: string): void => writeFileSync(join(folder, name), code);
const environment = { PATH: String(process.env['PATH']), SIMRACK_URL: url };

/** The programs of pay.md: which wallet each is given, by the words of its lines. */
const PAYING = {
  v1: { words: "from 'x402-fetch'", wallet: ALICE },
  v2: { words: "from '@x402/fetch'", wallet: BOB },
  mpp: { words: "from 'mppx/client'", wallet: CAROL },
  auth: { words: '/auth/nonce`', wallet: ALICE },
} as const;

/** Runs them in one process: to load their packages is most of their work. */
const RUN_ALL = `
const answers = {};
for (const [name, key] of Object.entries(JSON.parse(process.env.KEYS))) {
  process.env.WALLET_KEY = key;
  answers[name] = await import(\`./\${name}.mjs\`);
}
console.log(JSON.stringify(answers));
`;

/** Those who have a number, by the program that paid. */
const paid: Partial<Record<keyof typeof PAYING, { token: string; number: string }>> = {};

t.test('pay.md: each protocol buys a number, and a signature gets a new token', async (t) => {
  const first = blockWith('agents/pay.md', 'function answerOf');
  for (const [name, { words }] of Object.entries(PAYING)) {
    // As the page says, for the chain of this service.
    const code = blockWith('agents/pay.md', words).replace('assets.base.USDC', 'assets.baseSepolia.USDC');
    program(`${name}.mjs`, `${first}${code}export { token };\n`);
  }
  program('all.mjs', RUN_ALL);
  const keys = Object.entries(PAYING).map(([name, { wallet }]) => [name, wallet.privateKey]);
  const KEYS = JSON.stringify(Object.fromEntries(keys));
  const ran = await runExample([process.execPath, 'all.mjs'], { cwd: folder, env: { ...environment, KEYS } });
  t.match(ran, { status: 0, stderr: '' });
  const answers = JSON.parse(ran.stdout) as Record<keyof typeof PAYING, { token: string }>;
  const numberOf = async (token: string) => {
    const answer = await fetch(`${url}/number`, { headers: { Authorization: `Bearer ${token}` } });
    return ((await answer.json()) as { number?: string }).number;
  };
  t.equal(await numberOf(answers.v1.token), undefined, 'the sign-in has revoked it');
  for (const name of ['v2', 'mpp', 'auth'] as const) {
    const { token } = answers[name];
    paid[name] = { token, number: String(await numberOf(token)) };
  }
  const numbers = Object.values(paid).map(({ number }) => number);
  t.equal(new Set(numbers).size, 3);
  for (const number of numbers) t.match(number, /^\+1206555/);
});

t.test('calls.md: the echo answers a call, and the caller hears it', async (t) => {
  const { token = '', number = '' } = paid.v2 ?? {};
  program('echo.mjs', blockWith('agents/calls.md', 'an echo'));
  const lines: string[] = [];
  const running = runExample([process.execPath, 'echo.mjs'], {
    cwd: folder,
    env: { ...environment, TOKEN: token, NUMBER: number },
    onLine: async (text) => void lines.push(text),
  });
  void running.then(({ stderr }) => lines.push(stderr));
  const iccid = slots.find((slot) => slot.number === number)?.iccid ?? '';
  const call = line.ring(undefined, undefined, iccid);
  const media = await until('it answers', () => line.media, START_MS);
  await until('the echo', () => {
    media.capture(Buffer.alloc(FRAME_BYTES, 1));
    return media.heard.some((octet) => octet !== 0);
  });
  line.end(call, { reason: 'remote_hangup', cause: 16 });
  await until('the end', () => lines.includes('closed with 1000'));
  t.match(lines, [/answered/, 'closed with 1000']);
});

/** The blocks with curl, and their output. */
const CURLS: ReadonlyArray<readonly [page: string, words: string, prints: RegExp]> = [
  ['index.md', '/waitlist', /^\{.*\}$/],
  ['texts.md', '/sms/send', /^\{"message_id":".*"status":"queued"/],
  ['texts.md', '/sms/receive', /^\{"messages":\[\]/],
  ['texts.md', '/sms/messages?direction', /^\{"messages":\[.*"next_cursor":null/],
  ['texts.md', '-X DELETE', /"error":"message_not_found".*\{"deleted":0,"has_more":false\}/],
  ['webhooks.md', '/webhooks', /"secret":"whsec_/],
  ['calls.md', '/voice/dial', /"stream_url":"ws:/],
];

t.test('the blocks with curl', async (t) => {
  const { token = '', number = '' } = paid.v2 ?? {};
  for (const [page, words, prints] of CURLS) {
    const code = blockWith(`agents/${page}`, words).replace('"phone_number": "+12065550100"', () => {
      t.equal(words, '/voice/dial');
      return `"phone_number": "${number}"`;
    });
    const ran = await runExample(['sh', '-euc', code], { env: { ...environment, TOKEN: token } });
    t.match(ran, { status: 0, stdout: prints, stderr: '' }, `${page}: ${words}`);
  }
});

const sent = (): Array<{ iccid: string; body: string }> =>
  node.commands('send_sms').map(({ params }) => params as { iccid: string; body: string });

t.test('texts.md: a long text is split and made plain', async (t) => {
  const before = sent().length;
  program(
    'long.mjs',
    `import { SimrackClient } from 'simrack-client';
    const { BODY: body, SIMRACK_URL: baseUrl, TOKEN: token } = process.env;
    const client = new SimrackClient({ baseUrl, token });
    ${blockWith('agents/texts.md', 'sendLong')}`,
  );
  const ran = await runExample([process.execPath, 'long.mjs'], {
    cwd: folder,
    env: { ...environment, TOKEN: String(paid.v2?.token), BODY: 'It’s a long text. '.repeat(16) },
  });
  t.same(ran, { status: 0, stdout: '', stderr: '' });
  t.match(
    sent()
      .slice(before)
      .map(({ body }) => body),
    [/^\(1\/2\) It's a long text\./, /^\(2\/2\) /],
  );
});

const readme = async (path: string, language: string): Promise<string> => {
  const text = readFileSync(join(PROJECT_FOLDER, 'control-plane/client', path), 'utf8');
  const [{ code } = { code: '' }] = blocksOf(text).filter((block) => block.language === language);
  return language === 'ts' ? (await transform(code, { loader: 'ts' })).code : code;
};

/** The programs of the libraries, and their output. Each buys or renews, texts, and waits for a code. */
const LIBRARIES = {
  'client.mjs': [blockWith('agents/client.md', "from 'simrack-client'"), /^Your code is 417209\n$/],
  'package.mjs': [await readme('package/README.md', 'ts'), /^\+1206555\d{4}\nYour code is 417209\n$/],
  'client.py': [blockWith('agents/client.md', 'from simrack_client'), /^\+1206555\d{4}\n417209\n$/],
  'package.py': [await readme('python/README.md', 'python'), /^417209\n$/],
} as const;

for (const [name, [code, prints]] of Object.entries(LIBRARIES)) {
  const isPython = name.endsWith('.py');
  const skip = isPython && !hasPackages;
  t.test(`the library: ${name} buys, texts, and prints what it was sent`, { skip }, async (t) => {
    const before = sent().length;
    program(name, code);
    const running = runExample([isPython ? PYTHON : process.execPath, name], {
      cwd: folder,
      env: {
        ...environment,
        WALLET_KEY: DAVE.privateKey,
        PYTHONPATH: join(PROJECT_FOLDER, 'control-plane/client/python'),
        PYTHONDONTWRITEBYTECODE: '1',
      },
    });
    // A program that fails is reported at once.
    const text = await Promise.race([
      running.then(() => undefined),
      until('it has texted', () => sent()[before], START_MS),
    ]);
    const iccid = text?.iccid ?? '';
    if (text !== undefined) await node.report({ ...received('Your code is 417209'), iccid });
    t.match(await running, { status: 0, stdout: prints, stderr: '' });
  });
}
