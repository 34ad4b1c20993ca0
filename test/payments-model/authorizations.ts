// Authorizations as payers of the model sign them, in the headers of all three protocols. A signature is the signer's address: the check
// of the curve is not what is tested here.
import { type Address, type Hex, keccak256, pad, stringToBytes, toHex } from 'viem';
import type { PaymentHeaders } from '#control-plane/payments/credential.ts';
import { mppChallenge } from '#control-plane/payments/mpp.ts';
import type { Offer, Sale } from '#control-plane/payments/offer.ts';
import { signers } from '#control-plane/signatures/signer-pool.ts';
import { caip2, NETWORKS } from '#shared/api/payment-networks.ts';
import type { PlannedAuthorization, ProtocolName } from './plan.ts';

const CHAIN_ID = 84532;
const { network, usdc } = NETWORKS[CHAIN_ID];

export const OFFER: Offer = {
  chainId: CHAIN_ID,
  asset: usdc.address,
  payTo: pad('0xfee', { size: 20 }),
  amountAtomic: 1_800_000_000n,
  assetName: usdc.domain.name,
  assetVersion: usdc.domain.version,
  assetDecimals: usdc.decimals,
};

export const SALE: Sale = {
  resource: 'http://127.0.0.1/subscribe',
  description: 'a number',
  serviceName: 'Simrack',
  realm: '127.0.0.1',
  challengeSecret: 'a secret of the model',
  offers: [OFFER],
};

export interface Authorization {
  /** Its place in the plan. */
  id: number;
  payer: number;
  validBefore: number;
  nonce: Hex;
  /** As the JSON of a client has it. */
  message: { from: Address; to: Address; value: string; validAfter: string; validBefore: string; nonce: Hex };
  signature: Hex;
  /** The credential of MPP; undefined where the nonce answers no challenge. */
  challenge: Record<string, string> | undefined;
}

export const addressOf = (payer: number): Address => toHex(0x1000 + payer, { size: 20 });
export const payerAt = (address: string): number => Number(BigInt(address)) - 0x1000;

/** r is the signer's address, with something in front. */
const signatureOf = (signer: Address): Hex => `0x${'5a'.repeat(12)}${signer.slice(2)}${'11'.repeat(32)}1b`;

/** From now on the signatures of this file are what the service takes for a key's. For the whole process. */
export function acceptModelSignatures(): void {
  signers.isSignedBy = async ({ signer, signature }) => signature === signatureOf(signer).toLowerCase();
}

export function sign(
  plan: PlannedAuthorization & { id: number },
  { now, isAccount }: { now: Date; isAccount: boolean },
): Authorization {
  const { id, isForMpp, lifeS, payer } = plan;
  const from = addressOf(payer);
  const challenge = isForMpp ? challengeAt(now) : undefined;
  const nonce = challenge
    ? keccak256(stringToBytes(`${challenge['id']}${challenge['realm']}`))
    : toHex(0xaa0000 + id, { size: 32 });
  const nowS = Math.floor(now.getTime() / 1000);
  const validBefore = nowS + (isForMpp ? Math.min(lifeS, 300) : lifeS);
  return {
    id,
    payer,
    validBefore,
    nonce,
    challenge,
    message: {
      from,
      to: OFFER.payTo,
      value: String(OFFER.amountAtomic),
      nonce,
      validAfter: '0',
      validBefore: String(validBefore),
    },
    // An account's is of its own form.
    signature: isAccount ? pad(from, { size: 100 }) : signatureOf(from),
  };
}

export function headersOf(
  { challenge, message, signature }: Authorization,
  protocol: ProtocolName,
): PaymentHeaders {
  const none: PaymentHeaders = { payment: undefined, paymentSignature: undefined, authorization: undefined };
  const payload = { signature, authorization: message };
  const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
  switch (protocol) {
    case 'x402_v1':
      return { ...none, payment: base64({ x402Version: 1, scheme: 'exact', network, payload }) };
    case 'x402_v2': {
      const accepted = {
        scheme: 'exact',
        network: caip2(CHAIN_ID),
        amount: message.value,
        asset: OFFER.asset,
        payTo: OFFER.payTo,
      };
      return { ...none, paymentSignature: base64({ x402Version: 2, accepted, payload }) };
    }
    case 'mpp': {
      const credential = { challenge, payload: { ...message, signature, type: 'authorization' } };
      const text = Buffer.from(JSON.stringify(credential)).toString('base64url');
      return { ...none, authorization: `Payment ${text}` };
    }
  }
}

function challengeAt(now: Date): Record<string, string> {
  const header = mppChallenge(OFFER, SALE, now);
  return Object.fromEntries([...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
}
