// A client of a local chain: its public methods, and anvil's own controls of mining, snapshots and dropped transactions.
import {
  createTestClient,
  http,
  type PublicActions,
  publicActions,
  type TestClient,
  type WalletActions,
  walletActions,
} from 'viem';

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
    .extend(walletActions);
