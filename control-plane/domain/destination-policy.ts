// Where a subscription may send to and call: E.164 numbers of allowed countries, never emergency or premium services.
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { isE164 } from '#shared/e164.ts';
import { Refusal } from './refusal.ts';

/** A short code or a service number such as 911: 2 to 6 digits, with or without "+" or country code. */
const SHORT_NUMBER = /^(\+?1?)\d{2,6}$/;

/** Area codes of the NANP begin with 2 to 9: anything else is a way to write a service code such as 112. */
const NANP_AREA_CODE = /^\+1[2-9]/;

/** Service codes in place of an area code (NANP), for instance +1 911 555 0100: N11, and 911's test and help lines. */
const SERVICE_AREA_CODE = /^\+1([2-9]11|933|988)/;

/**
 * Returns `to` when the operator's policy allows it. Throws `Refusal`: `invalid_request` for what is no
 * E.164 number, `destination_not_allowed` for emergency, short, premium and foreign numbers.
 *
 * `allowedPrefixes` are E.164 prefixes such as "+1".
 */
export function checkDestination(to: string, allowedPrefixes: readonly string[]): string {
  if (SHORT_NUMBER.test(to)) throw notAllowed('emergency and short numbers cannot be reached');
  const parsed = isE164(to) ? parsePhoneNumberFromString(to) : undefined;
  // Elsewhere, emergency numbers and what follows them have the length of subscriber numbers.
  if (parsed === undefined || !(to.startsWith('+1') ? parsed.isPossible() : parsed.isValid())) {
    throw new Refusal('invalid_request', '"to" must be an E.164 number, for example +12065550123');
  }
  if (SERVICE_AREA_CODE.test(to) || (to.startsWith('+1') && !NANP_AREA_CODE.test(to)))
    throw notAllowed('service numbers cannot be reached');
  const type = parsed.getType();
  if (type === 'PREMIUM_RATE' || /^\+1(900|976)/.test(to))
    throw notAllowed('premium numbers cannot be reached');
  if (!allowedPrefixes.some((prefix) => to.startsWith(prefix))) {
    throw notAllowed(`only numbers that begin with ${allowedPrefixes.join(', ')} can be reached`);
  }
  return to;
}

const notAllowed = (message: string): Refusal => new Refusal('destination_not_allowed', message);
