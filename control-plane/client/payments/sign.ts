// Signs one payment for one 402, with the chosen protocol.
import type { LocalAccount } from 'viem/accounts';
import { type Offer, payableOffer, type SpendLimit } from './offer.ts';
import type { RawAnswer } from './raw-answer.ts';
import type { PaymentWay, SignedPayment } from './signed-payment.ts';
import { signTransfer } from './transfer.ts';
import { headerV1, headerV2, offersV1, offersV2 } from './x402.ts';

interface SignOptions extends SpendLimit {
  account: LocalAccount;
  way: PaymentWay;
  now: Date;
}

/** The payment, and the offer that it pays. Throws `NotPayableError` if the 402 has no acceptable offer in this protocol. */
export async function signPayment(
  answer: RawAnswer,
  { account, way, now, ...limit }: SignOptions,
): Promise<{ payment: SignedPayment; offer: Offer }> {
  const nowSeconds = Math.floor(now.getTime() / 1000);
  switch (way) {
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
      // Loaded on demand: hashing needs most of viem.
      const { mppHeader, mppOffers, mppTerms } = await import('./mpp.ts');
      const found = payableOffer(mppOffers(answer), limit);
      const transfer = await signTransfer(account, found.offer, { nowSeconds, ...mppTerms(found) });
      return { payment: { header: 'Authorization', value: mppHeader(found, transfer) }, offer: found.offer };
    }
  }
}
