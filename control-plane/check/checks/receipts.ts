// Is the key of the receipts there, usable, and a secret?
import { statSync } from 'node:fs';
import { type Outcome, ok, problem, warning } from '#shared/operator/findings.ts';
import { ReceiptKeyError, readReceiptKey } from '../../receipts/receipt-key.ts';
import type { SeenDatabase } from '../../store/database/examination.ts';

/** Rights of the group and of others. */
const OTHERS = 0o077;

/** `asked`: the database, which has the public halves. Undefined if it is not examined. */
export async function receiptKey(
  file: string,
  asked: () => Promise<SeenDatabase | undefined>,
): Promise<Outcome> {
  const published = (await asked().catch(() => undefined))?.receiptKeys ?? [];
  try {
    const key = await readReceiptKey(file);
    if (key === undefined) {
      if (published.length === 0) return ok(`${file} does not exist yet; the first use makes it`);
      return problem(
        `${file} is missing, and the service has signed receipts before`,
        'Restore the file. Without it the next receipt makes a new key, and the former one stays published.',
      );
    }
    const { mode } = statSync(file);
    if ((mode & OTHERS) !== 0)
      return problem(
        `${file} can be used by other users: mode ${(mode & 0o777).toString(8)}`,
        `Run chmod 600 ${file}. If others may have read it, move it away: the service makes a new key, and the former one stays published.`,
      );
    if (published.length === 0 || published.includes(key.id)) return ok(`${file}: key ${key.id}`);
    return warning(
      `${file} has another key than the receipts so far`,
      'After a rotation this is right. Otherwise restore the file.',
    );
  } catch (error) {
    if (!(error instanceof ReceiptKeyError)) throw error;
    return problem(error.message, 'Restore the file, or move it away: the service then makes a new key.');
  }
}
