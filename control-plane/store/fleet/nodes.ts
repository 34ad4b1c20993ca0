// Identities of nodes: names, enrollment codes (hashes only), public keys and their approval, proofs that were used.
import { sql } from 'kysely';
import { PROOF_LIFETIME_MS } from '#shared/link/proof.ts';
import { ownCommand } from '#shared/process/own-command.ts';
import { OperatorRefusal } from '../../domain/refusal.ts';
import { keyFingerprint } from '../../domain/shown-value.ts';
import { type Database, type DatabaseTransaction, inTransaction } from '../database/database.ts';
import { endTenures } from './sim-tenures.ts';
import { UNREGISTERED_OF_NODE, type UnregisteredSlot } from './slots.ts';

/** Stores a code for the node, and the node if it is new. Earlier codes become void. */
export async function putCode(
  db: Database,
  { nodeId, codeHash, expiresAt }: { nodeId: string; codeHash: Buffer; expiresAt: Date },
): Promise<void> {
  const code = { code_hash: codeHash, code_expires_at: expiresAt, code_key: null };
  await db
    .insertInto('nodes')
    .values({ id: nodeId, ...code })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(code))
    .execute();
}

/**
 * Gives the key to the node of a code, in one statement, and returns the node's name and the key that it had before; null if it had none.
 * The code must be unused, or have been used for this same key; else undefined. With `needsApproval` a new key waits for an operator.
 */
export async function useCode(
  db: Database,
  use: { codeHash: Buffer; publicKey: Buffer; needsApproval: boolean; now: Date },
): Promise<{ nodeId: string; isPending: boolean; keyBefore: Buffer | null } | undefined> {
  const { codeHash, publicKey, needsApproval, now } = use;
  const row = await db
    .updateTable('nodes')
    .set({
      public_key: publicKey,
      code_key: publicKey,
      enrolled_at: now,
      revoked_at: null,
      // The same key keeps its state: waiting, or approved meanwhile.
      approval_pending_since: sql<Date | null>`case when code_key = ${publicKey} then approval_pending_since
        else ${needsApproval ? now : null}::timestamptz end`,
    })
    .where('code_hash', '=', codeHash)
    .where((eb) =>
      eb.or([
        eb.and([eb('code_key', 'is', null), eb('code_expires_at', '>', now)]),
        eb('code_key', '=', publicKey),
      ]),
    )
    .returning([
      'id',
      'approval_pending_since',
      // A subquery reads the row as it was before this statement.
      sql<Buffer | null>`(select before.public_key from nodes as before where before.id = nodes.id)`.as(
        'before',
      ),
    ])
    .executeTakeFirst();
  return row && { nodeId: row.id, isPending: row.approval_pending_since !== null, keyBefore: row.before };
}

/** Takes a node out of service: its code is void, and it holds no SIM any more. False when there is no such node. */
export async function revokeNode(db: Database, nodeId: string, now: Date): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const row = await trx
      .updateTable('nodes')
      .set({ revoked_at: now, code_hash: null, code_expires_at: null, code_key: null })
      .where('id', '=', nodeId)
      .returning('id')
      .executeTakeFirst();
    // Separate statements: they see the slots that a link wrote before the node was locked.
    const held = await trx
      .selectFrom('sim_tenures')
      .select('iccid')
      .where('node_id', '=', nodeId)
      .where('until', 'is', null)
      .orderBy('iccid')
      .forUpdate()
      .execute();
    await endTenures(
      trx,
      held.map(({ iccid }) => iccid),
      now,
    );
    await trx.deleteFrom('sims').where('node_id', '=', nodeId).execute();
    return row !== undefined;
  });
}

/** Waits for changes of the node that are under way. Returns undefined for an unknown node. */
export const lockNode = (
  trx: DatabaseTransaction,
  node: string,
): Promise<{ revoked_at: Date | null } | undefined> =>
  trx.selectFrom('nodes').select('revoked_at').where('id', '=', node).forUpdate().executeTakeFirst();

export interface NodeRow {
  id: string;
  enrolledAt: Date | null;
  revokedAt: Date | null;
  /** Since when its key waits for an operator's approval. */
  approvalPendingSince: Date | null;
  /** Null before the first enrollment. */
  publicKey: Buffer | null;
  /** When its code expires; null when it has none. */
  codeUntil: Date | null;
  linkAliveUntil: Date | null;
  alarms: string[];
  unregisteredSlots: UnregisteredSlot[];
  sims: number;
  /** Since when the node gets no further SIMs. */
  claimsSuspendedAt: Date | null;
}

export async function readNodes(db: Database): Promise<NodeRow[]> {
  return db
    .selectFrom('nodes')
    .select((eb) => [
      'id',
      'enrolled_at as enrolledAt',
      'revoked_at as revokedAt',
      'approval_pending_since as approvalPendingSince',
      'public_key as publicKey',
      eb.case().when('code_key', 'is', null).then(eb.ref('code_expires_at')).end().as('codeUntil'),
      'link_alive_until as linkAliveUntil',
      'alarms',
      UNREGISTERED_OF_NODE.as('unregisteredSlots'),
      'claims_suspended_at as claimsSuspendedAt',
      sql<number>`(select count(*)::int from sims where sims.node_id = nodes.id)`.as('sims'),
    ])
    .orderBy('id')
    .execute();
}

/** The key of an enrolled node, revoked or not, approved or not; undefined for a name without a key. */
export async function findKey(
  db: Database,
  nodeId: string,
): Promise<{ publicKey: Buffer; isRevoked: boolean; isPending: boolean } | undefined> {
  const row = await db
    .selectFrom('nodes')
    .select(['public_key', 'revoked_at', 'approval_pending_since'])
    .where('id', '=', nodeId)
    .executeTakeFirst();
  if (row === undefined || row.public_key === null) return undefined;
  return {
    publicKey: row.public_key,
    isRevoked: row.revoked_at !== null,
    isPending: row.approval_pending_since !== null,
  };
}

/** Marks a proof as used. False when it was used before, at any instance. */
export async function useProof(
  db: Database,
  proof: { nodeId: string; random: string; expiresAt: Date },
): Promise<boolean> {
  const row = await db
    .insertInto('link_proofs')
    .values({ node_id: proof.nodeId, random: proof.random, expires_at: proof.expiresAt })
    .onConflict((conflict) => conflict.doNothing())
    .returning('random')
    .executeTakeFirst();
  return row !== undefined;
}

/** The clocks of instances differ: one must not delete a proof that is still valid for another. */
const EXPIRED_KEPT_MS = 2 * PROOF_LIFETIME_MS;

/** Deletes proofs that have expired by every instance's clock. */
export async function deleteExpiredProofs(db: Database, now: Date): Promise<void> {
  const before = new Date(now.getTime() - EXPIRED_KEPT_MS);
  await db.deleteFrom('link_proofs').where('expires_at', '<=', before).execute();
}

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
    throw new OperatorRefusal(`The key of ${node} is ${own}, not the one that you gave.`);
  return { fingerprint: own };
}

async function whyNot(db: Database, node: string): Promise<OperatorRefusal> {
  const row = await db.selectFrom('nodes').select('revoked_at').where('id', '=', node).executeTakeFirst();
  if (row === undefined) return new OperatorRefusal(`There is no node "${node}".`);
  return new OperatorRefusal(
    row.revoked_at === null
      ? `${node} is not enrolled yet.`
      : `${node} is revoked. Run "${ownCommand('control-plane')} node add" to enroll it again.`,
  );
}
