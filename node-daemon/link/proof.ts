// The proof of identity that this node sends when it connects: signed, and for one use.
import { randomBytes, sign } from 'node:crypto';
import { type ProofClaim, showProof, textToSign } from '#shared/link/proof.ts';
import type { Identity } from './identity.ts';

/** Returns the header `Authorization` of an upgrade. `timeMs` is the node's estimate of the server's time. */
export function makeProof({ nodeId, key }: Identity, timeMs: number): string {
  const claim: ProofClaim = { nodeId, timeMs, random: randomBytes(16).toString('base64url') };
  const signature = sign(null, Buffer.from(textToSign(claim)), key).toString('base64url');
  return showProof({ ...claim, signature });
}
