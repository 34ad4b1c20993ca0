// The last probes of a slot, and the changes of its service that they cause.
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import type { ProbeKind } from '../database/operation-tables.ts';
import { putSlotInService, type SlotPlace, takeSlotOutOfService } from '../fleet/slot-service.ts';
import { insertAudit } from './audit-log.ts';
import { findSpareSims, type SpareSim } from './probe-pairs.ts';

/** A probe as one of its ends sees it. */
export interface Trial {
  kind: ProbeKind;
  role: 'sender' | 'recipient';
  isDelivered: boolean;
  /** The source of the evidence: the node at the other end, or its slot if both ends are on one node. */
  partner: string;
}

/** How many trials of each kind and role count, without those of any one partner. */
export const TRIALS_COUNTED = 2;

/**
 * Another node is one partner, however many SIMs it has: it may lie. A node is trusted about its own slots, so each of its slots is a
 * partner of the others.
 */
export const partnerOf = (own: SlotPlace, { node, slot }: SlotPlace): string =>
  node === own.node ? `${node}/${slot}` : node;

/** Enough for `TRIALS_COUNTED` of each kind and role without those of any one partner. */
const TRIALS_READ = 2 * TRIALS_COUNTED;

/**
 * The last trials of each kind and role, newest first: delivered ones, and failures that this end may have caused. At most `TRIALS_COUNTED`
 * of one partner, and `TRIALS_READ` in all.
 */
export async function findTrials(db: Database, own: SlotPlace): Promise<Trial[]> {
  const { node, slot } = own;
  const { rows } = await sql<Omit<Trial, 'partner'> & { otherNode: string; otherSlot: string }>`
    with trials as (
      select position, kind, 'sender' as role, result, failed_end, to_node as other_node, to_slot as other_slot, started_at
      from probes where from_node = ${node} and from_slot = ${slot} and not is_admission and not to_subscriber
      union all
      select position, kind, 'recipient', result, failed_end, from_node, from_slot, started_at
      from probes where to_node = ${node} and to_slot = ${slot} and not is_admission and not to_subscriber
    ), counted as (
      select *, row_number() over (partition by kind, role, other_node, case when other_node = ${node} then other_slot end
        order by position desc) as place from trials
      where (result = 'delivered' or result = 'failed' and failed_end in (role, 'either'))
        and started_at > coalesce(
          (select judged_from from slot_service where node_id = ${node} and slot_service.slot = ${slot}),
          '-infinity')
    ), newest as (
      select *, row_number() over (partition by kind, role order by position desc) as place_of_all
      from counted where place <= ${TRIALS_COUNTED}
    )
    select kind, role, result = 'delivered' as "isDelivered", other_node as "otherNode", other_slot as "otherSlot" from newest
    where place_of_all <= ${TRIALS_READ} order by kind, role, position desc`.execute(db);
  return rows.map(({ otherNode, otherSlot, ...trial }) => ({
    ...trial,
    partner: partnerOf(own, { node: otherNode, slot: otherSlot }),
  }));
}

/** The spare slots of a carrier, and how many of them probes took out of service. */
export const shareOf = (spares: readonly SpareSim[], carrier: string | null) => {
  const own = spares.filter((spare) => spare.carrier === carrier);
  return { slots: own.length, out: own.filter(({ is_out: isOut }) => isOut).length };
};

/**
 * Takes a slot out of service or puts it back, with an entry in the audit log, if `decide` still says so for all spare slots. Such changes
 * come one after the other: two at once must not take more slots out of service than one may.
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
      await takeSlotOutOfService(trx, { ...place, reason, by: 'probe', now });
      await insertAudit(trx, { ...audited, action: 'takeSlotOutOfService', detail: { reason } });
    } else {
      await putSlotInService(trx, { ...place, by: 'probe', now });
      await insertAudit(trx, { ...audited, action: 'putSlotInService', detail: {} });
    }
  });
}
