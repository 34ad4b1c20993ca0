// Which numbers may be sold: those that people in the US and its territories have on their phones.
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { problemOfDestination } from '#shared/destination.ts';
import { DEFAULT_DESTINATIONS } from '#shared/destination-list.ts';

const COUNTRIES: ReadonlySet<string | undefined> = new Set(['US', 'PR', 'VI', 'GU', 'AS', 'MP']);

/** US numbers do not show whether they are mobile: one type stands for both. */
const TYPES: ReadonlySet<string | undefined> = new Set(['MOBILE', 'FIXED_LINE_OR_MOBILE']);

/**
 * Whether an E.164 number may be a US mobile number: valid, and neither toll-free, premium nor personal. libphonenumber does not
 * know the premium exchange 976, which the rule of destinations refuses.
 */
export function isSellable(number: string): boolean {
  if (problemOfDestination(number, DEFAULT_DESTINATIONS) !== undefined) return false;
  const parsed = parsePhoneNumberFromString(number);
  return parsed?.isValid() === true && COUNTRIES.has(parsed.country) && TYPES.has(parsed.getType());
}
