// The operations of receipts.
import * as z from 'zod';
import type { Operation } from './operation.ts';
import { KEYS_PATH, receiptKeysSchema, receiptsSchema, SEQUENCE_MAX } from './receipts.ts';
import { authRequestSchema, limitSchema } from './requests.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 100;

/** Query of GET /receipts. */
const receiptsQuerySchema = z.strictObject({
  after: z
    .string({ error: `must be one integer from 0 to ${SEQUENCE_MAX}` })
    .regex(/^\d{1,10}$/, `must be an integer from 0 to ${SEQUENCE_MAX}`)
    .transform(Number)
    .refine((sequence) => sequence <= SEQUENCE_MAX, `must be an integer from 0 to ${SEQUENCE_MAX}`)
    .default(0)
    .meta({
      type: 'integer',
      minimum: 0,
      maximum: SEQUENCE_MAX,
      default: 0,
      description: 'The `sequence` of the last receipt that you have.',
    }),
  limit: limitSchema(LIMIT_DEFAULT),
});

/** POST /receipts. */
export const walletReceiptsSchema = authRequestSchema.extend({
  after: z
    .int()
    .min(0)
    .max(SEQUENCE_MAX)
    .default(0)
    .meta({ description: 'The `sequence` of the last receipt that you have.' }),
  limit: z.int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT),
});

export const RECEIPT_OPERATION = {
  receipts: {
    id: 'listReceipts',
    method: 'get',
    path: '/receipts',
    tag: 'subscription',
    auth: 'bearer',
    summary: 'List the signed receipts of payments, texts and calls, oldest first',
    description:
      'Each receipt contains the hash of the one before, so that a missing or changed one shows. Keep the last one that you have seen: ' +
      `it proves that the service dropped nothing before it. The keys are at ${KEYS_PATH}. \`simrack verify\` checks a file of receipts without the service.`,
    query: receiptsQuerySchema,
    answer: receiptsSchema,
    refusals: [],
  },
  walletReceipts: {
    id: 'listWalletReceipts',
    method: 'post',
    path: '/receipts',
    tag: 'subscription',
    auth: 'none',
    summary: 'List the signed receipts of a wallet, also after its subscription has ended',
    description:
      'A signature of the wallet takes the place of a token, as in POST /auth: get a nonce from POST /auth/nonce for each request. No token is ' +
      'issued or revoked. The receipts stay until the subscription is purged, after the grace time; then the list is empty.',
    body: walletReceiptsSchema,
    answer: receiptsSchema,
    refusals: ['signature_mismatch', 'overloaded'],
  },
  receiptKeys: {
    id: 'getReceiptKeys',
    method: 'get',
    path: KEYS_PATH,
    tag: 'subscription',
    auth: 'none',
    summary: 'Show the public keys that verify receipts',
    description: 'A JSON Web Key Set (RFC 7517). Former keys stay in it.',
    answer: receiptKeysSchema,
    refusals: [],
  },
} as const satisfies Record<string, Operation>;
