// The requests about messages: sending to modems, and what modems have sent.
import * as z from 'zod';
import { isE164 } from '#shared/identities.ts';
import type { Carrier } from '../carrier/carrier.ts';
import { isOriginator } from '../carrier/numbering.ts';
import type { HeardMessage } from '../state/records.ts';
import { HttpError, httpErrorOf } from './http-error.ts';
import { checked, type Route, type RouteRequest, readJson } from './route.ts';
import { messageView } from './views.ts';

/** Messages in one request. */
const BATCH_MAX = 1000;

const numberSchema = z.string().refine(isE164, 'must be E.164, such as +12065550100');
/** Text that can go on the air: no lone surrogates, which have no encoding. */
const bodySchema = z
  .string()
  .min(1)
  .refine((text) => !/\p{Surrogate}/u.test(text), 'has half of a surrogate pair');

const smsSchema = z.strictObject({
  from: z.string().refine(isOriginator, 'must be E.164, a short code, or a name of at most 11 characters'),
  to: numberSchema,
  body: bodySchema,
  encoding: z.enum(['gsm7', 'ucs2']).optional(),
  reference_bits: z.literal([8, 16]).default(8),
});
const batchSchema = z.array(smsSchema).min(1).max(BATCH_MAX);

/** X-Mms-Transaction-ID and the subject are text that ends with NUL. */
const mmsTextSchema = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^\P{Cc}*$/u, 'must be printable');

const mmsSchema = z.strictObject({
  from: numberSchema.nullable(),
  to: numberSchema,
  size_bytes: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .default(29_696),
  expires_in_seconds: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .default(72_000),
  subject: mmsTextSchema(1000).optional(),
  transaction: mmsTextSchema(128).optional(),
});

const rawSmsSchema = z.strictObject({
  to: numberSchema,
  pdu: z.string().regex(/^[0-9A-Fa-f]{0,1024}$/, 'must be at most 1024 hex digits'),
  /** Length that the modem reports for the message. */
  length: z.int().min(0).max(999).optional(),
});

/** Requests about messages. */
export function smsRoutes(carrier: Carrier): Route[] {
  return [
    { method: 'GET', path: '/sms', handle: ({ query }) => heardMessages(carrier, query) },
    { method: 'POST', path: '/sms', status: 202, handle: (request) => sendSms(carrier, request) },
    { method: 'POST', path: '/mms', status: 202, handle: (request) => announceMms(carrier, request) },
    { method: 'POST', path: '/sms/raw', status: 202, handle: (request) => sendRawSms(carrier, request) },
  ];
}

async function sendSms(carrier: Carrier, { incoming }: RouteRequest): Promise<unknown> {
  const value = await readJson(incoming);
  if (!Array.isArray(value)) return sendOne(carrier, checked(smsSchema, value));
  return checked(batchSchema, value).map((sms) => resultOf(() => sendOne(carrier, sms)));
}

function sendOne(carrier: Carrier, sms: z.output<typeof smsSchema>): unknown {
  const { from, to, body, encoding, reference_bits: referenceBits } = sms;
  return carrier.send({ from, to, body, encoding, referenceBits });
}

/** One of many: its refusal does not stop the others. */
function resultOf(send: () => unknown): unknown {
  try {
    return send();
  } catch (error) {
    const known = httpErrorOf(error);
    if (known === undefined) throw error;
    return { error: known.code, message: known.message };
  }
}

async function announceMms(carrier: Carrier, { incoming }: RouteRequest): Promise<unknown> {
  const mms = checked(mmsSchema, await readJson(incoming));
  return carrier.announceMms({
    from: mms.from,
    to: mms.to,
    sizeBytes: mms.size_bytes,
    expiresInSeconds: mms.expires_in_seconds,
    subject: mms.subject,
    transaction: mms.transaction,
  });
}

async function sendRawSms(carrier: Carrier, { incoming }: RouteRequest): Promise<unknown> {
  const { to, pdu, length } = checked(rawSmsSchema, await readJson(incoming));
  return carrier.sendRaw(to, pdu, length);
}

/** Date and time with zone, as in RFC 3339 §5.6. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

/** An id excludes its message, a time includes what was sent at that time. */
function heardMessages(carrier: Carrier, query: URLSearchParams): unknown {
  const since = query.get('since');
  if (since === null) return carrier.heard().map(messageView);
  if (/^\d{1,15}$/.test(since)) return carrier.heard(Number(since)).map(messageView);
  const sinceMs = instantOf(since);
  const isIncluded = ({ at_ms: atMs }: HeardMessage): boolean => atMs >= sinceMs;
  return carrier.heard().filter(isIncluded).map(messageView);
}

function instantOf(since: string): number {
  // In a query a plus sign arrives as a space unless it was escaped.
  const instant = since.replace(' ', '+');
  const sinceMs = INSTANT.test(instant) ? Date.parse(instant) : Number.NaN;
  if (!Number.isNaN(sinceMs)) return sinceMs;
  throw new HttpError('invalid_request', 'since: must be an id or an ISO 8601 time');
}
