// An example of docs/agents as its reader runs it: against `npm start`, with the wallet of a buyer, until it ends.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { jsonPost } from '../fixtures/agents/json-post.ts';
import { startStack } from '../fixtures/stacks/started-stack.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';

/** A number of the simulated carrier: it takes texts, and answers calls. */
export const FAR_END = '+13105550188';
export const EXAMPLES = join(PROJECT_FOLDER, 'docs/agents/examples');

/** `npm start`, with what an example is given: where the service is, whose key pays, whom to text and call. */
export async function startExamples(t: Test) {
  const stack = await startStack(t, { dataDir: temporaryFolder(t), env: { MODEMS: '2' } });
  const { base_url: url, simulator_url: simulatorUrl, wallets } = stack.file();
  const textTo = async (to: string, body: string): Promise<void> => {
    const answer = await fetch(`${simulatorUrl}/sms`, jsonPost({ from: FAR_END, to, body }));
    if (!answer.ok) throw new Error(await answer.text());
  };
  const environment = (wallet: number): Record<string, string> => ({
    PATH: String(process.env['PATH']),
    SIMRACK_URL: url,
    WALLET_KEY: String(wallets[wallet]?.private_key),
    TO: FAR_END,
  });
  return { environment, textTo, url, simulatorUrl };
}

/** Runs a program; `onLine` is given each line of its output as it comes. */
export async function runExample(
  [command, ...args]: readonly [string, ...string[]],
  {
    env,
    cwd,
    onLine,
  }: { env: Record<string, string>; cwd?: string; onLine?: (line: string) => Promise<void> },
): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], ...(cwd ? { cwd } : {}) });
  t.teardown(() => child.kill('SIGKILL'));
  let stdout = '';
  let stderr = '';
  let waiting = '';
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
  });
  child.stdout.on('data', (chunk) => {
    stdout += String(chunk);
    const lines = (waiting + String(chunk)).split('\n');
    waiting = lines.pop() ?? '';
    for (const line of lines) {
      onLine?.(line).catch((error: unknown) => {
        stderr += String(error);
        child.kill();
      });
    }
  });
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, stdout, stderr };
}

/** Runs a quick start, and texts its number once it has sent a text itself. `lines`: what it printed after its number. */
export async function runQuickStart(
  command: readonly [string, ...string[]],
  {
    textTo,
    ...options
  }: { env: Record<string, string>; cwd?: string; textTo: (to: string, body: string) => Promise<void> },
): Promise<{ status: number | null; stderr: string; number: string; lines: string[] }> {
  let number = '';
  const { status, stdout, stderr } = await runExample(command, {
    ...options,
    async onLine(line) {
      number = /^number (\S+)$/.exec(line)?.[1] ?? number;
      if (line.startsWith('sent ')) await textTo(number, 'Your code is 417209');
    },
  });
  return { status, stderr, number, lines: stdout.split('\n').slice(1) };
}

/** Whether a page of docs/agents shows the example to the letter. */
export function isShown(page: string, example: string): boolean {
  const text = readFileSync(join(PROJECT_FOLDER, 'docs/agents', page), 'utf8');
  return text.includes(`\n${readFileSync(join(EXAMPLES, example), 'utf8')}\`\`\`\n`);
}
