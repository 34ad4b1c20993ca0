// Checks what a node signed with its own key (Ed25519).
import { createPublicKey, verify } from 'node:crypto';

/** `publicKey`: 32 bytes. `signature`: base64url. */
export function isSignedBy(publicKey: Buffer, text: string, signature: string): boolean {
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') },
    format: 'jwk',
  });
  return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'));
}
