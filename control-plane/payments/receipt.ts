// The receipt of a settled payment, in the header of the payer's protocol.
import type { Hex } from 'viem';
import { caip2, NETWORKS } from '#shared/api/payment-networks.ts';
import type { Credential } from './credential.ts';

/** Headers of a 200 response. `transaction`: hash of the transaction that moved the money. */
export function receiptHeaders(
  { protocol, authorization, offer }: Credential,
  transaction: Hex,
  now: Date,
): Record<string, string> {
  if (protocol.kind === 'mpp') {
    const receipt = {
      method: 'evm',
      status: 'success',
      timestamp: now.toISOString(),
      reference: transaction,
      challengeId: protocol.challengeId,
      chainId: offer.chainId,
    };
    return {
      'Payment-Receipt': Buffer.from(JSON.stringify(receipt)).toString('base64url'),
      'Cache-Control': 'private, no-store',
    };
  }
  const response = {
    success: true,
    transaction,
    payer: authorization.from,
    network: protocol.version === 1 ? NETWORKS[offer.chainId].network : caip2(offer.chainId),
  };
  const text = Buffer.from(JSON.stringify(response)).toString('base64');
  return protocol.version === 1 ? { 'X-PAYMENT-RESPONSE': text } : { 'PAYMENT-RESPONSE': text };
}
