// A client of a local chain: its public methods, and anvil's own controls of mining, snapshots and dropped transactions.
import {
  createTestClient,
  type Hex,
  http,
  type PublicActions,
  publicActions,
  type TestClient,
  type WalletActions,
  walletActions,
} from 'viem';
import { waitForTransactionReceipt } from 'viem/actions';

/** Many blocks at once take anvil long. */
const TIMEOUT_MS = 120_000;

export type AnvilClient = TestClient<'anvil'> & PublicActions & WalletActions;

/** Sees each block at once. */
export const connectAnvil = (rpcUrl: string): AnvilClient =>
  createTestClient({
    mode: 'anvil',
    transport: http(rpcUrl, { timeout: TIMEOUT_MS }),
    cacheTime: 0,
    pollingInterval: 20,
  })
    .extend(publicActions)
    .extend(walletActions)
    .extend((client) => ({
      // While viem asks for a replacement it misses the next block, which here may be the last one.
      waitForTransactionReceipt: (wanted: { hash: Hex }) =>
        waitForTransactionReceipt(client, { ...wanted, checkReplacement: false }),
    }));
