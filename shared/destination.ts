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

/**
 * A short code of 4 to 6 digits, or a service number such as 911, with or without "+" or country code. No short code has the country code, so
 * `+1` and more than 3 digits is a subscriber's number without some of its digits.
 */
const SHORT_NUMBER = /^(?:\+?1?\d{2,3}|\d{4,6}|\+[2-9]\d{3,5})$/;

/** Text that begins as a number of North America, with its digits after the country code. */
const NANP_DIGITS = /^\+1(\d+)$/;

const NANP_LENGTH = 10;

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
  const digits = NANP_DIGITS.exec(to)?.[1]?.length;
  if (digits !== undefined && digits !== NANP_LENGTH)
    return malformed(`must have ${NANP_LENGTH} digits after +1. It has ${digits}`);
  if (!isE164(to)) return MALFORMED;
  const parsed = parsePhoneNumberFromString(to);
  if (parsed?.isPossible() !== true) return UNKNOWN;
  if (isNorthAmerican(to)) {
    if (SERVICE_AREA_CODE.test(to) || !NANP_AREA_CODE.test(to))
      return notAllowed('service numbers cannot be reached');
    if (!NANP_NUMBER.test(to)) return UNKNOWN;
    if (PREMIUM.test(to)) return notAllowed('premium numbers cannot be reached');
    if (PERSONAL.test(to)) return notAllowed('personal numbers cannot be reached');
  }
  if (FORBIDDEN_TYPES.has(parsed.getType()))
    return notAllowed('premium and personal numbers cannot be reached');
  // Elsewhere, emergency numbers and what follows them have the length of subscriber numbers.
  const isUnknown = !isNorthAmerican(to) && !parsed.isValid();
  const countries = isUnknown ? parsed.getPossibleCountries() : [parsed.country];
  const isAllowed =
    countries.some((country) => country !== undefined && destinations.regions.has(country)) ||
    destinations.prefixes.some((prefix) => to.startsWith(prefix));
  if (!isAllowed) return notAllowed(`only these destinations are allowed: ${destinations}`);
  return isUnknown ? UNKNOWN : undefined;
}

/** The E.164 form of a number as people write it in the US, such as `(206) 555-0123`. Undefined for text that has this form or is no such number. */
export function likelyNumber(text: string): string | undefined {
  const parsed = parsePhoneNumberFromString(text, 'US');
  const isLikely = parsed?.isPossible() === true && isE164(parsed.number) && parsed.number !== text;
  return isLikely ? parsed.number : undefined;
}

const malformed = (message: string): DestinationProblem => ({ kind: 'malformed', message });

const MALFORMED = malformed('must be an E.164 number, such as +12065550123');

const UNKNOWN = malformed('has the form of an E.164 number, but its country has no such numbers');

const notAllowed = (message: string): DestinationProblem => ({ kind: 'not_allowed', message });
