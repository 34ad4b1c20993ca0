// Imports an operator's list of numbers and their SIMs.
import { OperatorRefusal } from '../../domain/refusal.ts';
import { isSellable } from '../../domain/sellable-number.ts';
import { type Database, type DatabaseTransaction, inTransaction } from '../database/database.ts';
import { clearUnadmitted } from './number-admission.ts';
import { expectAt, lockOpenTenures } from './sim-proof.ts';

export interface ImportedNumber {
  /** Line in the operator's list. */
  line: number;
  number: string;
  iccid: string;
  /** The only node that may become the first holder of its SIM. */
  node?: string | undefined;
}

/**
 * Imports all numbers or none: throws `OperatorRefusal` with a line for each number that cannot be imported. A number that exists with this
 * SIM stays as it is, and a retired one returns. A named node counts until it is proven which node holds the SIM.
 */
export async function importNumbers(
  db: Database,
  rows: readonly ImportedNumber[],
  now: Date,
): Promise<{ added: number; back: number; known: number }> {
  return inTransaction(db, async (trx) => {
    const iccids = rows.map(({ iccid }) => iccid);
    await lockOpenTenures(trx, iccids);
    await clearUnadmitted(trx, rows);
    const there = await lockNumbers(trx, rows);
    const problems = problemsOf(rows, there);
    if (problems.length > 0) throw new OperatorRefusal(problems.join('\n'));
    const byNumber = new Map(there.map((row) => [row.number, row]));
    const fresh = rows.filter(({ number }) => !byNumber.has(number));
    const back = rows.filter(({ number }) => (byNumber.get(number)?.retired_at ?? null) !== null);
    await addNumbers(trx, fresh, now);
    await bringBack(trx, back);
    const named = rows.flatMap(({ iccid, node }) => (node === undefined ? [] : [{ iccid, node }]));
    await expectAt(trx, named, now);
    return { added: fresh.length, back: back.length, known: rows.length - fresh.length - back.length };
  });
}

type KnownNumber = Awaited<ReturnType<typeof lockNumbers>>[number];

/** The rows that have one of these numbers or SIMs. Sorted by number, so that two imports do not deadlock. */
const lockNumbers = (trx: DatabaseTransaction, rows: readonly ImportedNumber[]) => {
  const numbers = rows.map(({ number }) => number);
  const iccids = rows.map(({ iccid }) => iccid);
  return trx
    .selectFrom('numbers')
    .select(['number', 'iccid', 'retired_at'])
    .where((eb) => eb.or([eb('number', 'in', numbers), eb('iccid', 'in', iccids)]))
    .orderBy('number')
    .forUpdate()
    .execute();
};

/** A line for each number that cannot be imported beside those that are there. */
function problemsOf(rows: readonly ImportedNumber[], there: readonly KnownNumber[]): string[] {
  const byNumber = new Map(there.map((row) => [row.number, row]));
  const served = there.filter(({ retired_at }) => retired_at === null);
  const byIccid = new Map(served.map(({ iccid, number }) => [iccid, number]));
  const problems: string[] = [];
  for (const { line, number, iccid } of rows) {
    if (!isSellable(number)) problems.push(`line ${line}: ${number} is not a US mobile number`);
    const owner = byNumber.get(number);
    const other = byIccid.get(iccid);
    if (owner !== undefined && owner.retired_at === null && owner.iccid !== iccid)
      problems.push(`line ${line}: ${number} has the SIM ${owner.iccid}`);
    else if (other !== undefined && other !== number)
      problems.push(`line ${line}: the SIM ${iccid} has the number ${other}`);
  }
  return problems;
}

async function addNumbers(
  trx: DatabaseTransaction,
  fresh: readonly ImportedNumber[],
  now: Date,
): Promise<void> {
  if (fresh.length === 0) return;
  await trx
    .insertInto('numbers')
    .values(
      fresh.map(({ number, iccid }) => ({ number, iccid, created_at: now, unproven: 'holder' as const })),
    )
    .execute();
}

/** Puts retired numbers on the market again, with the SIMs of the list. */
async function bringBack(trx: DatabaseTransaction, back: readonly ImportedNumber[]): Promise<void> {
  for (const { number, iccid } of back) {
    await trx
      .updateTable('numbers')
      .set({
        iccid,
        retired_at: null,
        unadmitted_since: null,
        disputed_since: null,
        unproven: 'holder',
        first_node: null,
      })
      .where('number', '=', number)
      .execute();
  }
}
