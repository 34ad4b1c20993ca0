// The payment networks: chains, tokens, prices, and the relayer or facilitator of each, from a file or from the options for one network.
import type { Address } from 'viem';
import * as z from 'zod';
import { type ChainId, NETWORKS } from '#shared/api/payment-networks.ts';
import {
  ConfigFileError,
  choice,
  map,
  parseConfigText,
  readConfigText,
  text,
} from '#shared/process/config-file.ts';
import { IS_PACKAGED } from '#shared/process/version.ts';
import type { PaymentNetwork } from '../payments/offer.ts';
import type { RelayerKeys } from '../payments/relayer-wallet.ts';
import { addressOfText, CHECKSUM_PROBLEM, hasWrongChecksum } from './address-option.ts';
import type { Config } from './config.ts';

/** For a reader without any configuration. The package has neither `npm start` nor the pages. */
const FIRST_STEP = IS_PACKAGED
  ? ''
  : '. To try Simrack with simulated modems, run "npm start". To install the service, read docs/service/install.md';

/** Two networks with this many tokens fill 14 KB of headers; clients in Node accept 16 KiB. */
const ASSETS_MAX = 8;

const url = z.string('must be an http(s) URL').refine((value) => {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}, 'must be an http(s) URL');
const address = text(/^0x[0-9a-fA-F]{40}$/, 'a 0x-prefixed address of 20 bytes')
  .refine((value) => !hasWrongChecksum(value), CHECKSUM_PROBLEM)
  .transform((value): Address => addressOfText(value));
const amount = text(/^[1-9]\d{0,17}$/, 'a positive whole number of at most 18 digits').transform(BigInt);
const name = z.string('must be text').min(1, 'must be text').max(64);

const asset = map({
  asset: address.optional(),
  pay_to: address,
  price_atomic: amount,
  name: name.optional(),
  version: name.optional(),
});

const network = map({
  chain_id: choice(Object.keys(NETWORKS) as [`${ChainId}`]).transform((value) => Number(value) as ChainId),
  rpc_url: url,
  facilitator_url: url.optional(),
  assets: z
    .array(asset, 'must be a list')
    .min(1, 'must name an asset')
    .max(ASSETS_MAX, `must have at most ${ASSETS_MAX} assets`),
});

const fileSchema = map({
  networks: z
    .array(network, 'must be a list')
    .min(1, 'must name a network')
    .superRefine((networks, context) => {
      const seen = new Set<number>();
      networks.forEach(({ chain_id, assets }, position) => {
        const here = [position, 'chain_id'];
        if (seen.has(chain_id)) context.addIssue({ code: 'custom', path: here, message: 'is listed twice' });
        seen.add(chain_id);
        const tokens = assets.map((written) => written.asset ?? NETWORKS[chain_id].usdc.address);
        tokens.forEach((token, index) => {
          if (tokens.indexOf(token) === index) return;
          context.addIssue({ code: 'custom', path: [position, 'assets', index], message: 'is listed twice' });
        });
      });
    }),
});

/** Throws `ConfigFileError` with one line per problem. */
export function readPaymentsFile(file: string): PaymentNetwork[] {
  const written = readConfigText(file);
  if (written === undefined) throw new ConfigFileError(`${file}: does not exist`);
  return parsePayments(written, file);
}

/** Parses the text of the file; `file` is its name in problems. Throws `ConfigFileError`. */
function parsePayments(written: string, file: string): PaymentNetwork[] {
  const parsed = parseConfigText(fileSchema, written, file);
  if (parsed === undefined) throw new ConfigFileError(`${file}: the file is empty; networks is missing`);
  return parsed.networks.map(({ chain_id: chainId, rpc_url: rpcUrl, facilitator_url, assets }) => ({
    chainId,
    rpcUrl,
    facilitatorUrl: facilitator_url,
    assets: assets.map(({ asset: token, pay_to: payTo, price_atomic: amountAtomic, name, version }) => ({
      payTo,
      amountAtomic,
      asset: token ?? NETWORKS[chainId].usdc.address,
      // The name of USDC differs by chain, and payers sign it.
      ...(token === undefined || token === NETWORKS[chainId].usdc.address
        ? NETWORKS[chainId].usdc.domain
        : {}),
      ...(name === undefined ? {} : { name }),
      ...(version === undefined ? {} : { version }),
    })),
  }));
}

type PaymentOptions = Pick<
  Config,
  'paymentsFile' | 'chainId' | 'rpcUrl' | 'facilitatorUrl' | 'asset' | 'payTo' | 'priceAtomic'
>;

/** The RPC of chain `chainId`; undefined if no option names one. Throws `ConfigFileError`. */
export function rpcUrlOf(
  { paymentsFile, chainId, rpcUrl }: Pick<Config, 'paymentsFile' | 'chainId' | 'rpcUrl'>,
  wanted: number,
): string | undefined {
  if (paymentsFile === undefined) return chainId === wanted ? rpcUrl : undefined;
  return readPaymentsFile(paymentsFile).find((network) => network.chainId === wanted)?.rpcUrl;
}

/**
 * The payment networks and their tokens. Throws if there are none, if they are configured in two places, and for a network without a
 * relayer or facilitator.
 */
export function paymentNetworksOf(
  config: PaymentOptions,
  relayerKeys: RelayerKeys | undefined,
): PaymentNetwork[] {
  const networks = writtenNetworks(config);
  for (const { chainId, facilitatorUrl } of networks) {
    if (facilitatorUrl === undefined && relayerKeys === undefined) {
      throw new Error(
        `chain ${chainId} has no facilitator, so it needs the relayer: set RELAYER_KEY_FILE or RELAYER_KEY`,
      );
    }
  }
  return networks;
}

function writtenNetworks(config: PaymentOptions): PaymentNetwork[] {
  const { paymentsFile, chainId, rpcUrl, facilitatorUrl, payTo, priceAtomic } = config;
  if (paymentsFile !== undefined) {
    const given = { RPC_URL: rpcUrl, PAY_TO: payTo, FACILITATOR_URL: facilitatorUrl, ASSET: config.asset };
    const double = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name]));
    if (double.length > 0)
      throw new Error(`PAYMENTS_FILE replaces these options, so leave them out: ${double.join(', ')}`);
    return readPaymentsFile(paymentsFile);
  }
  if (rpcUrl === undefined || payTo === undefined)
    throw new Error(`set RPC_URL and PAY_TO, or PAYMENTS_FILE${FIRST_STEP}`);
  const { usdc } = NETWORKS[chainId];
  const asset = config.asset ?? usdc.address;
  const domain = asset === usdc.address ? usdc.domain : {};
  const assets = [{ asset, payTo, amountAtomic: priceAtomic, ...domain }];
  return [{ chainId, rpcUrl, facilitatorUrl, assets }];
}
