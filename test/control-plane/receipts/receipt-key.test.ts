// The file of the receipts' key: made once, and what the check of the configuration reports about it.
import { chmodSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { receiptKey } from '#control-plane/check/checks/keys.ts';
import {
  ReceiptKeyError,
  readOrMakeReceiptKey,
  readReceiptKey,
} from '#control-plane/receipts/receipt-key.ts';
import type { SeenDatabase } from '#control-plane/store/database/examination.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const withKeys =
  (...receiptKeys: string[]) =>
  async (): Promise<SeenDatabase> =>
    ({ receiptKeys }) as unknown as SeenDatabase;

t.test('the first use makes the file, for its user only, and never replaces it', async (t) => {
  const file = join(temporaryFolder(t), 'keys', 'receipt.key');
  t.equal(await readReceiptKey(file), undefined);
  const [one, other] = await Promise.all([readOrMakeReceiptKey(file), readOrMakeReceiptKey(file)]);
  t.equal(one.id, other.id, 'two at once have one key');
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.match(readFileSync(file, 'utf8'), /^-----BEGIN PRIVATE KEY-----/);
  t.equal((await readOrMakeReceiptKey(file)).id, one.id);
  writeFileSync(file, 'not a key');
  await t.rejects(readOrMakeReceiptKey(file), ReceiptKeyError);
  t.equal(readFileSync(file, 'utf8'), 'not a key');
});

t.test('the check: missing, readable by others, another one, unusable', async (t) => {
  const file = join(temporaryFolder(t), 'receipt.key');
  t.match(await receiptKey(file, withKeys()), { verdict: 'ok', seen: /does not exist yet/ });
  t.match(await receiptKey(file, withKeys('key-1')), { verdict: 'problem', seen: /is missing/ });
  const { id } = await readOrMakeReceiptKey(file);
  t.match(await receiptKey(file, withKeys(id)), { verdict: 'ok', seen: new RegExp(id) });
  t.match(await receiptKey(file, () => Promise.reject(new Error('away'))), { verdict: 'ok' });
  t.match(await receiptKey(file, withKeys('key-1')), { verdict: 'warning', seen: /another key/ });
  chmodSync(file, 0o640);
  t.match(await receiptKey(file, withKeys(id)), { verdict: 'problem', seen: /other users: mode 640/ });
  unlinkSync(file);
  writeFileSync(file, 'not a key');
  t.match(await receiptKey(file, withKeys(id)), { verdict: 'problem', seen: /Ed25519/ });
});
