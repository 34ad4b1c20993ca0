// The requests of the public API: one definition gives validation and types.
import * as z from 'zod';

const requiredText = z.string({ error: 'a string is required' }).min(1, 'must not be empty');

// Half of a UTF-16 surrogate pair is not a character: UTF-8 cannot encode it.
const LONE_SURROGATE = /\p{Surrogate}/u;
const CONTROL = /\p{Control}/u;

/** Text of one line. No pattern: it would be published, and RE2, Python and ECMA-262 write these classes differently. */
const printableText = (max: number) =>
  requiredText
    .max(max, 'is too long')
    .refine((text) => !CONTROL.test(text) && !LONE_SURROGATE.test(text), 'must be printable');

/** POST /auth/nonce. `address` only helps the server to limit rates. */
export const nonceRequestSchema = z.object({ address: z.string().max(64).optional() });

/**
 * RFC 5321 §4.1.2 without quoted names and address literals, which are not in use. A domain has at least two
 * labels.
 */
const EMAIL =
  /^(?=.{1,64}@)[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z][A-Za-z0-9-]{0,61}[A-Za-z0-9]$/;

/** RFC 5321 §4.5.3.1.3: a path has 256 octets, brackets included. */
export const emailSchema = z
  .string('must be an e-mail address')
  .max(254, { error: 'is too long', abort: true })
  .check(z.email({ pattern: EMAIL, error: 'must be an e-mail address' }));

/** POST /waitlist. */
export const waitlistRequestSchema = z.object({ email: emailSchema });

/** Signatures of many owners, and the call that deploys an account, fit in this; with all else of a payment in a header of 8,192 characters. */
export const SIGNATURE_BYTES_MAX = 2_560;
const SIGNATURE_BYTES_MIN = 64;
const SIGNATURE_FORM =
  'must be 0x-prefixed and have 65 bytes (of a key), or up to 2,560 (of an account with code)';

/** POST /auth. */
export const authRequestSchema = z.object({
  wallet: requiredText.regex(/^0x[0-9a-fA-F]{40}$/, 'must be a 0x-prefixed address of 20 bytes'),
  nonce: printableText(128),
  // RE2 counts to at most 1,000, so the length is separate from the pattern.
  signature: requiredText
    .regex(/^0x(?:[0-9a-fA-F]{2})+$/, SIGNATURE_FORM)
    .min(2 + 2 * SIGNATURE_BYTES_MIN, SIGNATURE_FORM)
    .max(2 + 2 * SIGNATURE_BYTES_MAX, SIGNATURE_FORM),
});

/** POST /sms/send. */
export const smsSendRequestSchema = z.object({
  to: requiredText.max(32, 'is too long'),
  body: requiredText
    .refine((text) => !text.includes('\u0000'), 'must not contain NUL')
    .refine((text) => !LONE_SURROGATE.test(text), 'must be valid Unicode'),
});

const limitSchema = (fallback: number) =>
  z
    .string({ error: 'must be one integer from 1 to 100' })
    .regex(/^\d{1,4}$/, 'must be an integer from 1 to 100')
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= 100, 'must be an integer from 1 to 100')
    .default(fallback)
    .meta({ type: 'integer', minimum: 1, maximum: 100, default: fallback });

/** Years with four digits: what every database can read. */
const TIME_MS_MIN = Date.parse('0001-01-01T00:00:00Z');
const TIME_MS_MAX = Date.parse('9999-12-31T23:59:59.999Z');

export const isStorable = (date: Date): boolean =>
  date.getTime() >= TIME_MS_MIN && date.getTime() <= TIME_MS_MAX;

const dateTimeSchema = z.iso
  .datetime({ offset: true, error: 'must be an RFC 3339 date-time with a zone' })
  .transform((text) => new Date(text))
  .refine((date) => isStorable(date), 'must be within the years 1 to 9999 (UTC)');

/** Query of GET /sms/receive. */
export const receiveQuerySchema = z.object({ limit: limitSchema(20) });

/** Clients of tools give up after 60 s by default. */
const WAIT_SECONDS_MAX = 50;

/** The tool receive_sms: the same claim, which waits while there is nothing. */
export const receiveToolSchema = receiveQuerySchema.extend({
  wait_seconds: z
    .string({ error: `must be one integer from 0 to ${WAIT_SECONDS_MAX}` })
    .regex(/^\d{1,2}$/, `must be an integer from 0 to ${WAIT_SECONDS_MAX}`)
    .transform(Number)
    .refine((seconds) => seconds <= WAIT_SECONDS_MAX, `must be an integer from 0 to ${WAIT_SECONDS_MAX}`)
    .default(25)
    .meta({
      type: 'integer',
      minimum: 0,
      maximum: WAIT_SECONDS_MAX,
      default: 25,
      description: 'How long to wait if there is no message; 0 answers at once.',
    }),
});

const pageFields = {
  since: dateTimeSchema.optional(),
  until: dateTimeSchema.optional(),
  limit: limitSchema(50),
  cursor: z.string().max(256, 'must be the next_cursor of an earlier answer').optional(),
};

/** Query of GET /sms/messages. */
export const messagesQuerySchema = z.object({
  direction: z
    .enum(['sent', 'received', 'both'], { error: 'must be sent, received or both' })
    .default('both'),
  ...pageFields,
});

/** Path of DELETE /sms/messages/{id}. */
export const messagePathSchema = z.object({
  id: z
    .string()
    .regex(/^[1-9]\d{0,15}$/, 'must be the id of a message')
    .transform(Number)
    .refine((id) => Number.isSafeInteger(id), 'must be the id of a message')
    .meta({ type: 'integer', minimum: 1, description: 'The `id` of a message in /sms/messages.' }),
});

/** Query of DELETE /sms/messages. A mistyped filter must not delete everything, so unknown keys are refused. */
export const deleteQuerySchema = z.strictObject({
  direction: messagesQuerySchema.shape.direction,
  since: messagesQuerySchema.shape.since,
  until: messagesQuerySchema.shape.until,
});

/** The most that one call of the tool deletes: as many as a page has. */
const DELETED_IDS_MAX = 100;

/** The tool delete_messages: it deletes messages that the caller has seen, never all. */
export const deleteToolSchema = z.object({
  ids: z
    .array(
      z.number('must be the id of a message').int().min(1).max(Number.MAX_SAFE_INTEGER),
      'must be a list of ids',
    )
    .min(1, 'must have at least one id')
    .max(DELETED_IDS_MAX, `must have at most ${DELETED_IDS_MAX} ids`)
    .meta({ description: 'The `id` of messages, from list_messages or receive_sms.' }),
});

/** Query of GET /voice/calls. */
export const callsQuerySchema = z.object({
  direction: z
    .enum(['inbound', 'outbound', 'both'], { error: 'must be inbound, outbound or both' })
    .default('both'),
  ...pageFields,
});

/** POST /voice/dial. */
export const dialRequestSchema = z.object({
  phone_number: requiredText.max(32, 'is too long'),
  to: requiredText.max(32, 'is too long'),
});

/** POST /voice/hangup. */
export const hangUpRequestSchema = z.object({
  call_id: printableText(64),
});
