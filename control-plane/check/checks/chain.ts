// Checks of each payment network: its RPC, the clock, the tokens, the payee, and who submits the transfers.
import { formatEther, isAddressEqual, zeroAddress } from 'viem';
import { caip2 } from '#shared/api/payment-networks.ts';
import { type Outcome, ok, problem, skipped, warning } from '#shared/operator/findings.ts';
import { hasWrongChecksum } from '../../config/address-option.ts';
import { paymentNetworksOf } from '../../config/payments-file.ts';
import { relayerKeysOf } from '../../config/relayer-options.ts';
import { connectChain } from '../../payments/chain/chain.ts';
import { examineToken, hasCode } from '../../payments/chain/token-examination.ts';
import { NetworkMisconfigured, readOffer } from '../../payments/network-connection.ts';
import type { PaymentAsset, PaymentNetwork } from '../../payments/offer.ts';
import {
  connectRelayerWallets,
  type RelayerWallet,
  relayerAddresses,
} from '../../payments/relayer-wallet.ts';
import { CALL_TIMEOUT_MS, type Check, type CheckedSettings, firstLineOf, once } from './check.ts';
import { askHttp, failureAdvice } from './http-answer.ts';
import { judgeClock, judgeRpc, readRpc } from './rpc.ts';

export function chainChecks(settings: CheckedSettings): Check[] {
  try {
    // The relayer is a check of its own.
    const networks = paymentNetworksOf(settings.config, { present: '0x', former: [] });
    return networks.flatMap((network) => networkChecks(network, settings));
  } catch {
    // The check of the configuration says why.
    return [];
  }
}

function networkChecks(network: PaymentNetwork, settings: CheckedSettings): Check[] {
  const { rpcUrl, chainId, assets, facilitatorUrl } = network;
  const chain = caip2(chainId);
  const read = once(() => readRpc(rpcUrl));
  const rpc = { chainId, rpcUrl, rpcTimeoutMs: CALL_TIMEOUT_MS };
  const onChain = (check: string, ask: () => Promise<Outcome>): Check => ({
    check,
    chain,
    async run() {
      const seen = await read();
      if ('error' in seen) return skipped('the RPC does not answer');
      if (seen.chainId !== chainId) return skipped('the RPC serves another chain');
      return ask();
    },
  });
  return [
    { check: 'rpc', chain, run: async () => judgeRpc(await read(), { rpcUrl, chainId }) },
    onChain('clock', async () => judgeClock(await read(), rpcUrl)),
    ...assets.map((asset) => onChain('token', () => token(network, asset))),
    ...assets.map((asset) =>
      onChain('pay_to', () => payee(asset, { rpc, settings, writtenPayTo: settings.writtenPayTo })),
    ),
    facilitatorUrl === undefined
      ? onChain('relayer', () => relayer(rpc, settings))
      : { check: 'facilitator', chain, run: (signal) => facilitator(facilitatorUrl, chain, signal) },
  ];
}

type Rpc = Parameters<typeof connectChain>[0];

/** Is it the configured token, and can it be paid with an authorization? */
async function token(network: PaymentNetwork, asset: PaymentAsset): Promise<Outcome> {
  const rpc = { ...network, rpcTimeoutMs: CALL_TIMEOUT_MS };
  const advice = `Check ${network.assets.length > 1 ? 'the assets in PAYMENTS_FILE' : 'ASSET'} and CHAIN_ID.`;
  if (!(await hasCode(rpc, asset.asset)))
    return problem(`no contract at ${asset.asset}`, `There is no token. ${advice}`);
  try {
    const { assetName, assetVersion, assetDecimals } = await readOffer(connectChain(rpc), network, asset);
    const { symbol, takesAuthorizations } = await examineToken(rpc, asset.asset);
    const seen = `${symbol} (${assetName} ${assetVersion}), ${assetDecimals} decimals, at ${asset.asset}`;
    if (!takesAuthorizations)
      return problem(
        `${seen} has no transferWithAuthorization (EIP-3009) with a signature of bytes`,
        'The service cannot take this token. Use another one, such as USDC.',
      );
    return ok(`${seen}, takes EIP-3009 authorizations`);
  } catch (error) {
    if (!(error instanceof NetworkMisconfigured)) throw error;
    return problem(firstLineOf(error), `The service does not start with this token. ${advice}`);
  }
}

/** Can the payee's address be meant? */
async function payee(
  { asset, payTo }: PaymentAsset,
  { rpc, settings, writtenPayTo }: { rpc: Rpc; settings: CheckedSettings; writtenPayTo: string | undefined },
): Promise<Outcome> {
  const address = 'Set PAY_TO to an account of yours.';
  if (isAddressEqual(payTo, zeroAddress))
    return problem('the zero address: money sent to it is lost', address);
  if (isAddressEqual(payTo, asset)) return problem('the token contract: money sent to it is lost', address);
  if (writtenPayTo !== undefined && hasWrongChecksum(writtenPayTo))
    return problem(
      `${writtenPayTo} has a wrong checksum`,
      'A character was mistyped. Copy the address again from your wallet.',
    );
  const keys = keysOf(settings.config);
  if (keys !== undefined && relayerAddresses(keys).some((relayer) => isAddressEqual(payTo, relayer)))
    return problem(
      'the relayer’s own account: its key is on this host',
      `${address} Its key does not belong on the host of the service.`,
    );
  const code = (await hasCode(rpc, payTo))
    ? ', has code (a smart account): "control-plane payment refund" cannot sign for it'
    : ', has no code';
  if (
    writtenPayTo !== undefined &&
    /^0x([\da-f]{40}|[\dA-F]{40})$/.test(writtenPayTo) &&
    writtenPayTo !== payTo
  )
    return warning(
      `${payTo}${code}; PAY_TO has no checksum, so a mistyped character is not noticed`,
      `If this is your address, write it as ${payTo}.`,
    );
  return ok(`${payTo}${code}`);
}

function keysOf(config: CheckedSettings['config']) {
  try {
    return relayerKeysOf(config);
  } catch {
    return undefined;
  }
}

/** Can the relayer pay for gas? */
async function relayer(rpc: Rpc, { config }: CheckedSettings): Promise<Outcome> {
  const keys = keysOf(config);
  if (keys === undefined) return skipped('no key, or keys that contradict each other');
  const { present: wallet, former } = connectRelayerWallets(rpc, keys);
  const { balanceWei, transfers } = await wallet.funds();
  const seen = `${wallet.address} has ${formatEther(balanceWei)} ether, enough for ${transfers} transfers at the present fee${await shownFormer(former)}`;
  const advice = `Send ether on ${caip2(rpc.chainId as never)} to ${wallet.address}.`;
  if (transfers === 0) return problem(seen, `${advice} Until then no payment settles.`);
  return transfers < config.relayerTransfersMin ? warning(seen, advice) : ok(seen);
}

async function shownFormer(former: readonly RelayerWallet[]): Promise<string> {
  const shown = former.map(async (wallet) => {
    const [{ balanceWei }, waiting] = await Promise.all([wallet.funds(), wallet.waiting()]);
    return `; former relayer ${wallet.address} has ${formatEther(balanceWei)} ether and ${waiting} transactions that wait`;
  });
  return (await Promise.all(shown)).join('');
}

/** Does the facilitator answer? It is not asked to settle anything. */
async function facilitator(url: string, chain: string, signal: AbortSignal): Promise<Outcome> {
  const { origin, host } = new URL(url);
  const answer = await askHttp(`${url.replace(/\/+$/, '')}/supported`, { signal });
  if ('error' in answer)
    return problem(`${origin} does not answer: ${answer.error}`, failureAdvice(answer.error, host));
  if (answer.status === 200 && answer.text.includes(chain)) return ok(`${origin} supports ${chain}`);
  return warning(
    `${origin} answers ${answer.status} to GET /supported, without ${chain}`,
    'Check FACILITATOR_URL, and that this facilitator settles x402 v2 on the chain.',
  );
}
