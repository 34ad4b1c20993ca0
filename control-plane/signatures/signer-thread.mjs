// What a thread of the signer pool does. JavaScript: a thread that first loads a compiler starts in a second, not in a third.
import { recoverAddress } from 'viem/utils';

/**
 * True when one of the digests was signed by the signer. A signature of which no key can be told was made by nobody.
 *
 * @param {{ signer: string, digests: readonly `0x${string}`[], signature: `0x${string}` }} job
 */
export default async function isSignedBy({ signer, digests, signature }) {
  for (const hash of digests) {
    const recovered = await recoverAddress({ hash, signature }).catch(() => undefined);
    if (recovered?.toLowerCase() === signer.toLowerCase()) return true;
  }
  return false;
}
