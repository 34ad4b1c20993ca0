// An operator's decision on which node holds a SIM.
import { ownCommand } from '#shared/process/own-command.ts';
import { OperatorRefusal } from '../../domain/refusal.ts';
import { type Database, inTransaction } from '../database/database.ts';
import { lockNode } from './nodes.ts';
import { proveHolder } from './sim-proof.ts';
import { endTenures } from './sim-tenures.ts';
import type { SlotPlace } from './slot-service.ts';

/**
 * Transfers the SIM that a slot reports to its node, from any holder. Waiting facts count once the node's slots are stored again, within a
 * heartbeat. Returns the node that held it. Throws `OperatorRefusal` if no claim of the slot was refused, if it is not for the
 * `expected` SIM, and for a revoked node. Locks in
 * the order of `replaceSlots`: the node, tenures, claims.
 */
export async function transferSim(
  db: Database,
  { node, slot, expected, now }: SlotPlace & { expected?: string | undefined; now: Date },
): Promise<{ iccid: string; from: string | null }> {
  return inTransaction(db, async (trx) => {
    const target = await lockNode(trx, node);
    if (target !== undefined && target.revoked_at !== null)
      throw new OperatorRefusal(
        `${node} is revoked. Run "${ownCommand('control-plane')} node add" to enroll it again.`,
      );
    const claim = await trx
      .selectFrom('sim_claims')
      .select('iccid')
      .where('node_id', '=', node)
      .where('slot', '=', slot)
      .orderBy('seen_at', 'desc')
      .executeTakeFirst();
    if (claim === undefined)
      throw new OperatorRefusal(
        `${node}/${slot} reports no SIM of another node. See "${ownCommand('control-plane')} slot list".`,
      );
    const { iccid } = claim;
    if (expected !== undefined && expected !== iccid)
      throw new OperatorRefusal(
        `${node}/${slot} reports another SIM now, ${iccid}. Check it, and do it again.`,
      );
    const holder = await trx
      .selectFrom('sim_tenures')
      .select('node_id')
      .where('iccid', '=', iccid)
      .where('until', 'is', null)
      .forUpdate()
      .executeTakeFirst();
    if (holder !== undefined) await endTenures(trx, [iccid], now);
    const begun = await trx
      .insertInto('sim_tenures')
      .values({
        iccid,
        node_id: node,
        slot,
        since: now,
        sighting: 'present',
        sighting_since: now,
        taken_from: null,
      })
      .onConflict((conflict) => conflict.column('iccid').where('until', 'is', null).doNothing())
      .returning('id')
      .executeTakeFirst();
    if (begun === undefined)
      throw new OperatorRefusal('Another node got the SIM at the same moment. Run the command again.');
    await trx.deleteFrom('sim_claims').where('node_id', '=', node).where('iccid', '=', iccid).execute();
    await trx.deleteFrom('sims').where('iccid', '=', iccid).execute();
    await proveHolder(trx, iccid);
    return { iccid, from: holder?.node_id ?? null };
  });
}
