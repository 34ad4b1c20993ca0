// What the last probes say of a slot, and its leaving and coming back by their word.
import { sql } from 'kysely';
import { insertAudit } from './audit-log.ts';
import type { Database } from './database.ts';
import type { ProbeKind } from './operation-tables.ts';
import { findSpareSims, type SpareSim } from './probe-pairs.ts';
import { putSlotIn, type SlotPlace, takeSlotOut } from './slot-service.ts';

/** A probe as one of its ends sees it. */
export interface Trial {
  kind: ProbeKind;
  role: 'sender' | 'recipient';
  isDelivered: boolean;
  /** What is at the other end, as `partnerOf` names it. */
  partner: string;
}

/** The other end of a slot's probe: another node, whose slots have one word; or a slot of the same node. */
export const partnerOf = (other: SlotPlace, node: string): string =>
  other.node === node ? `${node}/${other.slot}` : other.node;

const partnerSql = (end: 'from' | 'to', node: string) => {
  const [otherNode, otherSlot] = [sql.ref(`${end}_node`), sql.ref(`${end}_slot`)];
  return sql`case when ${otherNode} = ${node} then ${otherNode} || '/' || ${otherSlot} else ${otherNode} end`;
};

/** So many of each kind and role count. */
export const TRIALS_COUNTED = 2;

/** The last trials of each kind and role, newest first: those that were delivered, and failures that may be this end's. */
export async function findTrials(db: Database, { node, slot }: SlotPlace): Promise<Trial[]> {
  const { rows } = await sql<Trial>`
    with trials as (
      select position, kind, 'sender' as role, result, failed_end, ${partnerSql('to', node)} as partner, started_at
      from probes where from_node = ${node} and from_slot = ${slot} and not is_admission
      union all
      select position, kind, 'recipient', result, failed_end, ${partnerSql('from', node)}, started_at
      from probes where to_node = ${node} and to_slot = ${slot} and not is_admission
    ), counted as (
      select *, row_number() over (partition by kind, role order by position desc) as place from trials
      where (result = 'delivered' or result = 'failed' and failed_end in (role, 'either'))
        and started_at > coalesce(
          (select judged_from from slot_service where node_id = ${node} and slot_service.slot = ${slot}),
          '-infinity')
    )
    select kind, role, result = 'delivered' as "isDelivered", partner from counted
    where place <= ${TRIALS_COUNTED} order by kind, role, place`.execute(db);
  return rows;
}

/** Spare slots of a carrier, and how many of them probes have taken out. */
export const shareOf = (spares: readonly SpareSim[], carrier: string | null) => {
  const own = spares.filter((spare) => spare.carrier === carrier);
  return { slots: own.length, out: own.filter(({ is_out: isOut }) => isOut).length };
};

/**
 * Takes a slot out, or puts it in, with an entry in the audit log, if `decide` still says so of all spare slots. Changes of
 * this sort come one after the other: two at once must not take more out than either may.
 */
export async function changeByProbe(
  db: Database,
  place: SlotPlace,
  decide: (
    spares: readonly SpareSim[],
  ) => { take: 'out'; reason: string } | { take: 'in' } | { take: 'nothing' },
  now: Date,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx.selectFrom('probe_turn').select('id').forUpdate().execute();
    const decision = decide(await findSpareSims(trx, now));
    if (decision.take === 'nothing') return;
    const audited = {
      at: now,
      actor: 'probe',
      subject: `${place.node}/${place.slot}`,
      result: 'ok',
    } as const;
    if (decision.take === 'out') {
      const { reason } = decision;
      await takeSlotOut(trx, { ...place, reason, by: 'probe', now });
      await insertAudit(trx, { ...audited, action: 'takeSlotOutOfService', detail: { reason } });
    } else {
      await putSlotIn(trx, { ...place, by: 'probe', now });
      await insertAudit(trx, { ...audited, action: 'putSlotInService', detail: {} });
    }
  });
}
