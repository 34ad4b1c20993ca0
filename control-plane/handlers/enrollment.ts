// POST /nodes/enrol: a code, used once, enrolls a node's key.
import type * as z from 'zod';
import type { enrollAnswerSchema, enrollRequestSchema } from '#shared/link/enrollment.ts';
import type { Base } from '../bus/base.ts';
import { Refusal } from '../domain/refusal.ts';
import { keyFingerprint } from '../domain/shown-value.ts';
import type { Fleet } from '../nodes/fleet.ts';
import { hashCode } from '../nodes/registry.ts';
import { type Database, inTransaction } from '../store/database/database.ts';
import { insertEvents } from '../store/fleet/node-links.ts';
import { useCode } from '../store/fleet/nodes.ts';
import { insertAudit } from '../store/operations/audit-log.ts';

export interface EnrollParts extends Pick<Base, 'db' | 'bus' | 'clock' | 'log'> {
  fleet: Fleet;
  /** Whether an operator approves each new key. */
  enrolmentApproval: boolean;
}

/**
 * Enrolls the key, and ends links that used an older key of the node. Throws `Refusal` `enrolment_refused`, with the same message for every
 * reason, so that guessing reveals nothing.
 */
export async function enroll(
  { db, bus, clock, fleet, log, enrolmentApproval }: EnrollParts,
  request: z.output<typeof enrollRequestSchema>,
): Promise<z.output<typeof enrollAnswerSchema>> {
  const publicKey = Buffer.from(request.public_key, 'base64url');
  const codeHash = hashCode(request.code);
  const now = new Date(clock.now());
  const enrolled = await inTransaction(db, async (trx) => {
    const used = await useCode(trx, { codeHash, publicKey, needsApproval: enrolmentApproval, now });
    if (used?.keyBefore) await recordNewKey(trx, { ...used, before: used.keyBefore, publicKey, now });
    return used;
  });
  if (enrolled === undefined) {
    throw new Refusal(
      'enrolment_refused',
      'The code is unknown, used or expired. Ask the operator for a new one.',
    );
  }
  const { nodeId, isPending } = enrolled;
  const fingerprint = keyFingerprint(publicKey);
  log.info(
    { node: nodeId, fingerprint },
    isPending ? 'node enrolled, waiting for approval' : 'node enrolled',
  );
  bus.publish({ kind: 'node_identity_changed', nodeId });
  await fleet.find(nodeId)?.recheck();
  return { node_id: nodeId, approval: isPending ? 'pending' : 'granted' };
}

interface NewKey {
  nodeId: string;
  before: Buffer;
  publicKey: Buffer;
  now: Date;
}

/** Writes a replaced key into the audit log and the events of the node. A repeated request replaces none. */
async function recordNewKey(trx: Database, { nodeId, before, publicKey, now }: NewKey): Promise<void> {
  if (publicKey.equals(before)) return;
  const [from, to] = [keyFingerprint(before), keyFingerprint(publicKey)];
  await insertAudit(trx, {
    at: now,
    actor: 'enrollment code',
    action: 'replaceKey',
    subject: nodeId,
    detail: { from, to },
    result: 'ok',
  });
  const detail = `${from} no longer works; the node now has ${to}`;
  await insertEvents(trx, nodeId, [{ slot: '', kind: 'key_replaced', detail, at: now.toISOString() }], now);
}
