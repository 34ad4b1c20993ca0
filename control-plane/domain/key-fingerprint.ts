// The fingerprint of a node's key, for comparison by people.
import { createHash } from 'node:crypto';
import { showFingerprint } from '#shared/link/enrolment.ts';

/** Of an Ed25519 public key, 32 bytes. */
export const keyFingerprint = (publicKey: Uint8Array): string =>
  showFingerprint(createHash('sha256').update(publicKey).digest('base64'));
