// Signs one payment for one 402, with the chosen protocol. A program stores it until it knows the outcome.
import type { Account } from './account.ts';
import { mppHeader, mppOffers, mppTerms } from './mpp.ts';
import { type Offer, payableOffer, type RawAnswer, type SpendLimit } from './offer.ts';
import { signTransfer } from './transfer.ts';
import { headerV1, headerV2, offersV1, offersV2 } from './x402.ts';

/** x402 version 1, x402 version 2, or MPP. */
export type PaymentProtocol = 'x402-v1' | 'x402-v2' | 'mpp';
export const PAYMENT_PROTOCOLS: readonly PaymentProtocol[] = ['x402-v1', 'x402-v2', 'mpp'];

/** The header with the payment. It can be sent repeatedly: it moves money once. */
export interface SignedPayment {
  header: 'X-PAYMENT' | 'PAYMENT-SIGNATURE' | 'Authorization';
  value: string;
}

interface SignOptions extends SpendLimit {
  account: Account;
  protocol: PaymentProtocol;
  now: Date;
}

/** The payment, and the offer that it pays. Throws `NotPayableError` if the 402 has no acceptable offer in this protocol. */
export async function signPayment(
  answer: RawAnswer,
  { account, protocol, now, ...limit }: SignOptions,
): Promise<{ payment: SignedPayment; offer: Offer }> {
  const nowSeconds = Math.floor(now.getTime() / 1000);
  switch (protocol) {
    case 'x402-v1': {
      const found = payableOffer(offersV1(answer), limit);
      const transfer = await signTransfer(account, found.offer, { nowSeconds });
      return { payment: { header: 'X-PAYMENT', value: headerV1(found, transfer) }, offer: found.offer };
    }
    case 'x402-v2': {
      const found = payableOffer(offersV2(answer), limit);
      const transfer = await signTransfer(account, found.offer, { nowSeconds });
      const value = headerV2(answer, found, transfer);
      return { payment: { header: 'PAYMENT-SIGNATURE', value }, offer: found.offer };
    }
    case 'mpp': {
      const found = payableOffer(mppOffers(answer, nowSeconds), limit);
      const transfer = await signTransfer(account, found.offer, { nowSeconds, ...mppTerms(found) });
      return { payment: { header: 'Authorization', value: mppHeader(found, transfer) }, offer: found.offer };
    }
  }
}
