// The destinations that a subscription may send to and call.
import { likelyNumber, problemOfDestination } from '#shared/destination.ts';
import type { Destinations } from '#shared/destination-list.ts';
import { Refusal } from './refusal.ts';

/** Returns `to` if it may be reached. Throws `Refusal`: `invalid_request` if it is not an E.164 number, `destination_not_allowed`. */
export function checkDestination(to: string, destinations: Destinations): string {
  const problem = problemOfDestination(to, destinations);
  if (problem === undefined) return to;
  if (problem.kind === 'malformed')
    throw new Refusal('invalid_request', `"to" ${problem.message}.`, {
      details: { field: 'to', expected: 'E.164', ...suggestionOf(to) },
    });
  throw destinationNotAllowed(problem.message);
}

/** The number that was probably meant, if there is one: a US number as people write it. */
export function suggestionOf(to: string): { suggestion?: string } {
  const suggestion = likelyNumber(to);
  return suggestion === undefined ? {} : { suggestion };
}

/** Checks the sender of texts that are waited for. Throws `Refusal` `invalid_request` for a number that no text can have. */
export function checkSender(from: string | undefined): void {
  const suggestion = from === undefined ? undefined : likelyNumber(from);
  if (suggestion === undefined) return;
  throw new Refusal('invalid_request', `"from" must be as in from_number: E.164, such as ${suggestion}.`, {
    details: { field: 'from', expected: 'E.164', suggestion },
  });
}

export const destinationNotAllowed = (message: string): Refusal =>
  new Refusal('destination_not_allowed', message, { details: { field: 'to' } });
