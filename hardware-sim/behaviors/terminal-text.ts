// Strings and message texts as the terminal sees them, by the character set of +CSCS (3GPP TS 27.005 §3.1).
import type { PortSettings } from '../at/settings.ts';
import { packSeptets, septetsByCharacter } from '../pdu/gsm7.ts';
import { hexFromOctets, octetsFromHex, PduError } from '../pdu/octets.ts';
import { alphabetOf, DCS_GSM7, textFromUcs2, textOf, type UserData, ucs2FromText } from '../pdu/user-data.ts';

/** A quoted string parameter, such as an operator's name or a number. */
export function quoted(text: string, port: PortSettings): string {
  return port.characterSet === 'UCS2' ? `"${hexFromOctets(ucs2FromText(text))}"` : `"${text}"`;
}

/** The reverse of `quoted`, without the quotes. `undefined` when the hex is wrong. */
export function unquoted(text: string, port: PortSettings): string | undefined {
  if (port.characterSet !== 'UCS2') return text;
  try {
    return textFromUcs2(octetsFromHex(text));
  } catch (error) {
    if (error instanceof PduError) return undefined;
    throw error;
  }
}

/** `<data>` of a message in text mode. Data that is no 7 bit text shows as hex. */
export function shownText(userData: UserData, port: PortSettings): string {
  const text = textOf(userData) ?? '';
  if (alphabetOf(userData.dataCodingScheme) !== 'gsm7') return hexFromOctets(userData.octets);
  if (port.characterSet === 'UCS2') return hexFromOctets(ucs2FromText(text));
  if (port.characterSet === 'IRA') return text.replace(/[^\n\r -~]/gu, '?');
  const septets = septetsByCharacter(text)?.flat() ?? [];
  return String.fromCharCode(...septets);
}

/** User data of a text that was typed. Throws `PduError` when it does not fit one message. */
export function typedUserData(typed: string, port: PortSettings): UserData {
  const dataCodingScheme = port.textParameters[3];
  const hasHeader = (port.textParameters[0] & 0x40) !== 0;
  if (alphabetOf(dataCodingScheme) !== 'gsm7') {
    const octets = octetsFromHex(typed.trim());
    if (octets.length > 140) throw new PduError('text is longer than a message');
    return { dataCodingScheme, hasHeader, length: octets.length, octets };
  }
  const septets = typedSeptets(typed, port);
  if (septets.length > 160) throw new PduError('text is longer than a message');
  return {
    dataCodingScheme: DCS_GSM7,
    hasHeader: false,
    length: septets.length,
    octets: packSeptets(septets),
  };
}

function typedSeptets(typed: string, port: PortSettings): number[] {
  if (port.characterSet === 'GSM') return [...typed].map((character) => character.charCodeAt(0) & 0x7f);
  const text = port.characterSet === 'UCS2' ? textFromUcs2(octetsFromHex(typed.trim())) : typed;
  const septets = septetsByCharacter(text)?.flat();
  if (septets === undefined) throw new PduError('text has a character outside the GSM alphabet');
  return septets;
}
