// The answers of the public API: one definition gives types, OpenAPI and the tools' output schemas. Those of calls: call-answers.ts.
import * as z from 'zod';
import {
  callIdField,
  countField,
  cursorField,
  messageBodyField,
  messageIdField,
  numberField,
  peerField,
  timeField,
  tokenField,
} from './fields.ts';

const urlField = z.url();

/** GET /. */
export const catalogSchema = z.object({
  name: z.string(),
  description: z.string(),
  env: z.string().meta({ examples: ['production'] }),
  mcp: urlField.meta({ description: 'The tool endpoint (MCP, Streamable HTTP).' }),
  openapi: urlField,
  well_known: z
    .record(z.string(), urlField)
    .meta({ description: 'URLs of the documents that describe the service, by file name.' }),
  status: z.literal('ok'),
});

/** POST /subscribe. */
export const subscribedSchema = z.object({
  token: tokenField,
  number: numberField,
  expires_at: timeField,
  renewed: z
    .boolean()
    .meta({ description: 'True if the wallet already had this number and now keeps it for another year.' }),
});

/** One way to pay, for x402 v1: the document's keys, and those that v1 clients require beside them. */
export const acceptedPaymentSchema = z.object({
  scheme: z.literal('exact'),
  network: z.string().meta({ examples: ['base'] }),
  amount: z
    .string()
    .meta({ description: 'Amount in smallest units of the asset.', examples: ['1800000000'] }),
  maxAmountRequired: z.string(),
  asset: z.string().meta({ description: 'The token contract.' }),
  payTo: z.string(),
  maxTimeoutSeconds: z.number().int(),
  resource: urlField,
  description: z.string(),
  mimeType: z.string(),
  outputSchema: z
    .object({
      input: z.object({
        type: z.literal('http'),
        method: z.literal('POST'),
        bodyType: z.literal('json'),
        body: z.strictObject({}),
        discoverable: z.literal(true),
      }),
      output: subscribedSchema,
    })
    .meta({ description: 'Request and answer, for indexes of paid resources.' }),
  extra: z.object({ name: z.string(), version: z.string() }),
});

/** 402 of POST /subscribe. */
export const challengeSchema = z.object({
  x402Version: z.literal(1),
  error: z
    .string()
    .meta({ description: 'Why the payment was refused; `payment_required` if there was none.' }),
  message: z.string().meta({ description: 'The same for people. Do not parse it.' }),
  field: z.string().optional().meta({
    description: 'The header with a malformed payment, or its wrong field, such as `payload.signature`.',
  }),
  accepts: z.array(acceptedPaymentSchema),
});

/** POST /auth/nonce. */
export const nonceSchema = z.object({
  nonce: z.string().meta({ description: 'Valid for one attempt.' }),
  expires_in: z.literal(300).meta({ description: 'Seconds.' }),
  message: z.string().meta({ description: 'The exact text to sign (EIP-191, personal_sign).' }),
});

/** POST /auth. */
export const signedInSchema = z.object({ token: tokenField, number: numberField, expires_at: timeField });

/** GET /availability. */
export const availabilitySchema = z.object({
  available: countField.meta({ description: 'Numbers that are available now.' }),
});

/** The tool list_services. */
export const servicesSchema = z.object({
  services: z.array(
    z.object({
      name: z.literal('us_mobile_number'),
      description: z.string(),
      plan: z.literal('yearly'),
      available: countField.meta({ description: 'Numbers that are available, at most a second old.' }),
      subscribe: urlField.meta({
        description: 'Send POST here: first 402 with the payment options, then a token.',
      }),
      prices: z
        .array(
          z.object({
            price: z.string().meta({ description: 'Price of a year, in the currency.', examples: ['1800'] }),
            currency: z
              .string()
              .meta({ description: 'The name of the token, from its contract.', examples: ['USD Coin'] }),
            network: z.string().meta({ description: 'CAIP-2.', examples: ['eip155:8453'] }),
            asset: z.string().meta({ description: 'The token contract.' }),
            amount: z.string().meta({ description: 'The price in smallest units.' }),
          }),
        )
        .meta({ description: 'Payment options. Pay one of them.' }),
    }),
  ),
  catalog: catalogSchema,
});

/** POST /waitlist. */
export const waitlistedSchema = z.object({
  status: z.literal('added'),
  registered_at: timeField.meta({ description: 'Time of the first registration of this mailbox.' }),
});

/** GET /number. */
export const subscriptionSchema = z.object({
  number: numberField,
  sub_account_id: z.string(),
  plan: z.literal('yearly'),
  expires_at: timeField,
});

/** A limit of what a number may send in a minute or in 24 hours. */
const sendingLimitSchema = z.object({
  limit: z
    .enum([
      'messages_per_minute',
      'messages_per_day',
      'recipients_per_day',
      'repeated_text_recipients_per_day',
      'unanswered_per_day',
    ])
    .meta({ description: 'The limited quantity. Carriers block numbers that exceed it.' }),
  used: countField,
  max: countField,
  window_seconds: countField.meta({ description: 'The period in which texts count: a minute or 24 hours.' }),
});
export type SendingLimit = z.infer<typeof sendingLimitSchema>['limit'];

/** POST /sms/send. */
export const sentSchema = z.object({
  message_id: messageIdField,
  status: z
    .string()
    .meta({ description: '`queued`: the carrier has accepted the message.', examples: ['queued'] }),
  warnings: z
    .array(sendingLimitSchema)
    .optional()
    .meta({ description: 'Limits of your number of which 80 % or more are used. Absent if there are none.' }),
});

/** The tool split_text. */
export const splitSchema = z.object({
  encoding: z.enum(['gsm7', 'ucs2']),
  messages: z.array(z.string()).meta({ description: 'The texts to send, in this order.' }),
  replaced: z
    .array(z.object({ from: z.string(), to: z.string(), count: countField }))
    .meta({ description: 'Characters that were replaced.' }),
});

/** Set if the whole text is a keyword such as STOP or START. */
const optOutTypeField = z.enum(['stop', 'start']).nullable().meta({
  description:
    '`stop`: the sender wants no more texts, and you cannot text it. `start`: you can again. Null for any other text.',
});

/** The one-time code in a received text. */
const codeFields = {
  code: z
    .string()
    .nullable()
    .meta({
      description:
        'The one-time code in a received text, as it is typed: without spaces and dashes. Null if there is none, or it is not certain which.',
      examples: ['417209'],
    }),
  code_origin: z
    .string()
    .nullable()
    .meta({
      description:
        'The web site that the code is for, if the last line of the text names it (`@example.com #417209`). Enter the code nowhere else.',
      examples: ['https://example.com'],
    }),
  code_embedded_origin: z.string().nullable().meta({
    description: 'The origin of the frame in `code_origin` that takes the code, if the text names one.',
  }),
};

/** The kind of a message, and the details of an announced MMS. */
const kindFields = {
  kind: z.enum(['text', 'mms_notice']).meta({
    description:
      '`mms_notice`: an MMS, such as a picture, waits at the carrier. This number cannot fetch it, and `body` is a sentence of the service.',
  }),
  mms: z
    .object({
      size_bytes: countField.nullable(),
      expires_at: timeField
        .nullable()
        .meta({ description: 'Until when the carrier keeps the MMS, as it said.' }),
    })
    .nullable()
    .meta({ description: 'Details of an MMS, as the carrier announced them; null for a text.' }),
};

/** An inbound message of GET /sms/receive. */
export const inboundMessageSchema = z.object({
  id: z.number().int(),
  from_number: peerField,
  to_number: numberField,
  body: messageBodyField,
  message_id: messageIdField.nullable(),
  created_at: timeField,
  received_at: timeField.nullable(),
  opt_out_type: optOutTypeField,
  ...codeFields,
  ...kindFields,
});

/** GET /sms/receive. */
export const receivedSchema = z.object({ messages: z.array(inboundMessageSchema), count: countField });

/** The tool wait_for_code. */
export const awaitedCodeSchema = z.object({
  ...codeFields,
  message: inboundMessageSchema.nullable().meta({
    description: 'The text with the code, now claimed. Null, like `code`, if none arrived in time.',
  }),
});

/** Status of an outbound message. `delivered`: the carrier has reported it. `unknown`: no answer in time. */
const outboundStatusSchema = z.enum([
  'sending',
  'queued',
  'sent',
  'delivered',
  'failed',
  'expired',
  'unknown',
]);
export type OutboundStatus = z.infer<typeof outboundStatusSchema>;

/** A message of GET /sms/messages. */
export const historyMessageSchema = z.object({
  id: z.number().int(),
  direction: z.enum(['sent', 'received']),
  from_number: peerField,
  to_number: peerField,
  body: messageBodyField,
  message_id: messageIdField.nullable(),
  status: outboundStatusSchema
    .nullable()
    .meta({ description: 'Status of a sent message; null for a received one.' }),
  created_at: timeField,
  delivered_at: timeField.nullable().meta({
    description: 'Time when a received message was claimed; null for sent and unclaimed ones.',
  }),
  opt_out_type: optOutTypeField,
  ...codeFields,
  ...kindFields,
});

/** GET /sms/messages. */
export const historySchema = z.object({ messages: z.array(historyMessageSchema), next_cursor: cursorField });

/** DELETE /sms/messages. */
export const deletedSchema = z.object({
  deleted: countField.meta({ description: 'Number of messages that this request deleted.' }),
  has_more: z
    .boolean()
    .meta({ description: 'True if more messages match than one request deletes. Repeat the request.' }),
});

/** The tool delete_messages. */
export const deletedIdsSchema = z.object({
  deleted: countField.meta({ description: 'Number of messages that existed and are now deleted.' }),
});

/** POST /demo: the exact shapes of the real answers, with made-up contents. */
export const demoSchema = z.object({
  demo: z.literal(true),
  simulated_subscribe: subscribedSchema,
  simulated_send: sentSchema,
  simulated_receive: z.object({
    messages: z.array(
      inboundMessageSchema.omit({
        received_at: true,
        opt_out_type: true,
        code: true,
        code_origin: true,
        code_embedded_origin: true,
        kind: true,
        mms: true,
      }),
    ),
    count: countField,
  }),
  note: z.string(),
});

/** Every refusal; `error` is safe to switch on. */
export const refusalSchema = z.looseObject({
  error: z.string().meta({ description: 'Error code. It never changes.' }),
  message: z.string().meta({ description: 'Text for people. Do not parse it.' }),
  request_id: z.string().optional().meta({ description: 'Id of the request in the log of the service.' }),
  field: z
    .string()
    .optional()
    .meta({ description: 'The field that is missing or wrong; `$` is the whole body, or request.' }),
  expected: z
    .string()
    .optional()
    .meta({ description: 'The form that the field must have, such as `E.164`.' }),
  unknown_field: z
    .string()
    .optional()
    .meta({ description: 'A field that the request does not have, given while `field` is missing.' }),
  suggestion: z
    .string()
    .optional()
    .meta({ description: 'The value, or the name of the field, that was probably meant.' }),
});

/** A refusal with the details that some have. Closed: in a generated client, an index signature would hide all other answers of a union. */
export const detailedRefusalSchema = z.object({
  ...refusalSchema.shape,
  encoding: splitSchema.shape.encoding.optional(),
  units: countField.optional().meta({ description: 'Length of the text, in units of its encoding.' }),
  max_units: countField.optional(),
  segments: countField.optional(),
  segments_max: countField.optional(),
  ucs2_characters: z
    .array(z.string())
    .optional()
    .meta({ description: 'Characters without which the text would be GSM 7-bit.' }),
  reason: z.string().optional().meta({ description: 'Why the node, the modem or the carrier refused.' }),
  cause: z.number().int().nullish().meta({ description: 'Q.850 cause of a call that was not connected.' }),
  class: z.string().optional().meta({ description: 'The kind of `reason`.' }),
  call_id: callIdField.optional(),
  limit: sendingLimitSchema.shape.limit.optional(),
  used: countField.optional(),
  max: countField.optional(),
  wallet: z.string().optional(),
  warning: z.string().optional(),
  expires_at: timeField.optional(),
  available: countField.optional(),
  check_availability: z.string().optional().meta({ description: 'A path.' }),
  join_waitlist: z.string().optional().meta({ description: 'A path.' }),
  error_description: z.string().optional().meta({ description: 'The message, for clients of OAuth.' }),
});
