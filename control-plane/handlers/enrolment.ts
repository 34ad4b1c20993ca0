// POST /nodes/enrol: a code, used once, gives a node's key its name.
import type * as z from 'zod';
import type { Clock } from '#shared/clock.ts';
import type { enrolAnswerSchema, enrolRequestSchema } from '#shared/link/enrolment.ts';
import type { Logger } from '#shared/log.ts';
import { keyFingerprint } from '../domain/key-fingerprint.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Fleet } from '../nodes/fleet.ts';
import { hashCode } from '../nodes/registry.ts';
import type { Database } from '../store/database/database.ts';
import { useCode } from '../store/fleet/nodes.ts';

export interface EnrolParts {
  db: Database;
  clock: Clock;
  fleet: Fleet;
  log: Logger;
  /** Whether an operator approves each new key. */
  enrolmentApproval: boolean;
}

/**
 * Enrols the key and ends links that an older key of the node proved. Throws `Refusal` `enrolment_refused`,
 * the same for every reason: who guesses learns nothing.
 */
export async function enrol(
  { db, clock, fleet, log, enrolmentApproval }: EnrolParts,
  request: z.output<typeof enrolRequestSchema>,
): Promise<z.output<typeof enrolAnswerSchema>> {
  const publicKey = Buffer.from(request.public_key, 'base64url');
  const codeHash = hashCode(request.code);
  const now = new Date(clock.now());
  const enrolled = await useCode(db, { codeHash, publicKey, needsApproval: enrolmentApproval, now });
  if (enrolled === undefined) {
    throw new Refusal(
      'enrolment_refused',
      'the code is unknown, was used or is too old; ask the operator for a new one',
    );
  }
  const { nodeId, isPending } = enrolled;
  const fingerprint = keyFingerprint(publicKey);
  log.info(
    { node: nodeId, fingerprint },
    isPending ? 'node enrolled: it waits for approval' : 'node enrolled',
  );
  await fleet.find(nodeId)?.recheck();
  return { node_id: nodeId, approval: isPending ? 'pending' : 'granted' };
}
