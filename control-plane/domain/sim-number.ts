// A number and its SIM as an operator writes them down, and whether they can be real.
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { isE164 } from '#shared/e164.ts';
import { iccidSchema } from '#shared/identities.ts';

/** A US number that exists in the numbering plan; undefined, or what is wrong with it. */
export function problemOfNumber(number: string): string | undefined {
  if (!isE164(number)) return `"${number}" is no E.164 number, for example +12065550123`;
  const parsed = parsePhoneNumberFromString(number);
  if (parsed?.isValid() !== true || parsed.country !== 'US') return `${number} is no US number`;
  return undefined;
}

/** 18 to 22 digits, the last of which is the check digit (ITU-T E.118, Luhn); undefined, or what is wrong with it. */
export function problemOfIccid(iccid: string): string | undefined {
  if (!iccidSchema.safeParse(iccid).success) return `"${iccid}" is no ICCID: 18 to 22 digits`;
  return isLuhn(iccid) ? undefined : `the check digit of ICCID ${iccid} is wrong`;
}

function isLuhn(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const weighted = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (weighted > 9 ? weighted - 9 : weighted);
  }, 0);
  return sum % 10 === 0;
}
