// Makes dial strings: only complete E.164 numbers, and none that a network could treat as an emergency call.
import { isE164 } from '#shared/identities.ts';

/**
 * After the 1, numbers of the North American plan begin with an area code and an exchange. Each is a digit from 2 to 9 and two
 * more digits. No area code is a service code such as 911 (NANP, ATIS-0300051).
 */
const NORTH_AMERICAN = /^\+1(?![2-9]11)[2-9]\d{2}[2-9]\d{6}$/;

/** Returns the argument of ATD for a voice call; undefined for a number that must not be dialed. */
export function dialString(number: string): string | undefined {
  if (!isE164(number)) return undefined;
  if (number.startsWith('+1') && !NORTH_AMERICAN.test(number)) return undefined;
  return `${number};`;
}
