// The newest block, and the newest that stays.
import type { PublicClient } from 'viem';
import { SAFE_DEPTH_BLOCKS } from './offer.ts';
import { isUnreachable } from './rpc.ts';

/** `safeDepthBlocks`: so many blocks on top of one it stays, where the RPC has no `safe` block. */
export function blocksOf(publicClient: PublicClient, safeDepthBlocks = SAFE_DEPTH_BLOCKS) {
  /** The newest block; its time is in seconds since the Unix epoch. */
  async function head(): Promise<{ number: bigint; timestamp: bigint }> {
    const { number, timestamp } = await publicClient.getBlock({ blockTag: 'latest' });
    return { number, timestamp };
  }

  /** The newest block that no reorganisation takes back: the one that the RPC calls `safe`, else one `safeDepthBlocks` down. */
  async function safeBlock(): Promise<{ number: bigint; timestamp: bigint }> {
    try {
      const { number, timestamp } = await publicClient.getBlock({ blockTag: 'safe' });
      return { number, timestamp };
    } catch (error) {
      if (isUnreachable(error)) throw error;
      const { number: newest } = await head();
      const depth = BigInt(safeDepthBlocks);
      const blockNumber = newest > depth ? newest - depth : 0n;
      const { number, timestamp } = await publicClient.getBlock({ blockNumber });
      return { number, timestamp };
    }
  }

  return { head, safeBlock };
}
