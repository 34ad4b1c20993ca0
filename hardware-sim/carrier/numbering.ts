// How the carrier reads the numbers that people dial: North American plan, as in the simulated numbers.
import { isE164 } from '#shared/identities.ts';
import { type Address, addressToText, NAME_SEPTETS_MAX } from '../pdu/address.ts';
import { septetsByCharacter } from '../pdu/gsm7.ts';

/** The carrier's service center: in front of every PDU that it delivers, and the default of +CSCA. */
export const CARRIER_SERVICE_CENTRE = '+12065550000';

/** The sender of a push that announces an MMS: a short code, as carriers have it. The push names who sent the MMS. */
export const MMS_CENTRE = '6245';

/** Seattle's winter time: a time stamp with a minus sign, which receivers often misread. */
export const NETWORK_OFFSET_QUARTER_HOURS = -32;

/** E.164 where the digits can be read so, as they are for short codes; `undefined` for a name. */
export function dialledNumber(destination: Address): string | undefined {
  const text = addressToText(destination);
  return /^\+?[\d*#]+$/.test(text) ? e164Of(text) : undefined;
}

/** Digits as they were dialed, in E.164 where they can be read so. */
export function e164Of(text: string): string {
  if (/^1[2-9]\d{9}$/.test(text)) return `+${text}`;
  if (/^[2-9]\d{9}$/.test(text)) return `+1${text}`;
  return text;
}

/** Whether a text can be the sender of a message: E.164, a short code, or a name of at most 11 septets. */
export function isOriginator(text: string): boolean {
  if (isE164(text) || /^\d{1,15}$/.test(text)) return true;
  if (/^[+\d*#\s]*$/.test(text)) return false;
  const septets = septetsByCharacter(text)?.flat();
  return septets !== undefined && septets.length <= NAME_SEPTETS_MAX;
}
