// Which numbers may be texted and called: one rule for the service and for the daemon. Pure.
//
// Area codes and service codes are those of the North American Numbering Plan (nanpa.com; ATIS-0300051 for exchanges).
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { Destinations } from './destination-list.ts';
import { isE164 } from './identities.ts';

interface DestinationProblem {
  readonly kind: 'malformed' | 'not_allowed';
  readonly message: string;
}

/** A short code or a service number such as 911: 2 to 6 digits, with or without "+" or country code. */
const SHORT_NUMBER = /^(\+?1?)\d{2,6}$/;

const isNorthAmerican = (number: string): boolean => number.startsWith('+1');

/** An area code and an exchange begin with 2 to 9. */
const NANP_NUMBER = /^\+1[2-9]\d{2}[2-9]\d{6}$/;

/** No area code begins with 0 or 1. Such a number could hide a service code such as 112. */
const NANP_AREA_CODE = /^\+1[2-9]/;

/** Service codes in place of an area code, for instance +1 911 555 0100: N11, and 911's test and help lines. */
const SERVICE_AREA_CODE = /^\+1([2-9]11|933|988)/;

/** Charged by the call: area code 900, and behind any but the toll-free ones 976 and directory assistance. */
const PREMIUM = /^\+1(900|976|(?!8(?:00|33|44|55|66|77|88))\d{3}(?:976\d{4}|5551212)$)/;

/** Personal and carriers' numbers follow their holders, at any price: 5XX and 6XX that are nowhere, 700. */
const PERSONAL =
  /^\+1(?:5(?:00|2[1-9]|3[2358]|4[2-79]|5[02-468]|6[69]|7[78]|8[89])|6(?:00|22|33|44|55|77|88)|700)/;

const FORBIDDEN_TYPES: ReadonlySet<string | undefined> = new Set(['PREMIUM_RATE', 'PERSONAL_NUMBER']);

/**
 * Returns the problem with `to` as a destination; undefined for an allowed one. Emergency, service, short,
 * premium and personal numbers are never allowed, whatever `destinations` says.
 */
export function problemOfDestination(to: string, destinations: Destinations): DestinationProblem | undefined {
  if (SHORT_NUMBER.test(to)) return notAllowed('emergency and short numbers cannot be reached');
  const parsed = isE164(to) ? parsePhoneNumberFromString(to) : undefined;
  // Elsewhere, emergency numbers and what follows them have the length of subscriber numbers.
  if (parsed === undefined || !(isNorthAmerican(to) ? parsed.isPossible() : parsed.isValid()))
    return MALFORMED;
  if (isNorthAmerican(to)) {
    if (SERVICE_AREA_CODE.test(to) || !NANP_AREA_CODE.test(to))
      return notAllowed('service numbers cannot be reached');
    if (!NANP_NUMBER.test(to)) return MALFORMED;
    if (PREMIUM.test(to)) return notAllowed('premium numbers cannot be reached');
    if (PERSONAL.test(to)) return notAllowed('personal numbers cannot be reached');
  }
  if (FORBIDDEN_TYPES.has(parsed.getType()))
    return notAllowed('premium and personal numbers cannot be reached');
  const isAllowed =
    (parsed.country !== undefined && destinations.regions.has(parsed.country)) ||
    destinations.prefixes.some((prefix) => to.startsWith(prefix));
  return isAllowed ? undefined : notAllowed(`only numbers of these can be reached: ${destinations}`);
}

const MALFORMED: DestinationProblem = {
  kind: 'malformed',
  message: 'must be an E.164 number, such as +12065550123',
};

const notAllowed = (message: string): DestinationProblem => ({ kind: 'not_allowed', message });
