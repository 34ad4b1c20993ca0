// One payment for one 402, by the way that the caller chose. It can be sent again as often as needed: it moves money once.
import type { LocalAccount } from 'viem/accounts';
import { z } from 'zod';
import type { RawAnswer } from '../transport.ts';
import { mppHeader, mppOffers, mppTerms } from './mpp.ts';
import { payableOffer, type SpendLimit } from './offer.ts';
import { signTransfer } from './transfer.ts';
import { headerV1, headerV2, offersV1, offersV2 } from './x402.ts';

/** x402 version 1, x402 version 2, or MPP. */
export const PAYMENT_WAYS = ['x402-v1', 'x402-v2', 'mpp'] as const;
export type PaymentWay = (typeof PAYMENT_WAYS)[number];

/** The header of a signed payment, for programs that keep it until they know what became of it. */
export const signedPaymentSchema = z.object({
  header: z.enum(['X-PAYMENT', 'PAYMENT-SIGNATURE', 'Authorization']),
  value: z.string(),
});
export type SignedPayment = z.infer<typeof signedPaymentSchema>;

export interface SignOptions extends SpendLimit {
  account: LocalAccount;
  way: PaymentWay;
  now: Date;
}

/** Throws `NotPayableError` when the 402 has no offer that may be paid this way. */
export async function signPayment(
  answer: RawAnswer,
  { account, way, now, ...limit }: SignOptions,
): Promise<SignedPayment> {
  const nowSeconds = Math.floor(now.getTime() / 1000);
  switch (way) {
    case 'x402-v1': {
      const found = payableOffer(offersV1(answer), limit);
      const transfer = await signTransfer(account, found.offer, { nowSeconds });
      return { header: 'X-PAYMENT', value: headerV1(found, transfer) };
    }
    case 'x402-v2': {
      const found = payableOffer(offersV2(answer), limit);
      const transfer = await signTransfer(account, found.offer, { nowSeconds });
      return { header: 'PAYMENT-SIGNATURE', value: headerV2(answer, found, transfer) };
    }
    case 'mpp': {
      const found = payableOffer(mppOffers(answer), limit);
      const transfer = await signTransfer(account, found.offer, { nowSeconds, ...mppTerms(found) });
      return { header: 'Authorization', value: mppHeader(found, transfer) };
    }
  }
}
