// Keys of nodes that wait for an operator's approval before they may have a link.
import { sql } from 'kysely';
import { OperatorRefusal } from '../../domain/refusal.ts';
import { keyFingerprint } from '../../domain/shown-value.ts';
import type { Database } from '../database/database.ts';

/**
 * Approves a node's key, and lets the node take SIMs again, also many unknown ones. It may be approved already. If `fingerprint` is given,
 * it must be that of the key. Throws `OperatorRefusal` for another key, and for a node that is not enrolled.
 */
export async function approveNode(
  db: Database,
  node: string,
  fingerprint?: string | undefined,
): Promise<{ fingerprint: string }> {
  const row = await db
    .updateTable('nodes')
    .set({
      approval_pending_since: null,
      claims_suspended_at: null,
      new_sims_approved_at: sql<Date | null>`coalesce(new_sims_approved_at, claims_suspended_at)`,
    })
    .where('id', '=', node)
    .where('public_key', 'is not', null)
    .where('revoked_at', 'is', null)
    .returning('public_key')
    .executeTakeFirst();
  if (row?.public_key == null) throw await whyNot(db, node);
  const own = keyFingerprint(row.public_key);
  await db.deleteFrom('sim_claims').where('node_id', '=', node).execute();
  // The surrounding transaction rolls the approval back.
  if (fingerprint !== undefined && fingerprint !== own)
    throw new OperatorRefusal(`the key of ${node} is another one now: ${own}`);
  return { fingerprint: own };
}

async function whyNot(db: Database, node: string): Promise<OperatorRefusal> {
  const row = await db.selectFrom('nodes').select('revoked_at').where('id', '=', node).executeTakeFirst();
  if (row === undefined) return new OperatorRefusal(`there is no node "${node}"`);
  return new OperatorRefusal(
    row.revoked_at === null
      ? `${node} is not enrolled yet`
      : `${node} is revoked: "node add" gives it a code`,
  );
}
