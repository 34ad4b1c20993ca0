// Extensions of x402 v2 in the 402, and `outputSchema` of v1: how the number on sale is described to indexes, and what a payer may add.
import * as z from 'zod';

/** Made up: a number that is never assigned (area code 206, 555-0100 to 0199). */
const ANSWER = {
  token: 'simrack_…',
  number: '+12065550100',
  expires_at: '2030-01-01T00:00:00.000Z',
  renewed: false,
};

/** The request has no body, which its description writes as an empty one. */
const INPUT = { type: 'http', method: 'POST', bodyType: 'json', body: {} } as const;

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';

/** The extension `bazaar`: what a client sends and gets, and the schema that checks this description. */
export const BAZAAR = {
  bazaar: {
    info: { input: INPUT, output: { type: 'json', example: ANSWER } },
    schema: {
      $schema: DRAFT,
      type: 'object',
      properties: {
        input: {
          type: 'object',
          properties: {
            type: { type: 'string', const: 'http' },
            method: { type: 'string', enum: ['POST'] },
            bodyType: { type: 'string', enum: ['json'] },
            body: { type: 'object' },
          },
          required: ['type', 'method', 'bodyType', 'body'],
          additionalProperties: false,
        },
        output: {
          type: 'object',
          properties: { type: { type: 'string' }, example: { type: 'object' } },
          required: ['type'],
        },
      },
      required: ['input'],
    },
  },
} as const;

/** `accepts[].outputSchema` of v1. */
export const OUTPUT_SCHEMA = { input: { ...INPUT, discoverable: true }, output: ANSWER } as const;

/** For searches in an index, which keeps five. */
const TAGS = ['phone-number', 'sms', 'voice', 'verification-code', 'telephony'] as const;

/** Indexes drop a longer name, or one with other characters. */
const INDEXED_NAME = /^[ -~]{1,32}$/;

/** The seller of the resource, in the form of x402 v2. Leaves out a name that indexes would drop. */
export const sellerOf = (serviceName: string) => ({
  ...(INDEXED_NAME.test(serviceName) ? { serviceName } : {}),
  tags: TAGS,
});

const PAYMENT_ID_PATTERN = '^[a-zA-Z0-9_-]+$';

/** The payer's secret name for a payment. The same payment with the same name gets the same answer again. */
export const paymentIdSchema = z.string().min(16).max(128).regex(new RegExp(PAYMENT_ID_PATTERN));

/** The extension `payment-identifier`. */
export const PAYMENT_IDENTIFIER = {
  'payment-identifier': {
    info: { required: false },
    schema: {
      $schema: DRAFT,
      type: 'object',
      properties: {
        required: { type: 'boolean' },
        id: { type: 'string', minLength: 16, maxLength: 128, pattern: PAYMENT_ID_PATTERN },
      },
      required: ['required'],
    },
  },
} as const;

/** A compact JWS in the form of the extension `offer-receipt`. */
export interface SignedStatement {
  format: 'jws';
  signature: string;
}

/** The extension `offer-receipt` of a 402: a signature for each entry of `accepts`, in the same order. */
export const signedOffers = (offers: readonly SignedStatement[]) =>
  offerReceipt('offers', 'array', {
    offers: offers.map((offer, acceptIndex) => ({ ...offer, acceptIndex })),
  });

/** The same of a settled payment. */
export const signedReceipt = (receipt: SignedStatement) => offerReceipt('receipt', 'object', { receipt });

const offerReceipt = <Info extends object>(name: string, type: string, info: Info) => ({
  'offer-receipt': {
    info,
    schema: { $schema: DRAFT, type: 'object', properties: { [name]: { type } }, required: [name] },
  },
});
