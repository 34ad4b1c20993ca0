// The numbers that may be sold: ordinary mobile numbers of the US and its territories.
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { problemOfDestination } from '#shared/destination.ts';
import { DEFAULT_DESTINATIONS } from '#shared/destination-list.ts';

const COUNTRIES: ReadonlySet<string | undefined> = new Set(['US', 'PR', 'VI', 'GU', 'AS', 'MP']);

/** US numbers do not reveal whether they are mobile: one type covers both. */
const TYPES: ReadonlySet<string | undefined> = new Set(['MOBILE', 'FIXED_LINE_OR_MOBILE']);

/**
 * Whether an E.164 number may be a US mobile number: valid, and not toll-free, premium or personal. libphonenumber does not know the
 * premium exchange 976; the destination rules refuse it.
 */
export function isSellable(number: string): boolean {
  if (problemOfDestination(number, DEFAULT_DESTINATIONS) !== undefined) return false;
  const parsed = parsePhoneNumberFromString(number);
  return parsed?.isValid() === true && COUNTRIES.has(parsed.country) && TYPES.has(parsed.getType());
}
