// Signs one entry of a 402's `accepts` (x402 v1, scheme "exact"): an EIP-3009 authorization, no gas, no RPC.
import { randomBytes } from 'node:crypto';
import { type Address, type Hex, toHex } from 'viem';
import type { LocalAccount } from 'viem/accounts';
import { z } from 'zod';
import { TRANSFER_WITH_AUTHORIZATION_TYPES } from '#shared/api/transfer-authorization.ts';

/** Chain ids of the network names that x402 v1 uses. */
const CHAIN_IDS: Readonly<Record<string, number>> = { base: 8453, 'base-sepolia': 84532 };

/** Clocks differ: the authorization is valid from a little before now. */
const BACKDATE_SECONDS = 600;

const challengeSchema = z.object({
  error: z.string().optional(),
  accepts: z.array(
    z.object({
      scheme: z.string(),
      network: z.string(),
      amount: z.string().regex(/^\d+$/).transform(BigInt),
      asset: z.string(),
      payTo: z.string(),
      maxTimeoutSeconds: z.number().int().positive(),
      extra: z.object({ name: z.string(), version: z.string() }),
    }),
  ),
});

/**
 * The `X-PAYMENT` header that pays a challenge. Throws when the challenge asks for more than
 * `amountAtomicMax`, or offers nothing that this client can sign.
 */
export async function signChallenge(
  challenge: unknown,
  options: { account: LocalAccount; amountAtomicMax: bigint; now: Date },
): Promise<string> {
  const { accepts } = challengeSchema.parse(challenge);
  const offer = accepts.find(({ scheme, network }) => scheme === 'exact' && network in CHAIN_IDS);
  if (offer === undefined) throw new Error('the service accepts no payment that this client can make');
  if (offer.amount > options.amountAtomicMax) {
    throw new Error(`the service asks for ${offer.amount}, more than the ${options.amountAtomicMax} allowed`);
  }
  const nowSeconds = Math.floor(options.now.getTime() / 1000);
  const authorization = {
    from: options.account.address,
    to: offer.payTo as Address,
    value: String(offer.amount),
    validAfter: String(nowSeconds - BACKDATE_SECONDS),
    validBefore: String(nowSeconds + offer.maxTimeoutSeconds),
    nonce: toHex(randomBytes(32)),
  };
  const signature = await signTransfer(options.account, authorization, {
    ...offer.extra,
    chainId: CHAIN_IDS[offer.network] ?? 0,
    verifyingContract: offer.asset as Address,
  });
  const payment = {
    x402Version: 1,
    scheme: offer.scheme,
    network: offer.network,
    payload: { signature, authorization },
  };
  return Buffer.from(JSON.stringify(payment)).toString('base64');
}

function signTransfer(
  account: LocalAccount,
  authorization: {
    from: Address;
    to: Address;
    value: string;
    validAfter: string;
    validBefore: string;
    nonce: Hex;
  },
  domain: { name: string; version: string; chainId: number; verifyingContract: Address },
): Promise<Hex> {
  return account.signTypedData({
    domain,
    types: TRANSFER_WITH_AUTHORIZATION_TYPES,
    primaryType: 'TransferWithAuthorization',
    message: {
      ...authorization,
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
    },
  });
}
