// Numbers that SIMs of several nodes report without proof. None of the SIMs is sold before an operator or a probe decides which one has the
// number.
import { sql } from 'kysely';
import type { DatabaseTransaction } from '../database/database.ts';

interface ReportedNumber {
  iccid: string;
  number: string;
}

/**
 * Records SIMs of a node whose number is listed with a SIM of another node. A number that is imported, admitted by an operator, probed,
 * sold or reserved is not disputed: it stays with its SIM. A node disputes a number with one SIM at most.
 */
export async function disputeNumbers(
  trx: DatabaseTransaction,
  nodeId: string,
  reported: readonly ReportedNumber[],
  now: Date,
): Promise<void> {
  await sql`
    with disputed as (
      select distinct on (reported.number) reported.number, reported.iccid
      from unnest(${reported.map(({ number }) => number)}::text[], ${reported.map(({ iccid }) => iccid)}::text[])
        as reported (number, iccid)
      join numbers on numbers.number = reported.number and numbers.iccid <> reported.iccid
        and numbers.unproven = 'number' and numbers.retired_at is null
      where not exists (select from numbers as own where own.iccid = reported.iccid and own.retired_at is null)
        and not exists (select from subscriptions where subscriptions.number = numbers.number)
        and not exists (select from payments where payments.reserved_number = numbers.number)
        and not exists (
          select from sim_tenures
          where until is null and node_id = ${nodeId} and sim_tenures.iccid <> reported.iccid and (
            sim_tenures.iccid = numbers.iccid or sim_tenures.iccid in (
              select iccid from number_rivals where number_rivals.number = numbers.number)))
      order by reported.number, reported.iccid
    ), noted as (
      insert into number_rivals (iccid, number, since) select iccid, number, ${now}::timestamptz from disputed
      on conflict (iccid) do nothing
    )
    update numbers set unadmitted_since = coalesce(unadmitted_since, ${now}::timestamptz),
      disputed_since = coalesce(disputed_since, ${now}::timestamptz)
    from disputed where numbers.number = disputed.number`.execute(trx);
}

/** Drops disputes of these SIMs if they report another number now. */
export async function dropOldRivals(
  trx: DatabaseTransaction,
  reported: readonly ReportedNumber[],
): Promise<void> {
  await sql`
    delete from number_rivals
    using unnest(${reported.map(({ number }) => number)}::text[], ${reported.map(({ iccid }) => iccid)}::text[])
      as reported (number, iccid)
    where number_rivals.iccid = reported.iccid and number_rivals.number <> reported.number`.execute(trx);
}
