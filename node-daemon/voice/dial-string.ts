// Numbers that may be dialed: whole E.164 numbers, and none that a network could take for an emergency call.
import { isE164 } from '#shared/e164.ts';

/**
 * Numbers in the North American plan begin, behind the 1, with an area code and an exchange of 2 to 9 and two digits, and no
 * area code is a service code such as 911 (NANP, ATIS-0300051).
 */
const NORTH_AMERICAN = /^\+1(?![2-9]11)[2-9]\d{2}[2-9]\d{6}$/;

/** The argument of ATD for a voice call; undefined for what must not be dialed. */
export function dialString(number: string): string | undefined {
  if (!isE164(number)) return undefined;
  if (number.startsWith('+1') && !NORTH_AMERICAN.test(number)) return undefined;
  return `${number};`;
}
