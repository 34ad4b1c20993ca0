// SIMs that may probe: their number has no subscriber and no reservation, and they are on the network in a linked node.
import { sql } from 'kysely';
import { OperatorRefusal } from '../../domain/refusal.ts';
import { maskedNumber } from '../../domain/shown-value.ts';
import type { Database } from '../database/database.ts';

export interface ProbeSim {
  number: string;
  iccid: string;
  node: string;
  slot: string;
  /** As its modem reports the network. */
  carrier: string | null;
}

const PLACES = sql`
  select numbers.number, numbers.iccid, sims.node_id as node, sims.slot, sims.operator as carrier,
    numbers.out_of_service_at is not null as is_out, numbers.unadmitted_since is null as is_admitted,
    slot_service.by as slot_out_by, slot_service.judged_from,
    exists (select from subscriptions where subscriptions.number = numbers.number) as is_held,
    exists (select from payments where payments.reserved_number = numbers.number) as is_reserved,
    sims.state = 'registered' and nodes.revoked_at is null as is_registered, nodes.link_alive_until
  from numbers
  left join sims on sims.iccid = numbers.iccid
  left join nodes on nodes.id = sims.node_id
  left join slot_service on slot_service.node_id = sims.node_id and slot_service.slot = sims.slot
  where numbers.retired_at is null`;

/** A spare SIM, with the facts needed to judge it. */
export interface SpareSim extends ProbeSim {
  /** Probes took its slot out of service. */
  is_out: boolean;
  judged_from: Date | null;
}

/** Admitted SIMs, without those whose number or slot an operator took out of service. The nodes take turns in the order. */
export async function findSpareSims(db: Database, now: Date): Promise<SpareSim[]> {
  const { rows } = await sql<SpareSim>`
    select number, iccid, node, slot, carrier, slot_out_by is not null as is_out, judged_from
    from (${PLACES}) as places
    where not is_held and not is_reserved and not is_out and is_registered and is_admitted
      and link_alive_until > ${now}::timestamptz and slot_out_by is distinct from 'operator'
    order by row_number() over (partition by node order by slot), node`.execute(db);
  return rows;
}

interface Place extends ProbeSim {
  is_out: boolean;
  slot_out_by: 'operator' | 'probe' | null;
  is_held: boolean;
  is_reserved: boolean;
  is_registered: boolean | null;
  is_linked: boolean | null;
}

/**
 * The SIMs of two unassigned numbers; with `inService` only if they and their slots are in service. Throws `OperatorRefusal` with the
 * obstacle.
 */
export async function findTestPair(
  db: Database,
  { from, to, now, inService = false }: { from: string; to: string; now: Date; inService?: boolean },
): Promise<{ sender: ProbeSim; recipient: ProbeSim }> {
  if (from === to) throw new OperatorRefusal('A number cannot text itself. Give two different numbers.');
  const { rows } = await sql<Place>`
    select *, link_alive_until > ${now}::timestamptz as is_linked from (${PLACES}) as places
    where number in (${from}, ${to})`.execute(db);
  const problems: string[] = [];
  const found = [from, to].map((number) => {
    const row = rows.find((each) => each.number === number);
    const problem = problemOf(row, inService);
    if (problem !== undefined) problems.push(`${maskedNumber(number)} ${problem}`);
    return row as Place;
  });
  const [sender, recipient] = found;
  if (problems.length > 0 || sender === undefined || recipient === undefined)
    throw new OperatorRefusal(problems.join('\n'));
  return { sender: simOf(sender), recipient: simOf(recipient) };
}

const simOf = ({ number, iccid, node, slot, carrier }: Place): ProbeSim => ({
  number,
  iccid,
  node,
  slot,
  carrier,
});

function problemOf(row: Place | undefined, inService: boolean): string | undefined {
  if (row === undefined) return 'is not a number of this service';
  if (row.is_held) return 'is held by a wallet';
  if (row.is_reserved) return 'is reserved for a payment';
  if (row.is_linked !== true) return 'has no linked node that holds its SIM';
  if (inService && (row.is_out || row.slot_out_by !== null)) return 'is out of service';
  return row.is_registered === true ? undefined : 'has a SIM that is not on the network';
}
