// The fingerprint of this node's key, which an operator compares before approving it.
import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { showFingerprint } from '#shared/link/enrolment.ts';

/** Of an Ed25519 key: SHA-256 of the 32 bytes of its public half. */
export function fingerprintOf(privateKey: KeyObject): string {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return showFingerprint(createHash('sha256').update(Buffer.from(x, 'base64url')).digest('base64'));
}
