// The requests of the public API: one definition gives validation and types. A request that acts or filters refuses unknown fields: a mistyped
// one must not leave a default in its place.
import * as z from 'zod';

const requiredText = z.string({ error: 'a string is required' }).min(1, 'must not be empty');

// Half of a UTF-16 surrogate pair is not a character: UTF-8 cannot encode it.
const LONE_SURROGATE = /\p{Surrogate}/u;
const CONTROL = /\p{Control}/u;

/** Text of one line. No pattern: it would be published, and RE2, Python and ECMA-262 write these classes differently. */
const printableText = (max: number) =>
  requiredText
    .max(max, `must have at most ${max} characters`)
    .refine((text) => !CONTROL.test(text) && !LONE_SURROGATE.test(text), 'must be printable');

/** POST /auth/nonce. `address` only helps the server to limit rates. */
export const nonceRequestSchema = z.object({
  address: z.string('must be a string').max(64, 'must have at most 64 characters').optional(),
});

/**
 * RFC 5321 §4.1.2 without quoted names and address literals, which are not in use. A domain has at least two
 * labels.
 */
const EMAIL =
  /^(?=.{1,64}@)[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z][A-Za-z0-9-]{0,61}[A-Za-z0-9]$/;

/** RFC 5321 §4.5.3.1.3: a path has 256 octets, brackets included. */
export const emailSchema = z
  .string('must be an e-mail address')
  .max(254, { error: 'must have at most 254 characters', abort: true })
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
export const smsSendRequestSchema = z.strictObject({
  to: requiredText.max(32, 'must have at most 32 characters'),
  body: requiredText
    .refine((text) => !text.includes('\u0000'), 'must not contain NUL')
    .refine((text) => !LONE_SURROGATE.test(text), 'must be valid Unicode')
    .meta({
      description:
        'By default one SMS: at most 160 characters of the GSM 7-bit alphabet (^ { } [ ] ~ \\ | € count twice). With any other ' +
        'character, such as a curly quote or an emoji, at most 70 UTF-16 units. A longer text is refused; send several.',
    }),
});

/** Fields that a schema does not have, and why: they are refused by name, not ignored. */
export const refusedFields = z.registry<Readonly<Record<string, string>>>();

const NO_PICTURES = 'is not supported: this number sends text only. Put a link into "body".';
refusedFields.add(smsSendRequestSchema, {
  media: NO_PICTURES,
  media_url: NO_PICTURES,
  media_urls: NO_PICTURES,
  mediaUrl: NO_PICTURES,
  attachments: NO_PICTURES,
});

/** The tool split_text. */
export const splitToolSchema = z.strictObject({
  body: smsSendRequestSchema.shape.body.max(10_000, 'must have at most 10,000 characters'),
  transliterate: z.boolean().default(false).meta({
    description:
      'Replace curly quotes, dashes, ellipses and special spaces, so that a text can have 160 characters instead of 70. Letters stay.',
  }),
});

/** An integer of a query string, also for JSON Schema. */
function integerSchema(minimum: number, maximum: number, fallback: number) {
  const problem = `must be an integer from ${minimum} to ${maximum}`;
  return z
    .string({ error: `must be one integer from ${minimum} to ${maximum}` })
    .regex(/^\d{1,5}$/, problem)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, problem)
    .default(fallback)
    .meta({ type: 'integer', minimum, maximum, default: fallback });
}

export const limitSchema = (fallback: number) => integerSchema(1, 100, fallback);

/** Years with four digits: what every database can read. */
const TIME_MS_MIN = Date.parse('0001-01-01T00:00:00Z');
const TIME_MS_MAX = Date.parse('9999-12-31T23:59:59.999Z');

export const isStorable = (date: Date): boolean =>
  date.getTime() >= TIME_MS_MIN && date.getTime() <= TIME_MS_MAX;

export const dateTimeSchema = z.iso
  .datetime({
    offset: true,
    error:
      'must be an RFC 3339 date-time with a zone, such as 2026-01-31T12:00:00Z; in a URL, write "+" as %2B',
  })
  .transform((text) => new Date(text))
  .refine((date) => isStorable(date), 'must be within the years 1 to 9999 (UTC)');

/** Query of GET /sms/receive. */
export const receiveQuerySchema = z.strictObject({ limit: limitSchema(20) });

/** Clients of tools give up after 60 s by default. */
const WAIT_SECONDS_MAX = 50;

/** The tool receive_sms: the same claim, which waits while there is nothing. */
export const receiveToolSchema = receiveQuerySchema.extend({
  wait_seconds: integerSchema(0, WAIT_SECONDS_MAX, 25).meta({
    description: 'How long to wait if there is no message; 0 answers at once.',
  }),
});

/** Older codes have expired. */
const CODE_AGE_SECONDS = 600;
const CODE_AGE_SECONDS_MAX = 86_400;

/** The tool wait_for_code. */
export const waitForCodeToolSchema = z.strictObject({
  wait_seconds: receiveToolSchema.shape.wait_seconds,
  from: printableText(32).optional().meta({
    description: 'Only a text from this sender: E.164, a short code or a name, as in `from_number`.',
  }),
  max_age_seconds: integerSchema(0, CODE_AGE_SECONDS_MAX, CODE_AGE_SECONDS).meta({
    description: 'Ignores texts that arrived earlier than this before the call.',
  }),
});

const pageFields = {
  since: dateTimeSchema.optional(),
  until: dateTimeSchema.optional(),
  limit: limitSchema(50),
  cursor: z.string().max(256, 'must be the next_cursor of an earlier answer').optional(),
};

/** A period that ends before it begins is a mistake, which an empty answer would hide. */
const isPeriod = ({ since, until }: { since?: Date | undefined; until?: Date | undefined }): boolean =>
  since === undefined || until === undefined || since <= until;
const PERIOD = { path: ['since'], error: 'must not be later than "until"' };

/** Query of GET /sms/messages. */
export const messagesQuerySchema = z
  .strictObject({
    direction: z
      .enum(['sent', 'received', 'both'], { error: 'must be sent, received or both' })
      .default('both'),
    ...pageFields,
  })
  .refine(isPeriod, PERIOD);

/** Path of DELETE /sms/messages/{id}. */
export const messagePathSchema = z.object({
  id: z
    .string()
    .regex(/^[1-9]\d{0,15}$/, 'must be the id of a message')
    .transform(Number)
    .refine((id) => Number.isSafeInteger(id), 'must be the id of a message')
    .meta({ type: 'integer', minimum: 1, description: 'The `id` of a message in /sms/messages.' }),
});

/** Query of DELETE /sms/messages. */
export const deleteQuerySchema = z
  .strictObject({
    direction: messagesQuerySchema.shape.direction,
    since: messagesQuerySchema.shape.since,
    until: messagesQuerySchema.shape.until,
  })
  .refine(isPeriod, PERIOD);

/** The most that one call of the tool deletes: as many as a page has. */
const DELETED_IDS_MAX = 100;

/** The tool delete_messages: it deletes messages that the caller has seen, never all. */
export const deleteToolSchema = z.strictObject({
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
export const callsQuerySchema = z
  .strictObject({
    direction: z
      .enum(['inbound', 'outbound', 'both'], { error: 'must be inbound, outbound or both' })
      .default('both'),
    ...pageFields,
  })
  .refine(isPeriod, PERIOD);

/** A caller often writes the far end into `phone_number`. */
export const OWN_NUMBER = '"phone_number" is your own number (GET /number), and "to" is the number to call';

/** POST /voice/dial. */
export const dialRequestSchema = z.strictObject({
  phone_number: z
    .string({ error: `a string is required: ${OWN_NUMBER}` })
    .min(1, 'must not be empty')
    .max(32, 'must have at most 32 characters')
    .meta({ description: 'Your own number, as in GET /number. The number to call is `to`.' }),
  to: requiredText
    .max(32, 'must have at most 32 characters')
    .meta({ description: 'The number to call, E.164.' }),
  detect_machine: z.boolean('must be true or false').optional().meta({
    description:
      'Whether to judge, by the first seconds of audio, if a person or a machine answered. See `answered_by` of the call.',
  }),
});

/** Longer texts take more than 40 s to say. */
const SPOKEN_CHARACTERS_MAX = 600;

/** The tool say. */
export const sayToolSchema = z.strictObject({
  call_id: printableText(64),
  text: smsSendRequestSchema.shape.body
    .max(SPOKEN_CHARACTERS_MAX, `must have at most ${SPOKEN_CHARACTERS_MAX} characters`)
    .meta({ description: 'The text, in plain words: at most 600 characters, 40 seconds of speech.' }),
});

/** The tool listen. */
export const listenToolSchema = z.strictObject({
  call_id: printableText(64),
  wait_seconds: receiveToolSchema.shape.wait_seconds.meta({
    description: 'How long to wait for the far end to speak and fall silent.',
  }),
});

/** The tool wait_for_call. */
export const waitForCallToolSchema = z.strictObject({
  wait_seconds: receiveToolSchema.shape.wait_seconds.meta({
    description: 'How long to wait if no call rings; 0 answers at once.',
  }),
});

/** POST /voice/hangup. */
export const hangUpRequestSchema = z.object({
  call_id: printableText(64),
});
