// The work of a thread of the signer pool. JavaScript, because a thread that first loads a compiler takes a second to start instead of a
// third of a second.
import { recover } from 'tiny-secp256k1';
import { bytesToHex, hexToBytes, keccak256 } from 'viem/utils';

/** v of the first of the two keys. */
const V_FIRST = 27;

/**
 * Whether the signer signed one of the digests. False for a signature without a recoverable key.
 *
 * @param {{ signer: string, digests: readonly `0x${string}`[], signature: `0x${string}` }} job
 */
export default function isSignedBy({ signer, digests, signature }) {
  return digests.some((digest) => addressOf(digest, signature) === signer.toLowerCase());
}

/** The address whose key made a signature in its canonical form (SEC 1 §4.1.6): libsecp256k1, as WebAssembly. */
function addressOf(digest, signature) {
  const octets = hexToBytes(signature);
  try {
    const key = recover(hexToBytes(digest), octets.subarray(0, 64), octets[64] - V_FIRST, false);
    // The first byte only says that the point is not compressed.
    return key === null ? undefined : bytesToHex(keccak256(key.subarray(1), 'bytes').subarray(12));
  } catch {
    return undefined;
  }
}
