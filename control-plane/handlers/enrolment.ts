// POST /nodes/enrol: a code, used once, enrols a node's key.
import type * as z from 'zod';
import type { enrolAnswerSchema, enrolRequestSchema } from '#shared/link/enrolment.ts';
import type { Base } from '../bus/base.ts';
import { Refusal } from '../domain/refusal.ts';
import { keyFingerprint } from '../domain/shown-value.ts';
import type { Fleet } from '../nodes/fleet.ts';
import { hashCode } from '../nodes/registry.ts';
import { useCode } from '../store/fleet/nodes.ts';

export interface EnrolParts extends Pick<Base, 'db' | 'bus' | 'clock' | 'log'> {
  fleet: Fleet;
  /** Whether an operator approves each new key. */
  enrolmentApproval: boolean;
}

/**
 * Enrols the key, and ends links that used an older key of the node. Throws `Refusal` `enrolment_refused`, with the same message for every
 * reason, so that guessing reveals nothing.
 */
export async function enrol(
  { db, bus, clock, fleet, log, enrolmentApproval }: EnrolParts,
  request: z.output<typeof enrolRequestSchema>,
): Promise<z.output<typeof enrolAnswerSchema>> {
  const publicKey = Buffer.from(request.public_key, 'base64url');
  const codeHash = hashCode(request.code);
  const now = new Date(clock.now());
  const enrolled = await useCode(db, { codeHash, publicKey, needsApproval: enrolmentApproval, now });
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
