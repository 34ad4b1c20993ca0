// Are the keys of the PINs and of the receipts there, usable, and secret?
import { statSync } from 'node:fs';
import { type Outcome, ok, problem, warning } from '#shared/operator/findings.ts';
import { PinUnreadable, PinVault } from '../../pins/pin-vault.ts';
import { ReceiptKeyError, readReceiptKey } from '../../receipts/receipt-key.ts';
import type { SeenDatabase } from '../../store/database/examination.ts';

/** Whether the key opens the PINs in the database. */
export function pinKey(file: string, { sealedPins }: SeenDatabase): Outcome {
  if (sealedPins.length === 0) return ok('the fleet file has given no PIN');
  const vault = new PinVault(file);
  try {
    for (const { iccid, pin } of sealedPins) vault.open(iccid, pin);
    return ok(`${file} opens the PINs of the fleet file`);
  } catch (error) {
    if (!(error instanceof PinUnreadable)) throw error;
    return problem(
      `PINs of the fleet file cannot be opened: ${error.message}`,
      `Restore ${file}, or apply the fleet file with the PINs again.`,
    );
  }
}

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
