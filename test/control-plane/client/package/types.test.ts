// The declarations of the client's package: TypeScript 5.9, 6 and 7 in each module setting, any version of viem or none, and the types of the sources.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { OPERATION } from '#shared/api/operations.ts';
import { installClientPackage } from '../../../fixtures/agents/client-package.ts';
import { someOf } from '../../../fixtures/sweep.ts';
import { PROJECT_FOLDER } from '../../../tidy/sources.ts';

const COMPILERS = {
  '5.9': 'test/tools/node_modules/typescript-5.9',
  '6': 'node_modules/typescript',
  '7': 'test/tools/node_modules/typescript-7',
} as const;
type Version = keyof typeof COMPILERS;
const VERSIONS = Object.keys(COMPILERS) as Version[];
const COMPILE_MS = 120_000;

const { folder, installed } = await installClientPackage(t, ['viem']);

/** By module setting: with what it is set in `tsconfig.json`, and the file that it compiles. */
const SETTINGS = [
  [{ module: 'node16' }, 'agent.mts'],
  [{ module: 'node16' }, 'agent.cts'],
  [{ module: 'nodenext' }, 'agent.mts'],
  [{ module: 'nodenext' }, 'agent.cts'],
  [{ module: 'esnext', moduleResolution: 'bundler' }, 'agent.mts'],
  [{ module: 'commonjs' }, 'agent.ts'],
] as const;

const CASES = VERSIONS.flatMap((version) => SETTINGS.map(([options, file]) => ({ version, options, file })));

/** The example of the README. */
const README = readFileSync(join(installed, 'README.md'), 'utf8');
const EXAMPLE = /```ts\n([\s\S]*?)```/.exec(README)?.[1] ?? '';

/** Without packages of types: `process` of the example is declared here. */
const NODE = 'declare const process: { env: Record<string, string | undefined> };\n';

const WITHOUT_VIEM = `
import { type Account, ApiError, SimrackClient, type InboundMessage, type PurchaseOptions } from 'simrack-client';
declare const account: Account;
export async function agent(): Promise<string> {
  const client = new SimrackClient({ baseUrl: 'https://sms.example' });
  const options: PurchaseOptions = { account, maxAmount: 1_800_000_000n, protocol: 'mpp' };
  const { number } = await client.subscribe(options);
  const recovered: string = (await client.recover(options)).token;
  await client.recover({ account });
  await client.messages({ since: new Date(), until: '2027-01-01T00:00:00Z', limit: 3 });
  const message: InboundMessage = await client.waitForMessage({ match: ({ body }) => body !== '' });
  const stream = await client.stream('id', { onAudio: (frame: Uint8Array) => void frame.length });
  const end: number | undefined = (await stream.ended).cause;
  try { await client.send({ to: '+13105550188', body: 'x' }); } catch (error) {
    if (error instanceof ApiError) return error.code;
  }
  // @ts-expect-error: a text needs a recipient
  await client.send({ body: 'x' });
  // @ts-expect-error: there is no such protocol
  await client.subscribe({ ...options, protocol: 'cash' });
  // @ts-expect-error: an account signs
  await client.recover({ account: { address: '0x00' } });
  return [number, recovered, message.body, end].join();
}`;

/** All that a compiler finds wrong in the folder. By default it checks the declarations of the package too, but not those of the language. */
async function problemsOf(version: Version, path: string, given: object): Promise<string[]> {
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2022', 'dom'],
    types: [],
    strict: true,
    noEmit: true,
    skipDefaultLibCheck: true,
    // TypeScript 6 warns of settings that it will drop.
    ...(version === '6' ? { ignoreDeprecations: '6.0' } : {}),
    ...given,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [path] }));
  const args = [join(PROJECT_FOLDER, COMPILERS[version], 'bin/tsc'), '--pretty', 'false'];
  const compiled = promisify(execFile)(process.execPath, args, { cwd: folder, timeout: COMPILE_MS });
  const { stdout } = await compiled.catch((error: { stdout: string }) => {
    // A compiler that crashes or is not there lists no error of the program.
    if (!error.stdout.includes('error TS')) throw error;
    return error;
  });
  return stdout.split('\n').filter((line) => /^(?!\.\.|\s).*error TS/.test(line));
}

t.test('without viem and without types of Node it compiles with each, in each setting', async (t) => {
  for (const { version, options, file } of someOf(t, CASES, 3)) {
    const path = join(folder, file);
    writeFileSync(path, WITHOUT_VIEM);
    t.same(await problemsOf(version, path, options), [], `${version} ${JSON.stringify(options)} ${file}`);
  }
});

t.test('each finds what a program does wrong', async (t) => {
  const path = join(folder, 'wrong.mts');
  writeFileSync(path, WITHOUT_VIEM.replaceAll('// @ts-expect-error', '//'));
  for (const version of someOf(t, VERSIONS, 1)) {
    const problems = await problemsOf(version, path, { module: 'nodenext' });
    t.match(problems, [/^wrong\.mts.*\bto\b/, /^wrong\.mts.*cash/, /^wrong\.mts/], version);
    t.equal(problems.length, 3, version);
  }
});

t.test('the example of the README compiles, with an account of viem', async (t) => {
  t.match(EXAMPLE, /privateKeyToAccount[\s\S]*client\.subscribe/);
  for (const { version, options, file } of someOf(
    t,
    CASES.filter(({ file }) => file === 'agent.mts'),
    1,
  )) {
    const path = join(folder, file);
    writeFileSync(path, `${NODE}${EXAMPLE}`);
    // Those of viem are many.
    const withoutLibraries = { ...options, skipLibCheck: true };
    t.same(await problemsOf(version, path, withoutLibraries), [], `${version} ${JSON.stringify(options)}`);
  }
});

const SAME = `
import type * as Ours from '${PROJECT_FOLDER}/control-plane/client/api-types.ts';
import type * as Theirs from 'simrack-client';
type IsSame<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
const same: true[] = [];
`;
const pair = (type: string): string => `same.push(true satisfies IsSame<Ours.${type}, Theirs.${type}>);\n`;

t.test('the types of the package are those of the sources', async (t) => {
  const answers = Object.keys(OPERATION).map((name) => `Answer<'${name}'>`);
  const bodies = ['waitlist', 'send', 'dial', 'hangUp'].map((name) => `Body<'${name}'>`);
  const queries = ['receive', 'messages', 'deleteMessages', 'calls'].map((name) => `Query<'${name}'>`);
  const types = [...answers, ...bodies, ...queries, 'ServerFrame', 'PresenceEvent'];
  const path = join(folder, 'same.mts');
  const other = "void (false satisfies IsSame<Ours.Answer<'send'>, Theirs.Answer<'dial'>>);\n";
  writeFileSync(path, `${SAME}${types.map(pair).join('')}${other}`);
  const options = { module: 'nodenext', allowImportingTsExtensions: true, skipLibCheck: true };
  t.same(await problemsOf('7', path, options), []);
});
