// Numbers of SIMs that no operator imported: they are on sale once an operator or a probe admits them.
import { sql } from 'kysely';
import { ownCommand } from '#shared/process/own-command.ts';
import { OperatorRefusal } from '../../domain/refusal.ts';
import { isSellable } from '../../domain/sellable-number.ts';
import type { Database } from '../database/database.ts';

/** Puts a number on sale. Throws `OperatorRefusal` if it is admitted already, disputed, unknown, or not a US mobile number. */
export async function admitNumber(db: Database, number: string): Promise<void> {
  const row = await db
    .selectFrom('numbers')
    .select('unadmitted_since')
    .where('number', '=', number)
    .where('retired_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined) throw new OperatorRefusal(`There is no number ${number}.`);
  if (row.unadmitted_since === null) throw new OperatorRefusal(`${number} is already admitted.`);
  if (!isSellable(number)) throw new OperatorRefusal(`${number} is not a US mobile number.`);
  const rival = await db
    .selectFrom('number_rivals')
    .select('iccid')
    .where('number', '=', number)
    .executeTakeFirst();
  if (rival !== undefined)
    throw new OperatorRefusal(
      `Two SIMs report ${number}. Import it with the ICCID of your card ("${ownCommand('control-plane')} number import").`,
    );
  const admitted = { unadmitted_since: null, unproven: null, disputed_since: null };
  await db.updateTable('numbers').set(admitted).where('number', '=', number).execute();
}

/** Takes a number that cannot be sold off the market until an operator admits it. */
export async function withdrawAdmission(db: Database, number: string, now: Date): Promise<void> {
  await db.updateTable('numbers').set({ unadmitted_since: now }).where('number', '=', number).execute();
}

/** Makes room for an operator's list: deletes unadmitted reports of nodes about these numbers and SIMs. */
export async function clearUnadmitted(
  db: Database,
  rows: ReadonlyArray<{ number: string; iccid: string }>,
): Promise<void> {
  await sql`
    delete from number_rivals where iccid = any(${rows.map(({ iccid }) => iccid)}::text[])`.execute(db);
  await sql`
    delete from numbers using unnest(${rows.map(({ number }) => number)}::text[],
      ${rows.map(({ iccid }) => iccid)}::text[]) as listed (number, iccid)
    where unadmitted_since is not null and retired_at is null
      and (numbers.number = listed.number or numbers.iccid = listed.iccid)
      and not exists (select from subscriptions where subscriptions.number = numbers.number)
      and not exists (select from payments where payments.reserved_number = numbers.number)`.execute(db);
}
