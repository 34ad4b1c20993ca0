// The program on the client's page, as it is written there, in a folder outside of the checkout.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { ALICE } from '../dev-stack/wallets.ts';
import { installClientPackage } from '../fixtures/agents/client-package.ts';
import { received } from '../fixtures/agents/subscriber.ts';
import { createRig } from '../fixtures/service/rig.ts';
import { until } from '../fixtures/until.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';

const rig = await createRig();
const page = readFileSync(join(PROJECT_FOLDER, 'docs/agents/client.md'), 'utf8');
const example = /```js\n([^`]*?simrack-client'[\s\S]*?)```\n/.exec(page)?.[1] ?? '';

t.test('the example of the client buys, texts, and prints what it was sent', async (t) => {
  const { url } = await rig.start(t);
  const node = await rig.connect(t, url, { journalId: 'journal-1' });
  const { folder } = await installClientPackage(t, ['viem', 'ws']);
  writeFileSync(join(folder, 'agent.mjs'), example);

  const running = promisify(execFile)(process.execPath, ['agent.mjs'], {
    cwd: folder,
    env: { PATH: String(process.env['PATH']), WALLET_KEY: ALICE.privateKey, SIMRACK_URL: url },
  });
  // A program that fails is reported at once.
  await Promise.race([running, until('it has texted', () => node.commands('send_sms').length === 1, 60_000)]);
  node.sendFact(1, received('Your code is 417209'));
  t.same(await running, { stdout: 'Your code is 417209\n', stderr: '' });
});
