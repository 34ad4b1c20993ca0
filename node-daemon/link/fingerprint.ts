// The fingerprint of this node's key. An operator compares it before approving the key.
import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { showFingerprint } from '#shared/link/enrolment.ts';

/** Returns the fingerprint of an Ed25519 key: SHA-256 of the 32 bytes of its public half. */
export function fingerprintOf(privateKey: KeyObject): string {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return showFingerprint(createHash('sha256').update(Buffer.from(x, 'base64url')).digest('base64'));
}
