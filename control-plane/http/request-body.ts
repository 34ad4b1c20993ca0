// Reads and validates the body of a request.
import type { Context } from 'koa';
import getRawBody from 'raw-body';
import type * as z from 'zod';
import type { RefusalCode } from '#shared/api/refusals.ts';
import { discardRest } from '#shared/process/discard-rest.ts';
import { check, WHOLE } from '../domain/checked-input.ts';
import { Refusal } from '../domain/refusal.ts';

const BODY_BYTES_MAX = 64 * 1024;

/**
 * Reads and validates the body. No body counts as an empty object. Throws `Refusal`: `payload_too_large`, `unsupported_media_type`,
 * `invalid_json`, `invalid_request`; `fieldRefusal` if a field is invalid.
 */
export async function readBody<T>(
  ctx: Context,
  schema: z.ZodType<T>,
  fieldRefusal?: RefusalCode,
): Promise<T> {
  const bytes = await readBytes(ctx);
  const json = bytes.length === 0 ? {} : parseJson(ctx, bytes);
  return check(schema, json, fieldRefusal);
}

/** Reads a body of any shape. Throws `Refusal`: `payload_too_large`, `unsupported_media_type`, `invalid_json`. */
export const readJson = async (ctx: Context): Promise<unknown> => parseJson(ctx, await readBytes(ctx));

/** Reads the fields of a form. Throws `Refusal`: `payload_too_large`, `unsupported_media_type`. */
export async function readForm(ctx: Context): Promise<Record<string, string>> {
  const bytes = await readBytes(ctx);
  return Object.fromEntries(new URLSearchParams(bytes.toString()));
}

async function readBytes(ctx: Context): Promise<Buffer> {
  const encoding = ctx.get('Content-Encoding');
  if (encoding !== '' && encoding !== 'identity') {
    throw new Refusal('unsupported_media_type', 'Compressed bodies are not accepted.');
  }
  return readBounded(ctx);
}

/**
 * Reads and drops a body that no handler needs. Throws `Refusal`: `payload_too_large`, `invalid_request`. `mayHave`: false refuses any but an
 * empty one, because its client counts on it.
 */
export async function skipBody(ctx: Context, { mayHave }: { mayHave: boolean }): Promise<void> {
  const bytes = await readBounded(ctx);
  if (mayHave || ['', '{}'].includes(bytes.toString().trim())) return;
  throw new Refusal(
    'invalid_request',
    `${ctx.method} takes no body. Put filters into the query of the URL.`,
    {
      details: { field: WHOLE },
    },
  );
}

async function readBounded(ctx: Context): Promise<Buffer> {
  try {
    return await getRawBody(ctx.req, { limit: BODY_BYTES_MAX, length: ctx.get('Content-Length') || null });
  } catch (cause) {
    if (cause instanceof Error && 'type' in cause && cause.type === 'entity.too.large') {
      const rest = discardRest(ctx.req);
      // A connection that ends with this response must not be closed with unread data.
      if (!ctx.res.shouldKeepAlive) await rest;
      throw new Refusal('payload_too_large', `The body must have at most ${BODY_BYTES_MAX} bytes.`);
    }
    throw new Refusal('invalid_request', 'The body could not be read.', {
      cause,
      details: { field: WHOLE },
    });
  }
}

/** Finds the position of the character in the parser's message. The rest of that message repeats the body. */
const POSITION = /at position (\d{1,8})(?: \(line \d+ column \d+\))?$/;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function parseJson(ctx: Context, bytes: Buffer): unknown {
  if (!ctx.is('json')) {
    throw new Refusal('unsupported_media_type', 'Send the body with Content-Type: application/json.');
  }
  try {
    return JSON.parse(UTF8.decode(bytes));
  } catch (cause) {
    const at = POSITION.exec(String(cause))?.[1];
    const where = at === undefined ? '' : ` The first error is at position ${at}.`;
    throw new Refusal('invalid_json', `The body is not JSON in UTF-8.${where}`, { cause });
  }
}
