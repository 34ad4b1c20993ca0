// The file of payment networks: chains, tokens, prices, and the relayer or facilitator of each.
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
import type { PaymentNetwork } from '../payments/offer.ts';
import { addressOfText, CHECKSUM_PROBLEM, hasWrongChecksum } from './written-address.ts';

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
  if (written === undefined) throw new ConfigFileError(`${file}: cannot be read: ENOENT`);
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
