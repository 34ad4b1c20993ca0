// The forms of the console. Each has a token that only a page of the session knows.
import { timingSafeEqual } from 'node:crypto';
import type { Context } from 'koa';
import { type Html, html } from '#shared/html.ts';
import { Refusal } from '../../domain/refusal.ts';
import { readForm } from '../../http/request-body.ts';
import type { ConsoleSession } from './sessions.ts';

const FIELD = 'form_token';

export const formTokenField = ({ formToken }: ConsoleSession): Html =>
  html`<input type="hidden" name="${FIELD}" value="${formToken}">`;

/** The fields of a form of this session. Throws `Refusal` `origin_not_allowed` for any other. */
export async function readOwnForm(
  ctx: Context,
  { formToken }: ConsoleSession,
): Promise<Record<string, string>> {
  const { [FIELD]: token = '', ...fields } = await readFields(ctx);
  const [shown, known] = [Buffer.from(token), Buffer.from(formToken)];
  if (shown.length === known.length && timingSafeEqual(shown, known)) return fields;
  throw new Refusal('origin_not_allowed', 'This form belongs to another session. Open the page again.');
}

/** Throws `Refusal` `unsupported_media_type`, `payload_too_large`. */
export async function readFields(ctx: Context): Promise<Record<string, string>> {
  if (!ctx.is('urlencoded')) throw new Refusal('unsupported_media_type', 'The request is not a form.');
  return readForm(ctx);
}
