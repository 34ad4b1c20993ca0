// Converts the formats in which wallets write a secp256k1 signature into the one that token contracts accept.
import { compactSignatureToSignature, type Hex, hexToNumber, slice } from 'viem';

/** Half the order of secp256k1: a signature with a higher s is a second form of another signature (EIP-2). */
const S_MAX = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

const PATTERN = /^0x(?:[0-9a-fA-F]{128}|[0-9a-fA-F]{130})$/;

/**
 * r, s, v as 65 bytes with v 27 or 28, from 65 bytes (some wallets write v as 0 or 1) or from 64 (EIP-2098). Undefined for anything else:
 * other lengths, another v, and a high s, which no wallet writes and no token accepts.
 */
export function canonicalSignature(text: string): Hex | undefined {
  if (!PATTERN.test(text)) return undefined;
  const signature = text.toLowerCase() as Hex;
  const { r, s, parity } = signature.length === 130 ? compactParts(signature) : parts(signature);
  if (parity === undefined || BigInt(s) > S_MAX) return undefined;
  return `${r}${s.slice(2)}${(parity + 27).toString(16)}` as Hex;
}

interface Parts {
  r: Hex;
  s: Hex;
  /** Parity of the y coordinate of the point with x coordinate r. */
  parity: number | undefined;
}

function parts(signature: Hex): Parts {
  const v = hexToNumber(slice(signature, 64, 65));
  const parity = v === 27 || v === 28 ? v - 27 : v;
  return {
    r: slice(signature, 0, 32),
    s: slice(signature, 32, 64),
    parity: parity < 2 ? parity : undefined,
  };
}

function compactParts(signature: Hex): Parts {
  const { r, s, yParity } = compactSignatureToSignature({
    r: slice(signature, 0, 32),
    yParityAndS: slice(signature, 32, 64),
  });
  return { r, s, parity: yParity };
}
