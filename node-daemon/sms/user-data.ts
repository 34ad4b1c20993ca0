// Decodes TP-User-Data: the header's information elements and the text after them (3GPP TS 23.040 §9.2.3.24).
import { type Coding, indicationOf, type WaitingIndication } from './data-coding.ts';
import { fillBitsAfter, textOfSeptets, unpackSeptets } from './gsm7.ts';
import { lockingShiftTable, singleShiftTable } from './national-language.ts';
import { TpduError } from './tpdu-error.ts';

/** This message is part `part` (1 to `total`) of a longer one (3GPP TS 23.040 §9.2.3.24.1 and .8). */
export interface ConcatenationHeader {
  readonly reference: number;
  readonly referenceBits: 8 | 16;
  readonly total: number;
  readonly part: number;
}

/** The contents of TP-User-Data. */
export interface UserData {
  readonly content:
    | { readonly kind: 'text'; readonly text: string }
    /** Octets that are not text: a WAP push, a vCard, SIM data. */
    | { readonly kind: 'octets'; readonly octets: Uint8Array };
  readonly concatenation: ConcatenationHeader | undefined;
  /** Destination port of application data. */
  readonly port: number | undefined;
  readonly indication: WaitingIndication | undefined;
}

type Elements = ReadonlyMap<number, Uint8Array>;

const IE_CONCATENATION_8 = 0x00;
const IE_SPECIAL_MESSAGE = 0x01;
const IE_PORTS_8 = 0x04;
const IE_PORTS_16 = 0x05;
const IE_CONCATENATION_16 = 0x08;
const IE_SINGLE_SHIFT = 0x24;
const IE_LOCKING_SHIFT = 0x25;

/**
 * Decodes user data. `length` is TP-UDL: septets for GSM 7 bit, otherwise octets, including the header.
 * Throws `TpduError` if octets are missing or the coding is not supported.
 */
export function decodeUserData(
  octets: Uint8Array,
  { coding, length, hasHeader }: { coding: Coding; length: number; hasHeader: boolean },
): UserData {
  const octetLength = coding === 'gsm7' ? Math.ceil((length * 7) / 8) : length;
  if (octets.length < octetLength) {
    throw new TpduError(`user data of ${octets.length} octets instead of ${octetLength}`);
  }
  const data = octets.subarray(0, octetLength);
  const headerOctets = hasHeader ? 1 + (data[0] ?? 0) : 0;
  if (headerOctets > octetLength) throw new TpduError('the user data header is longer than the user data');
  const elements = elementsOf(data.subarray(1, headerOctets));
  const port = portOf(elements);
  const content =
    coding === 'gsm7'
      ? { kind: 'text' as const, text: decodeSeptets(data, length, headerOctets, elements) }
      : contentOf(data.subarray(headerOctets), coding, port);
  return { content, concatenation: concatenationOf(elements), port, indication: waitingOf(elements) };
}

/** Returns the information element of a part, with an 8 bit or a 16 bit reference. */
export function encodeConcatenation(header: ConcatenationHeader): Uint8Array {
  const { reference, total, part } = header;
  return header.referenceBits === 8
    ? Uint8Array.of(5, IE_CONCATENATION_8, 3, reference, total, part)
    : Uint8Array.of(6, IE_CONCATENATION_16, 4, reference >> 8, reference & 0xff, total, part);
}

/** If an element occurs twice, the last one counts (3GPP TS 23.040 §9.2.3.24). An incomplete one ends the list. */
function elementsOf(header: Uint8Array): Elements {
  const elements = new Map<number, Uint8Array>();
  for (let position = 0; position + 1 < header.length; ) {
    const end = position + 2 + (header[position + 1] ?? 0);
    if (end > header.length) break;
    elements.set(header[position] ?? 0, header.subarray(position + 2, end));
    position = end;
  }
  return elements;
}

function concatenationOf(elements: Elements): ConcatenationHeader | undefined {
  const wide = elements.get(IE_CONCATENATION_16);
  const narrow = elements.get(IE_CONCATENATION_8);
  const [high = 0, low = 0, total = 0, part = 0] = wide?.length === 4 ? wide : [0, ...(narrow ?? [])];
  // A part number beyond the total: the element must be ignored.
  if (total === 0 || part === 0 || part > total) return undefined;
  return { reference: high * 256 + low, referenceBits: wide?.length === 4 ? 16 : 8, total, part };
}

function portOf(elements: Elements): number | undefined {
  const wide = elements.get(IE_PORTS_16);
  if (wide?.length === 4) return (wide[0] ?? 0) * 256 + (wide[1] ?? 0);
  const narrow = elements.get(IE_PORTS_8);
  return narrow?.length === 2 ? narrow[0] : undefined;
}

/** "Special SMS message indication": kind and number of waiting messages (3GPP TS 23.040 §9.2.3.24.2). */
function waitingOf(elements: Elements): WaitingIndication | undefined {
  const element = elements.get(IE_SPECIAL_MESSAGE);
  if (element?.length !== 2) return undefined;
  const [kind = 0, count = 0] = element;
  return indicationOf(kind, count > 0);
}

function decodeSeptets(data: Uint8Array, length: number, headerOctets: number, elements: Elements): string {
  const alphabet = lockingShiftTable(elements.get(IE_LOCKING_SHIFT)?.[0]);
  const extension = singleShiftTable(elements.get(IE_SINGLE_SHIFT)?.[0]);
  const fillBits = fillBitsAfter(headerOctets);
  const headerSeptets = (headerOctets * 8 + fillBits) / 7;
  const septets = unpackSeptets(data.subarray(headerOctets), Math.max(0, length - headerSeptets), fillBits);
  return textOfSeptets(septets, alphabet, extension);
}

function contentOf(octets: Uint8Array, coding: Coding, port: number | undefined): UserData['content'] {
  if (coding === 'compressed') throw new TpduError('compressed text');
  if (coding === 'ucs2') return { kind: 'text', text: utf16Of(octets) };
  // Some senders put plain Latin text into 8 bit data.
  const latin = Buffer.from(octets).toString('latin1');
  return port === undefined && PRINTABLE_LATIN.test(latin)
    ? { kind: 'text', text: latin }
    : { kind: 'octets', octets };
}

const PRINTABLE_LATIN = /^[\t\n\r\x20-\x7e\xa0-\xff]+$/;

/** Decodes UCS2 as phones use it: UTF-16, whose surrogate pairs may be split between parts. Drops an odd octet. */
function utf16Of(octets: Uint8Array): string {
  let text = '';
  for (let position = 0; position + 1 < octets.length; position += 2) {
    text += String.fromCharCode((octets[position] ?? 0) * 256 + (octets[position + 1] ?? 0));
  }
  return text;
}
