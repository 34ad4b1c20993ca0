// The newest block, and the newest block that is final.
import type { PublicClient } from 'viem';
import { SAFE_DEPTH_BLOCKS } from '#shared/api/payment-networks.ts';
import { isUnreachable } from './rpc.ts';

/** `safeDepthBlocks`: a block with this many blocks on top is final, for an RPC without a `safe` block. */
export function blocksOf(publicClient: PublicClient, safeDepthBlocks = SAFE_DEPTH_BLOCKS) {
  /** The newest block; its time is in seconds since the Unix epoch. */
  async function head(): Promise<{ number: bigint; timestamp: bigint }> {
    const { number, timestamp } = await publicClient.getBlock({ blockTag: 'latest' });
    return { number, timestamp };
  }

  /** The newest block that no reorganization reverts: the RPC's `safe` block, else the one `safeDepthBlocks` below the newest. */
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
