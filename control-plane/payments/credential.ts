// Determines which of the three payment headers a request has, and what it pays; the header with the receipt.
import type { Hex } from 'viem';
import * as z from 'zod';
import { caip2, NETWORKS } from '#shared/api/payment-networks.ts';
import { type SignedStatement, signedReceipt } from '#shared/api/x402-extensions.ts';
import { Refusal } from '../domain/refusal.ts';
import type { TransferAuthorization } from '../domain/transfer-authorization.ts';
import type { PaymentMethod } from '../metrics/metric-events.ts';
import { authorizationSchema, type PossiblePayments } from './authorization.ts';
import { readMpp } from './mpp.ts';
import type { Offer, Sale } from './offer.ts';
import { PaymentRejected } from './rejection.ts';
import { readX402 } from './x402.ts';

/** Undefined if the header is absent. */
export interface PaymentHeaders {
  /** `X-PAYMENT` of x402 v1. */
  payment: string | undefined;
  /** `PAYMENT-SIGNATURE` of x402 v2. */
  paymentSignature: string | undefined;
  /** `Authorization`; MPP if its scheme is `Payment`. */
  authorization: string | undefined;
}

/** The payer's protocol, which decides the form of the receipt. */
type Protocol = { kind: 'x402'; version: 1 | 2 } | { kind: 'mpp'; challengeId: string };

interface CredentialForm {
  protocol: Protocol;
  /** The payer's secret name for the payment; only x402 v2 has one. */
  identifier?: string | undefined;
}

/** A credential before the code of the payer's account has decided. */
export interface PresentedCredential extends CredentialForm {
  payments: PossiblePayments;
}

export interface Credential extends CredentialForm {
  authorization: TransferAuthorization;
  offer: Offer;
}

const MPP_SCHEME = /^payment\s+/i;

/** Decided by the names of the headers alone. */
export function methodOf({ payment, paymentSignature, authorization }: PaymentHeaders): PaymentMethod {
  if (MPP_SCHEME.test(authorization ?? '')) return 'mpp';
  if (paymentSignature !== undefined) return 'x402_v2';
  return payment === undefined ? 'none' : 'x402_v1';
}

const x402Schema = z.union([
  z.object({ x402Version: z.literal(1), network: z.string() }),
  z.object({ x402Version: z.literal(2), accepted: z.object({ network: z.string() }) }),
]);
const mppSchema = z.object({ challenge: z.object({ request: z.string() }) });
const requestSchema = z.object({ methodDetails: z.object({ chainId: z.number() }) });

/** The chain that the payment names; undefined if that is none of the sale. Verifies nothing. */
function chainNamedIn(
  headers: PaymentHeaders,
  { offers }: Pick<Sale, 'offers'>,
): Offer['chainId'] | undefined {
  const { payment, paymentSignature, authorization } = headers;
  const isNamed = (chainId: Offer['chainId']): boolean => {
    if (MPP_SCHEME.test(authorization ?? '')) {
      const credential = decodedAs(mppSchema, authorization?.replace(MPP_SCHEME, ''));
      return decodedAs(requestSchema, credential?.challenge.request)?.methodDetails.chainId === chainId;
    }
    const named = decodedAs(x402Schema, paymentSignature ?? payment);
    return named?.x402Version === 1
      ? named.network === NETWORKS[chainId].network
      : named?.accepted.network === caip2(chainId);
  };
  return offers.find(({ chainId }) => isNamed(chainId))?.chainId;
}

/** Identifies an authorization, whatever it pays. */
type NamedAuthorization = Pick<TransferAuthorization, 'from' | 'nonce' | 'validBefore'>;

const namedSchema = authorizationSchema.pick({ from: true, nonce: true, validBefore: true });
const namedByX402Schema = z.object({ payload: z.object({ authorization: namedSchema }) });
const namedByMppSchema = z.object({ payload: namedSchema });

/** The authorization of a payment that `readCredential` refuses. Verifies nothing. */
export function authorizationNamedIn(headers: PaymentHeaders): NamedAuthorization | undefined {
  const { payment, paymentSignature, authorization } = headers;
  if (MPP_SCHEME.test(authorization ?? ''))
    return decodedAs(namedByMppSchema, authorization?.replace(MPP_SCHEME, ''))?.payload;
  return decodedAs(namedByX402Schema, paymentSignature ?? payment)?.payload.authorization;
}

function decodedAs<S extends z.ZodType>(schema: S, text = ''): z.output<S> | undefined {
  try {
    return schema.safeParse(JSON.parse(Buffer.from(text, 'base64').toString())).data;
  } catch {
    return undefined;
  }
}

/**
 * Reads the single credential of a request, without the chain. Throws `PaymentRejected` if there is none, or if it pays no offer of the sale; `Refusal`
 * `invalid_request` if there are several.
 */
export async function readCredential(headers: PaymentHeaders, sale: Sale): Promise<PresentedCredential> {
  const { payment, paymentSignature, authorization } = headers;
  const mpp = MPP_SCHEME.test(authorization ?? '')
    ? authorization?.replace(MPP_SCHEME, '').trim()
    : undefined;
  // Some wallets send the same value in both headers of x402.
  const x402 = new Set([payment, paymentSignature].filter((header) => header !== undefined));
  if (x402.size + (mpp === undefined ? 0 : 1) > 1) {
    throw new Refusal(
      'invalid_request',
      'Send only one of X-PAYMENT, PAYMENT-SIGNATURE and Authorization: Payment.',
      { details: { field: payment === undefined ? 'PAYMENT-SIGNATURE' : 'X-PAYMENT' } },
    );
  }
  if (mpp !== undefined) {
    const { challengeId, ...paid } = await readMpp(mpp, sale);
    return { protocol: { kind: 'mpp', challengeId }, ...paid };
  }
  const [header] = x402;
  if (header === undefined) throw new PaymentRejected('payment_required');
  const { version, ...paid } = await readX402(header, sale.offers);
  return { protocol: { kind: 'x402', version }, ...paid };
}

/** The header that has the payment; undefined if there is none. */
export function paymentHeaderOf(headers: PaymentHeaders): string | undefined {
  return { mpp: 'Authorization', x402_v2: 'PAYMENT-SIGNATURE', x402_v1: 'X-PAYMENT', none: undefined }[
    methodOf(headers)
  ];
}

/** Headers of a 402 for a presented payment. MPP has none: its receipts only confirm. */
export function failureHeaders(
  headers: PaymentHeaders,
  { reason }: PaymentRejected,
  sale: Pick<Sale, 'offers'>,
): Record<string, string> {
  const method = methodOf(headers);
  const chainId = chainNamedIn(headers, sale) ?? sale.offers[0]?.chainId;
  if (method === 'none' || method === 'mpp' || chainId === undefined) return {};
  const named = decodedAs(x402Schema, headers.paymentSignature ?? headers.payment);
  const payer = authorizationNamedIn(headers)?.from;
  return x402ResultHeader(named?.x402Version ?? (method === 'x402_v1' ? 1 : 2), chainId, {
    success: false,
    errorReason: reason.x402 ?? 'unexpected_verify_error',
    errorMessage: reason.meaning,
    transaction: '',
    ...(payer !== undefined && { payer }),
  });
}

function x402ResultHeader(version: 1 | 2, chainId: Offer['chainId'], result: object): Record<string, string> {
  const network = version === 1 ? NETWORKS[chainId].network : caip2(chainId);
  const text = Buffer.from(JSON.stringify({ ...result, network })).toString('base64');
  return version === 1 ? { 'X-PAYMENT-RESPONSE': text } : { 'PAYMENT-RESPONSE': text };
}

/**
 * Headers of a 200 response. `transaction`: hash of the transaction that moved the money. `signed`: the receipt of x402 v2, if the service can
 * sign.
 */
export function receiptHeaders(
  { protocol, authorization, offer }: Credential,
  transaction: Hex,
  { now, signed }: { now: Date; signed: SignedStatement | undefined },
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
  return x402ResultHeader(protocol.version, offer.chainId, {
    success: true,
    transaction,
    payer: authorization.from,
    ...(signed !== undefined && protocol.version === 2 && { extensions: signedReceipt(signed) }),
  });
}
