// Can the service open the PINs of its fleet file?
import { type Outcome, ok, problem, skipped } from '#shared/operator/findings.ts';
import { PinUnreadable, PinVault } from '../../pins/pin-vault.ts';
import type { SeenDatabase } from '../../store/database/examination.ts';

/** `asked`: the database, which has the sealed PINs. Undefined if it is not examined. */
export async function pinKey(file: string, asked: () => Promise<SeenDatabase | undefined>): Promise<Outcome> {
  const seen = await asked().catch(() => undefined);
  if (seen === undefined) return skipped('Postgres was not examined');
  if (seen.sealedPins.length === 0) return ok('the fleet file has given no PIN');
  const vault = new PinVault(file);
  try {
    for (const { iccid, pin } of seen.sealedPins) vault.open(iccid, pin);
    return ok(`${file} opens the PINs of the fleet file`);
  } catch (error) {
    if (!(error instanceof PinUnreadable)) throw error;
    return problem(
      `PINs of the fleet file cannot be opened: ${error.message}`,
      `Restore ${file}, or apply the fleet file with the PINs again.`,
    );
  }
}
