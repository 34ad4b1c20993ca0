// Limits the refused attempts of an address: this slows down guessing; successful attempts are not counted.
import type { RefusalCode } from '#shared/api/refusals.ts';
import { Refusal } from '../domain/refusal.ts';
import type { RequestLimit } from './request-limit.ts';

/**
 * Runs `attempt`. An attempt counts while it is under way and when it is refused, so parallel attempts give no more guesses than serial
 * ones. A failure for another reason, such as an unavailable database, does not count. Throws `Refusal` `rate_limited` after too many. A
 * refusal gets headers with the remaining attempts.
 */
export async function countRefused<T>(
  limit: RequestLimit,
  address: string,
  attempt: () => Promise<T>,
): Promise<T> {
  const counted = await limit.count(address);
  try {
    const result = await attempt();
    counted.giveBack();
    return result;
  } catch (error) {
    if (!isRefused(error)) {
      counted.giveBack();
      throw error;
    }
    const { code, details, headers, message } = error;
    throw new Refusal(code, message, { details, headers: { ...counted.headers, ...headers }, cause: error });
  }
}

/** The credential is invalid, or not valid yet. */
const REFUSED: readonly RefusalCode[] = [
  'unauthorized',
  'enrolment_refused',
  'node_revoked',
  'approval_pending',
];

const isRefused = (error: unknown): error is Refusal =>
  error instanceof Refusal && REFUSED.includes(error.code);
