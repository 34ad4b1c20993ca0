// The opaque cursor of /sms/messages: the position of a row in the history.
import * as z from 'zod';
import { isStorable } from '#shared/api/requests.ts';
import { Refusal } from '../domain/refusal.ts';

const ID_MAX = Number.MAX_SAFE_INTEGER;
const placeSchema = z.tuple([
  z
    .number()
    .int()
    .refine((timeMs) => isStorable(new Date(timeMs))),
  z.number().int().min(1).max(ID_MAX),
]);

interface HistoryPlace {
  createdAt: Date;
  id: number;
}

/** The first `limit` rows, and a cursor if there are more. */
export function pageOf<R>(
  rows: readonly R[],
  limit: number,
  placeOf: (row: R) => HistoryPlace,
): { page: R[]; next: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return { page, next: hasMore ? encodeCursor(placeOf(last)) : null };
}

function encodeCursor({ createdAt, id }: HistoryPlace): string {
  return Buffer.from(JSON.stringify([createdAt.getTime(), id])).toString('base64url');
}

/** Throws `Refusal` `invalid_request` for anything but the `next_cursor` of a page. */
export function decodeCursor(cursor: string): HistoryPlace {
  try {
    const [createdAtMs, id] = placeSchema.parse(
      JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')),
    );
    return { createdAt: new Date(createdAtMs), id };
  } catch (cause) {
    throw new Refusal('invalid_request', '"cursor" must be the next_cursor of an earlier response', {
      cause,
      details: { field: 'cursor', expected: 'the next_cursor of an earlier response' },
    });
  }
}
