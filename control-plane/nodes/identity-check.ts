// Who wants to connect: checks the proof of an upgrade, once.
import { createPublicKey, verify } from 'node:crypto';
import type { Clock } from '#shared/clock.ts';
import { PROOF_LIFETIME_MS, readProof, SERVER_TIME_HEADER, textToSign } from '#shared/link/proof.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Database } from '../store/database/database.ts';
import { findKey, useProof } from '../store/fleet/nodes.ts';

/** An operator who compares fingerprints takes longer, and then waits for the node. */
const APPROVAL_RETRY_SECONDS = 5;

export interface ProvenNode {
  nodeId: string;
  /** Ed25519, 32 bytes. */
  publicKey: Buffer;
}

/**
 * The node that an `Authorization` header proves. Throws `Refusal`: `unauthorized`, with the server's time
 * for a node whose clock is wrong; `node_revoked` to the holder of a revoked node's key, and
 * `approval_pending` to that of one that waits for an operator, and to nobody else.
 */
export async function identify(
  { db, clock }: { db: Database; clock: Clock },
  authorization: string | undefined,
): Promise<ProvenNode> {
  const proof = readProof(authorization);
  if (proof === undefined) throw unauthorized(clock, 'a proof of an enrolled node is required');
  const known = await findKey(db, proof.nodeId);
  if (known === undefined || !isSignedBy(known.publicKey, textToSign(proof), proof.signature)) {
    throw unauthorized(clock, 'no node is enrolled with this key');
  }
  if (Math.abs(proof.timeMs - clock.now()) > PROOF_LIFETIME_MS) {
    throw unauthorized(clock, 'the time of the proof is not that of this server');
  }
  if (known.isRevoked) throw new Refusal('node_revoked', 'this node was taken out of service');
  if (known.isPending) throw pending();
  const expiresAt = new Date(proof.timeMs + PROOF_LIFETIME_MS);
  if (!(await useProof(db, { nodeId: proof.nodeId, random: proof.random, expiresAt }))) {
    throw unauthorized(clock, 'this proof was shown before');
  }
  return { nodeId: proof.nodeId, publicKey: known.publicKey };
}

function isSignedBy(publicKey: Buffer, text: string, signature: string): boolean {
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') },
    format: 'jwk',
  });
  return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'));
}

const pending = (): Refusal =>
  new Refusal('approval_pending', 'an operator has to approve the key of this node', {
    headers: { 'Retry-After': String(APPROVAL_RETRY_SECONDS) },
  });

const unauthorized = (clock: Clock, message: string): Refusal =>
  new Refusal('unauthorized', message, {
    headers: { 'WWW-Authenticate': 'SimrackNode', [SERVER_TIME_HEADER]: String(clock.now()) },
  });
