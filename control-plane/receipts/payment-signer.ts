// Signs offers and settled payments with the key of the receipts, as the extension `offer-receipt` of x402 has them.
import { CompactSign } from 'jose';
import { caip2 } from '#shared/api/payment-networks.ts';
import { RECEIPT_ALGORITHM } from '#shared/api/receipts.ts';
import type { SignedStatement } from '#shared/api/x402-extensions.ts';
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { requirementsOf } from '../payments/challenge.ts';
import type { PaidTransfer, PaymentSigner, Sale } from '../payments/offer.ts';
import { didOf } from './did.ts';
import type { ReceiptKey } from './receipt-key.ts';

/** An offer is valid for one to two such periods. All requests of a period get the same signature: a 402 costs none. */
const OFFER_PERIOD_S = 300;

/** Clients of v2 repeat all signatures in the header with the payment. It must not grow too long for servers and proxies. */
const SIGNED_OFFERS_MAX = 6;

/** Format version of both statements. */
const VERSION = 1;

interface SignerParts {
  /** Rejects if the key cannot be read. */
  key(): Promise<ReceiptKey>;
  /** Base URL of the service. */
  url: string;
  clock: Clock;
  log: Logger;
}

export function createPaymentSigner({ key, url, clock, log }: SignerParts): PaymentSigner {
  const signed = new Map<string, Promise<SignedStatement>>();
  let period = 0;

  async function sign(statement: Record<string, string | number>): Promise<SignedStatement> {
    const { id, privateKey } = await key();
    // Keys in order: the extension wants the canonical form of RFC 8785.
    const sorted = Object.entries(statement).sort(([a], [b]) => (a < b ? -1 : 1));
    const signature = await new CompactSign(Buffer.from(JSON.stringify(Object.fromEntries(sorted))))
      .setProtectedHeader({ alg: RECEIPT_ALGORITHM, kid: `${didOf(url)}#${id}` })
      .sign(privateKey);
    return { format: 'jws', signature };
  }

  const nowSeconds = (): number => Math.floor(clock.now() / 1000);

  async function offers({ resource, offers }: Sale): Promise<readonly SignedStatement[]> {
    if (offers.length > SIGNED_OFFERS_MAX) return [];
    const present = Math.floor(nowSeconds() / OFFER_PERIOD_S);
    if (present !== period) signed.clear();
    period = present;
    const statements = offers.map((offer) => {
      const { scheme, network, asset, payTo, amount } = requirementsOf(offer);
      const validUntil = (present + 2) * OFFER_PERIOD_S;
      return { version: VERSION, resourceUrl: resource, scheme, network, asset, payTo, amount, validUntil };
    });
    return Promise.all(
      statements.map((statement) => {
        const name = JSON.stringify(statement);
        const known = signed.get(name) ?? sign(statement);
        signed.set(name, known);
        known.catch(() => signed.delete(name));
        return known;
      }),
    );
  }

  const receipt = ({ resource }: Sale, { chainId, payer, transaction }: PaidTransfer) =>
    sign({
      version: VERSION,
      network: caip2(chainId),
      resourceUrl: resource,
      payer,
      issuedAt: nowSeconds(),
      transaction,
    });

  const orNone =
    <Args extends unknown[], Signed, None>(work: (...args: Args) => Promise<Signed>, none: None) =>
    (...args: Args): Promise<Signed | None> =>
      work(...args).catch((error: unknown) => {
        log.warn({ err: error }, 'signing an offer or a receipt of x402 failed');
        return none;
      });

  return { offers: orNone(offers, []), receipt: orNone(receipt, undefined) };
}
