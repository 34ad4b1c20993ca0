// The event in the log that says what the service runs with: chains, relayer, database, link, addresses.
import { formatEther } from 'viem';
import { type Clock, withTimeout } from '#shared/clock.ts';
import { LINK_VERSIONS } from '#shared/link/version.ts';
import { METRICS_PATH } from '#shared/process/metrics-server.ts';
import { VERSION } from '#shared/process/version.ts';
import { maskedWallet } from '../domain/shown-value.ts';
import { shownRpc } from '../payments/chain/rpc.ts';
import type { RelayerWallet, RelayerWallets } from '../payments/relayer-wallet.ts';
import { walletsOf } from '../payments/settlement-networks.ts';
import { shownDatabase } from '../store/database/database-url.ts';
import type { Sales } from './sales.ts';
import type { ServiceBase } from './store.ts';

/** An RPC that does not respond must not delay the event for long. */
const FUNDS_TIMEOUT_MS = 3_000;

interface Listening {
  port: number;
  metricsPort: number | undefined;
  consoleUrl: string | undefined;
}

/** Writes the event once the balances are known, or after 3 s without them. Never rejects, and changes nothing. */
export async function logStart(
  { config, clock, log, url }: ServiceBase,
  { sales, listening }: { sales: Sales; listening: Listening },
): Promise<void> {
  const wallets = walletsOf(sales.settlementNetworks);
  const chains = await Promise.all(
    sales.networks.connections.map(async ({ network: { chainId, rpcUrl, facilitatorUrl }, closed }) => {
      const own = wallets.get(chainId);
      const payer =
        own === undefined
          ? `facilitator ${facilitatorUrl && shownRpc(facilitatorUrl)}`
          : await shownRelayers(own, clock);
      return `eip155:${chainId} by ${shownRpc(rpcUrl)} (${closed?.reason ?? 'open'}), ${payer}`;
    }),
  );
  const { databaseUrl, dataDir, natsUrl, metricsHost } = config;
  const { port, metricsPort, consoleUrl } = listening;
  const block = {
    version: VERSION,
    clients: url,
    api: `http://${config.host}:${port}`,
    metrics: metricsPort === undefined ? 'not served' : `http://${metricsHost}:${metricsPort}${METRICS_PATH}`,
    console: consoleUrl ?? 'not served',
    database: databaseUrl === undefined ? `embedded in ${dataDir}` : shownDatabase(databaseUrl),
    instances:
      natsUrl === undefined ? 'one' : `several, by ${natsUrl.map((each) => new URL(each).host).join(', ')}`,
    link_versions: LINK_VERSIONS,
    chains,
  };
  log.info({ block }, 'service started');
}

/** The present relayer, then former ones. The addresses are masked: the log has no whole ones. */
async function shownRelayers({ present, former }: RelayerWallets, clock: Clock): Promise<string> {
  const shown = [present, ...former].map(async (wallet, index) => {
    const name = `${index === 0 ? 'relayer' : 'former relayer'} ${maskedWallet(wallet.address)}`;
    return withTimeout(clock, shownFunds(wallet), FUNDS_TIMEOUT_MS, () => new Error('no answer')).then(
      (funds) => `${name} with ${funds}`,
      () => `${name}, balance unknown`,
    );
  });
  return (await Promise.all(shown)).join(', ');
}

async function shownFunds(wallet: RelayerWallet): Promise<string> {
  const { balanceWei, transfers } = await wallet.funds();
  return `${formatEther(balanceWei)} ether for ${transfers} transfers`;
}
