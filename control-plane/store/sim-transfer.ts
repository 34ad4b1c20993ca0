// An operator's word on whose SIM it is.
import { OperatorRefusal } from '../domain/operator-refusal.ts';
import { type Database, inTransaction } from './database.ts';
import { proveHolder } from './sim-proof.ts';
import { endTenures } from './sim-tenures.ts';
import type { SlotPlace } from './slot-service.ts';

/**
 * Gives the SIM that a slot reports to its node, whoever holds it; what waited for it counts once the node's slots are
 * stored again, within a heartbeat. Returns the node that held it. Throws `OperatorRefusal` for a slot whose claim was not
 * refused.
 */
export async function transferSim(
  db: Database,
  { node, slot, now }: SlotPlace & { now: Date },
): Promise<{ iccid: string; from: string | null }> {
  return inTransaction(db, async (trx) => {
    // First, as reports do it: else the two wait for each other.
    await trx.selectFrom('nodes').select('id').where('id', '=', node).forUpdate().execute();
    const claim = await trx
      .deleteFrom('sim_claims')
      .where('node_id', '=', node)
      .where('slot', '=', slot)
      .where('iccid', 'in', (claims) =>
        claims
          .selectFrom('sim_claims as newest')
          .select('newest.iccid')
          .where('newest.node_id', '=', node)
          .where('newest.slot', '=', slot)
          .orderBy('newest.seen_at', 'desc')
          .limit(1),
      )
      .returning('iccid')
      .executeTakeFirst();
    if (claim === undefined)
      throw new OperatorRefusal(`${node}/${slot} reports no SIM of another node: see "slot list"`);
    const { iccid } = claim;
    const holder = await trx
      .selectFrom('sim_tenures')
      .select('node_id')
      .where('iccid', '=', iccid)
      .where('until', 'is', null)
      .forUpdate()
      .executeTakeFirst();
    await endTenures(trx, [iccid], now);
    await trx.deleteFrom('sims').where('iccid', '=', iccid).execute();
    await trx
      .insertInto('sim_tenures')
      .values({
        ...{ iccid, node_id: node, slot, since: now, sighting: 'present', sighting_since: now },
        taken_from: null,
      })
      .execute();
    await proveHolder(trx, iccid);
    return { iccid, from: holder?.node_id ?? null };
  });
}
