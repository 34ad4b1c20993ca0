// `control-plane relayer new` and `relayer show`, as an operator runs them.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { PAY_TO } from '../../dev-stack/wallets.ts';
import { runCommand } from '../../fixtures/run-command.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const rig = await createRig();

t.test('a new key is in its file only, and no file is replaced', async (t) => {
  const file = join(temporaryFolder(t), 'relayer.key');
  const made = await runCommand(['relayer', 'new', file], {});
  const key = readFileSync(file, 'utf8').trim();
  t.match(made, { status: 0, stdout: `${privateKeyToAccount(key as Hex).address}\n`, stderr: '' });
  t.equal(statSync(file).mode & 0o777, 0o600);
  const again = await runCommand(['relayer', 'new', file], {});
  t.match(again, { status: 1, stdout: '', stderr: /exists, and may contain a key/ });
  t.equal(readFileSync(file, 'utf8').trim(), key);
  writeFileSync(join(file, '..', 'plain'), '');
  const nowhere = await runCommand(['relayer', 'new', join(file, '..', 'plain', 'key')], {});
  t.match(nowhere, { status: 1, stderr: /cannot be created: ENOTDIR/ });
});

t.test('the account on the chain, with what waits', { timeout: 60_000 }, async (t) => {
  const file = join(temporaryFolder(t), 'relayer.key');
  const { stdout } = await runCommand(['relayer', 'new', file], {});
  const address = stdout.trim() as Hex;
  await rig.chain.control.setBalance({ address, value: 3n * 10n ** 18n });
  const shown = await runCommand(['relayer', 'show'], {
    DATABASE_URL: await rig.postgres.createMigrated(),
    DATA_DIR: temporaryFolder(t),
    RPC_URL: rig.chain.rpcUrl,
    PAY_TO: PAY_TO.address,
    RELAYER_KEY_FILE: file,
  });
  t.match(shown, { status: 0, stderr: '' });
  t.match(shown.stdout, new RegExp(`eip155:84532 {2}${address}\n.*3 ether, enough for \\d+ transfers`));
  t.match(shown.stdout, /waiting {3}0 transactions.*\n.*payments {2}0 in flight/);
  t.notOk(shown.stdout.includes(readFileSync(file, 'utf8').trim()));
});
