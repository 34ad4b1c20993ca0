// The proof of identity that a node sends when it connects: the signed text, and its header.
import { nodeNameSchema } from './enrollment.ts';
import { LINK_PATH } from './version.ts';

/** A proof is valid once, within this time before and after the time in it. */
export const PROOF_LIFETIME_MS = 60_000;

/** Header of a refusal: the server's time in ms since the Unix epoch, for nodes whose clock is wrong. */
export const SERVER_TIME_HEADER = 'X-Simrack-Time';

const SCHEME = 'SimrackNode';

/** 16 random bytes and 64 bytes of signature, base64url without padding. */
const PATTERN = /^SimrackNode id=([^,]+), time=(\d{1,15}), random=([\w-]{22}), signature=([\w-]{86})$/;

export interface ProofClaim {
  nodeId: string;
  /** The node's time, in ms since the Unix epoch. */
  timeMs: number;
  /** 16 random bytes, base64url: no two connects have the same. */
  random: string;
}

interface Proof extends ProofClaim {
  /** Ed25519 over `textToSign`, base64url. */
  signature: string;
}

/** The text that the node's key signs. Its first line distinguishes it from any other signed text. */
export const textToSign = ({ nodeId, timeMs, random }: ProofClaim): string =>
  ['simrack control link', LINK_PATH, nodeId, String(timeMs), random].join('\n');

/** The value of the header `Authorization`. */
export const showProof = ({ nodeId, timeMs, random, signature }: Proof): string =>
  `${SCHEME} id=${nodeId}, time=${timeMs}, random=${random}, signature=${signature}`;

/** Parses the header `Authorization`; undefined when it is not a proof. */
export function readProof(header: string | undefined): Proof | undefined {
  const [, nodeId = '', time, random = '', signature = ''] = PATTERN.exec(header ?? '') ?? [];
  if (!nodeNameSchema.safeParse(nodeId).success) return undefined;
  return { nodeId, timeMs: Number(time), random, signature };
}
