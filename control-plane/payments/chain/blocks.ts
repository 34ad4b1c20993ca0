// The newest block, and the newest that stays.
import type { PublicClient } from 'viem';
import { isUnreachable } from './rpc.ts';

/** Where an RPC has no `safe` block, so many on top of one make it final. On Base 2 minutes; deeper reorganisations were not seen there. */
export const SAFE_DEPTH_BLOCKS = 64;

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
