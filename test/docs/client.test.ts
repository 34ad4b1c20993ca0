// The program on the client's page, as it is written there, in a folder outside of the checkout.
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { BUYERS, type Wallet } from '../dev-stack/wallets.ts';
import { createRig } from '../fixtures/rig.ts';
import { temporaryFolder } from '../fixtures/started-stack.ts';
import { received } from '../fixtures/subscriber.ts';
import { until } from '../fixtures/until.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';

const rig = await createRig();
const [ALICE] = BUYERS as [Wallet];
const page = readFileSync(join(PROJECT_FOLDER, 'docs/agents/client.md'), 'utf8');
const example = /```ts\n([^`]*?simrack\/client'[\s\S]*?)```\n/.exec(page)?.[1] ?? '';

t.test('it buys, texts, and prints what it was sent', async (t) => {
  const { url } = await rig.start(t);
  const node = await rig.connect(t, url, { journalId: 'journal-1' });
  const folder = temporaryFolder(t);
  // The links are those that npm makes of a folder, and of what it would fetch.
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  symlinkSync(PROJECT_FOLDER, join(modules, 'simrack'));
  for (const name of ['tsx', 'viem'])
    symlinkSync(join(PROJECT_FOLDER, 'node_modules', name), join(modules, name));
  writeFileSync(join(folder, 'agent.mts'), example);

  const running = promisify(execFile)(process.execPath, ['--import', 'tsx', 'agent.mts'], {
    cwd: folder,
    env: { PATH: String(process.env['PATH']), WALLET_KEY: ALICE.privateKey, SIMRACK_URL: url },
  });
  // A program that fails is reported at once.
  await Promise.race([running, until('it has texted', () => node.commands('send_sms').length === 1, 60_000)]);
  node.sendFact(1, received('Your code is 417209'));
  t.same(await running, { stdout: 'Your code is 417209\n', stderr: '' });
});
