// Final transactions on a local chain that is idle otherwise: it mines a block for each transaction only, and none on top.
import { connectAnvil } from './anvil-client.ts';

const POLL_MS = 2_000;

/** Makes the block below the newest one `safe`. */
export const SHORT_EPOCH = ['--slots-in-an-epoch', '1'] as const;
/** Few: each sets the clock of the chain forward by a second. */
const BLOCKS_ON_TOP = 2;

/** Mines empty blocks on top of transactions. An idle chain costs one request for each poll, and gets no blocks. Returns what ends it. */
export function mineOnTop(rpcUrl: string): () => void {
  const chain = connectAnvil(rpcUrl);
  const timer = setInterval(() => {
    // A chain that stops, or is busy, is asked again.
    mine().catch(() => undefined);
  }, POLL_MS);
  return () => clearInterval(timer);

  async function mine(): Promise<void> {
    const { transactions } = await chain.getBlock();
    if (transactions.length > 0) await chain.mine({ blocks: BLOCKS_ON_TOP });
  }
}
