// A signed payment, which a program stores until it knows the outcome.
import * as z from 'zod';

/** x402 version 1, x402 version 2, or MPP. */
export const PAYMENT_WAYS = ['x402-v1', 'x402-v2', 'mpp'] as const;
export type PaymentWay = (typeof PAYMENT_WAYS)[number];

/** The header with the payment. It can be sent repeatedly: it moves money once. */
export const signedPaymentSchema = z.object({
  header: z.enum(['X-PAYMENT', 'PAYMENT-SIGNATURE', 'Authorization']),
  value: z.string(),
});
export type SignedPayment = z.infer<typeof signedPaymentSchema>;
