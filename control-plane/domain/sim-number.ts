// Validates a number and its SIM as an operator enters them.
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { isE164 } from '#shared/e164.ts';
import { iccidSchema } from '#shared/identities.ts';

/** Returns the problem of a number; undefined for a US number that exists in the numbering plan. */
export function problemOfNumber(number: string): string | undefined {
  if (!isE164(number)) return `"${number}" is not an E.164 number, such as +12065550123`;
  const parsed = parsePhoneNumberFromString(number);
  if (parsed?.isValid() !== true || parsed.country !== 'US') return `${number} is not a US number`;
  return undefined;
}

/** Returns the problem of an ICCID; undefined for 18 to 22 digits that end with a valid check digit (ITU-T E.118, Luhn). */
export function problemOfIccid(iccid: string): string | undefined {
  if (!iccidSchema.safeParse(iccid).success) return `"${iccid}" is not an ICCID: it needs 18 to 22 digits`;
  return isLuhn(iccid) ? undefined : `the check digit of ICCID ${iccid} is wrong`;
}

function isLuhn(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const weighted = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (weighted > 9 ? weighted - 9 : weighted);
  }, 0);
  return sum % 10 === 0;
}
