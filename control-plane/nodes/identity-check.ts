// Authenticates a node that wants to connect: checks the proof of an upgrade, once.
import type { Clock } from '#shared/clock.ts';
import { PROOF_LIFETIME_MS, readProof, SERVER_TIME_HEADER, textToSign } from '#shared/link/proof.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Database } from '../store/database/database.ts';
import { findKey, useProof } from '../store/fleet/nodes.ts';
import { isSignedBy } from './node-signature.ts';

/** A node whose key waits for approval asks again after this time, or up to twice as long. */
const APPROVAL_RETRY_SECONDS = 1;

export interface ProvenNode {
  nodeId: string;
  /** Ed25519, 32 bytes. */
  publicKey: Buffer;
}

/**
 * The node that an `Authorization` header proves. Throws `Refusal`. `unauthorized` has the server's time, for a node whose clock is wrong.
 * Only the holder of the key gets `node_revoked`, if its node is revoked, and `approval_pending`, if it waits for an operator.
 */
export async function identify(
  { db, clock }: { db: Database; clock: Clock },
  authorization: string | undefined,
): Promise<ProvenNode> {
  const proof = readProof(authorization);
  if (proof === undefined) throw unauthorized(clock, 'The request needs the proof of an enrolled node.');
  const known = await findKey(db, proof.nodeId);
  if (known === undefined || !isSignedBy(known.publicKey, textToSign(proof), proof.signature)) {
    throw unauthorized(clock, 'No node is enrolled with this key.');
  }
  if (Math.abs(proof.timeMs - clock.now()) > PROOF_LIFETIME_MS) {
    throw unauthorized(clock, 'The time of the proof differs too much from the time of this server.');
  }
  if (known.isRevoked) throw new Refusal('node_revoked', 'An operator revoked this node.');
  if (known.isPending) throw pending();
  const expiresAt = new Date(proof.timeMs + PROOF_LIFETIME_MS);
  if (!(await useProof(db, { nodeId: proof.nodeId, random: proof.random, expiresAt }))) {
    throw unauthorized(clock, 'This proof was used before.');
  }
  return { nodeId: proof.nodeId, publicKey: known.publicKey };
}

const pending = (): Refusal =>
  new Refusal('approval_pending', 'An operator must approve the key of this node.', {
    headers: { 'Retry-After': String(APPROVAL_RETRY_SECONDS) },
  });

const unauthorized = (clock: Clock, message: string): Refusal =>
  new Refusal('unauthorized', message, {
    headers: { 'WWW-Authenticate': 'SimrackNode', [SERVER_TIME_HEADER]: String(clock.now()) },
  });
