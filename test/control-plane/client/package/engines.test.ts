// The npm package of the client in plain Node, with import and with require, in an engine with web APIs only, and in Chromium.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { type BuildOptions, build } from 'esbuild';
import t from 'tap';
import { privateKeyToAccount } from 'viem/accounts';
import { ALICE, BOB } from '../../../dev-stack/wallets.ts';
import { installClientPackage } from '../../../fixtures/agents/client-package.ts';
import { received } from '../../../fixtures/agents/subscriber.ts';
import { openPage, skipWithoutBrowser, startBrowser } from '../../../fixtures/browser.ts';
import { PRICE } from '../../../fixtures/chain/paid-chain.ts';
import { served } from '../../../fixtures/network/served.ts';
import { slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { PROJECT_FOLDER } from '../../../tidy/sources.ts';

const PACKAGE_BYTES_MAX = 1_000_000;

const rig = await createRig();
const { folder, installed, unpackedBytes } = await installClientPackage(t, ['ws', 'viem']);

async function service(t: Parameters<typeof rig.start>[0], slots = 1) {
  const { url } = await rig.start(t);
  const node = await rig.connect(t, url, {
    slots: Array.from({ length: slots }, (_, index) => slotAt(index + 1)),
  });
  return { url, receiveText: () => node.sendFact(1, received('a text')) };
}

function bytesOf(path: string): number {
  if (!statSync(path).isDirectory()) return statSync(path).size;
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0);
}

t.test(
  'with all that it needs it has less than 1 MB, and no TypeScript that would have to run',
  async (t) => {
    const all = unpackedBytes + bytesOf(join(PROJECT_FOLDER, 'node_modules/ws'));
    t.ok(all < PACKAGE_BYTES_MAX, `${all} bytes`);
    const names = readdirSync(installed, { recursive: true }).map(String);
    t.same(
      names.filter((name) => /(?<!\.d)\.[cm]?ts$/.test(name)),
      [],
    );
    const { dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
      readFileSync(join(installed, 'package.json'), 'utf8'),
    ) as Record<string, Record<string, unknown>>;
    t.same(Object.keys(dependencies ?? {}), ['ws']);
    t.same(Object.keys(peerDependencies ?? {}), ['viem']);
    t.same(peerDependenciesMeta, { viem: { optional: true } });
  },
);

const USES_IT = `
const { SIMRACK_URL: baseUrl, WALLET_KEY: key } = process.env;
async function main() {
  const account = privateKeyToAccount(key);
  const client = new SimrackClient({ baseUrl });
  const options = { account, maxAmount: 1_800_000_000n, protocol: 'mpp' };
  const { number } = await client.subscribe(options);
  await client.recover(options);
  const stream = await client.stream('no-such-call');
  const { kind } = await stream.ended;
  const refused = await client.send({ to: '911', body: 'x' }).catch((error) => error);
  console.log(JSON.stringify({ number, kind, code: refused instanceof ApiError && refused.code }));
}
main();`;

for (const [name, imports] of [
  [
    'agent.mjs',
    "import { ApiError, SimrackClient } from 'simrack-client';\nimport { privateKeyToAccount } from 'viem/accounts';",
  ],
  [
    'agent.cjs',
    "const { ApiError, SimrackClient } = require('simrack-client');\nconst { privateKeyToAccount } = require('viem/accounts');",
  ],
] as const) {
  t.test(`${name} pays, signs in and opens a stream in a Node without any loader`, async (t) => {
    const { url } = await service(t);
    writeFileSync(join(folder, name), `${imports}\n${USES_IT}`);
    const env = { PATH: String(process.env['PATH']), SIMRACK_URL: url, WALLET_KEY: ALICE.privateKey };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [name], { cwd: folder, env });
    t.equal(stderr, '');
    t.same(JSON.parse(stdout), {
      number: slotAt(1).number,
      kind: 'call_not_found',
      code: 'destination_not_allowed',
    });
  });
}

/** `program`, with the client in it, as one script. */
async function bundled(program: string, options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: folder },
    bundle: true,
    write: false,
    format: 'iife',
    logLevel: 'silent',
    ...options,
  });
  return String(outputFiles?.[0]?.text);
}

const WITHOUT_VIEM = `
import { SimrackClient } from 'simrack-client';
globalThis.run = async (baseUrl, account) => {
  const client = new SimrackClient({ baseUrl });
  const numbers = [];
  for (const protocol of ['x402-v1', 'x402-v2', 'mpp'])
    numbers.push((await client.subscribe({ account, protocol, maxAmount: 1800000000n })).number);
  await client.recover({ account });
  const sent = await client.send({ to: '+13105550188', body: 'hello ✓' });
  const history = await client.messages({ since: new Date(0) });
  const stream = await client.stream('x').catch(({ code, message }) => code + ' ' + message);
  const waiting = client.waitForMessage({ pollMs: 50 });
  await globalThis.receiveText();
  const { body: awaited } = await waiting;
  return { numbers: [...new Set(numbers)], status: sent.status, body: history.messages[0].body, stream, awaited };
};`;

/** The global names that browsers and workers share; none of Node. */
const WEB_NAMES = [
  'AbortController',
  'AbortSignal',
  'Headers',
  'Request',
  'Response',
  'TextDecoder',
  'TextEncoder',
  'URL',
  'URLSearchParams',
  'atob',
  'btoa',
  'clearTimeout',
  'crypto',
  'setTimeout',
];

t.test(
  'a bundle for workers needs web APIs only: no viem, no Node, no redirect that they lack',
  async (t) => {
    const { url, receiveText } = await service(t, 2);
    const code = await bundled(WITHOUT_VIEM, {
      platform: 'browser',
      conditions: ['workerd', 'worker', 'browser'],
      external: ['viem'],
    });
    t.notMatch(code, /\bviem\b/);
    // Cloudflare Workers throw for any other value.
    const workerFetch = (input: string, init: RequestInit): Promise<Response> => {
      if (!['follow', 'manual', undefined].includes(init.redirect))
        throw new TypeError('Invalid redirect value');
      return fetch(input, init);
    };
    const known = globalThis as unknown as Record<string, unknown>;
    const context = createContext({
      ...Object.fromEntries(WEB_NAMES.map((name) => [name, known[name]])),
      fetch: workerFetch,
      receiveText,
      Uint8Array,
    });
    runInContext(code, context);
    const { address, signMessage, signTypedData } = privateKeyToAccount(BOB.privateKey);
    const run = context['run'] as (url: string, account: object) => Promise<unknown>;
    t.match(await run(url, { address, signMessage, signTypedData }), {
      numbers: [slotAt(1).number],
      status: 'queued',
      body: 'hello ✓',
      stream: /^unreachable .*need Node\.js/,
      awaited: 'a text',
    });
  },
);

t.test(
  'a web page of another origin buys and texts in Chromium',
  { skip: skipWithoutBrowser() },
  async (t) => {
    const { url, receiveText } = await service(t);
    const browser = await startBrowser(t);
    const { page, troubles } = await openPage(t, browser);
    const site = createServer((_, response) =>
      response.setHeader('Content-Type', 'text/html').end('<title>agent</title>'),
    );
    await page.goto(await served(t, site));
    const content = await bundled(
      `${WITHOUT_VIEM}
    import { privateKeyToAccount } from 'viem/accounts';
    globalThis.buy = (url, key) => run(url, privateKeyToAccount(key));`,
      { platform: 'browser' },
    );
    await page.addScriptTag({ content });
    // It may not wait at the service, and polls.
    await page.exposeFunction('receiveText', receiveText);
    const bought = await page.evaluate(`buy(${JSON.stringify(url)}, ${JSON.stringify(ALICE.privateKey)})`);
    t.match(bought, {
      numbers: [slotAt(1).number],
      status: 'queued',
      body: 'hello ✓',
      stream: /need Node\.js/,
      awaited: 'a text',
    });
    t.same(
      // The price, an icon that the page does not have, and the wait that another origin may not use.
      troubles.filter((text) => !/40[0234]/.test(text)),
      [],
    );
  },
);

t.test('a redirect is refused: it would send the payment elsewhere', async (t) => {
  const { url } = await service(t);
  const server = createServer((request, response) => {
    response.writeHead(307, { Location: url + request.url }).end();
  });
  const { SimrackClient } = (await import(join(installed, 'client.js'))) as {
    SimrackClient: new (options: { baseUrl: string }) => { subscribe(options: object): Promise<unknown> };
  };
  const client = new SimrackClient({ baseUrl: await served(t, server) });
  const account = privateKeyToAccount(ALICE.privateKey);
  await t.rejects(client.subscribe({ account, maxAmount: PRICE }), {
    code: 'unreachable',
    message: /redirect/,
  });
});
