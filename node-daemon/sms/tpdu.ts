// Encodes and decodes transfer protocol data units in the hexadecimal form of AT+CMGF=0 (3GPP TS 23.040 §9.2.2, 27.005 §4).
//
//   SMS-SUBMIT         first octet, TP-MR, TP-DA, TP-PID, TP-DCS, TP-VP, TP-UDL, TP-UD
//   SMS-DELIVER        first octet, TP-OA, TP-PID, TP-DCS, TP-SCTS (7), TP-UDL, TP-UD
//   SMS-STATUS-REPORT  first octet, TP-MR, TP-RA, TP-SCTS (7), TP-DT (7), TP-ST
import { addressOctets, decodeAddress, decodeVoicemailAddress, encodeAddress } from './address.ts';
import { type DataCoding, dataCodingOf, type WaitingIndication } from './data-coding.ts';
import { fillBitsAfter, packSeptets, septetsOf } from './gsm7.ts';
import { decodeTimestamp, TIMESTAMP_OCTETS } from './timestamp.ts';
import { TpduError } from './tpdu-error.ts';
import { type ConcatenationHeader, decodeUserData, encodeConcatenation, type UserData } from './user-data.ts';

/** A PDU for AT+CMGS, hexadecimal, with the SMSC field first. `length` counts octets without that field. */
export interface SubmitPdu {
  readonly pdu: string;
  readonly length: number;
}

/** The fields of an SMS-SUBMIT. */
interface SubmitFields {
  /** E.164. */
  readonly to: string;
  readonly text: string;
  readonly encoding: 'gsm7' | 'ucs2';
  readonly concatenation?: ConcatenationHeader;
  /** Whether to request an SMS-STATUS-REPORT (TP-SRR). */
  readonly statusReport: boolean;
  /** TP-VP, relative: how long the service center tries (3GPP TS 23.040 §9.2.3.12.1); 167 is 24 hours. */
  readonly validityPeriod: number;
}

/** A received SMS-DELIVER. */
export interface Deliver {
  readonly kind: 'deliver';
  readonly from: string;
  readonly protocolIdentifier: number;
  /** ISO 8601 with offset; null if the service center's time stamp is invalid. */
  readonly sentAt: string | null;
  readonly messageClass: DataCoding['messageClass'];
  /** Set if the message indicates other waiting messages. Its text, if any, is for the user. */
  readonly indication: WaitingIndication | undefined;
  readonly userData: UserData;
}

/** A received SMS-STATUS-REPORT. */
export interface StatusReport {
  readonly kind: 'statusReport';
  readonly messageReference: number;
  readonly recipient: string;
  /** Time at which the service center accepted the message (TP-SCTS); null if invalid. */
  readonly acceptedAt: string | null;
  /** Time of this status at the service center; null if invalid. */
  readonly dischargedAt: string | null;
  /** TP-Status. */
  readonly status: number;
}

const MTI_SUBMIT = 0x01;
const FORMAT_RELATIVE = 0x10;
const STATUS_REPORT_REQUEST = 0x20;
const USER_DATA_HEADER = 0x40;
const DCS_GSM7 = 0x00;
const DCS_UCS2 = 0x08;
/** 140 octets of user data (3GPP TS 23.040 §9.2.3.24). */
const USER_DATA_OCTETS_MAX = 140;
/** An empty SMSC field: the modem uses the SIM's service center. */
const NO_SMSC = '00';

/** Encodes an SMS-SUBMIT. Throws `TpduError` if the text does not fit or is not in the alphabet. */
export function encodeSubmit(fields: SubmitFields): SubmitPdu {
  const { concatenation, encoding } = fields;
  const header = concatenation === undefined ? new Uint8Array() : encodeConcatenation(concatenation);
  const { data, length } =
    encoding === 'gsm7' ? packedText(fields.text, header) : utf16Text(fields.text, header);
  if (data.length > USER_DATA_OCTETS_MAX) throw new TpduError(`user data of ${data.length} octets`);
  const firstOctet =
    MTI_SUBMIT |
    FORMAT_RELATIVE |
    (fields.statusReport ? STATUS_REPORT_REQUEST : 0) |
    (header.length > 0 ? USER_DATA_HEADER : 0);
  const tpdu = Buffer.from([
    firstOctet,
    0, // TP-MR: the modem sets it
    ...encodeAddress(fields.to),
    0, // TP-PID
    encoding === 'gsm7' ? DCS_GSM7 : DCS_UCS2,
    fields.validityPeriod,
    length,
    ...data,
  ]);
  return { pdu: NO_SMSC + tpdu.toString('hex').toUpperCase(), length: tpdu.length };
}

/** Decodes a received PDU: SMSC field and TPDU, hexadecimal. Throws `TpduError`, and no other error, for invalid input. */
export function decodeReceived(pdu: string): Deliver | StatusReport {
  if (!/^([0-9A-Fa-f]{2})+$/.test(pdu)) throw new TpduError('not hexadecimal octets');
  const octets = new Uint8Array(Buffer.from(pdu, 'hex'));
  const reader = new Reader(octets.subarray(1 + (octets[0] ?? 0)));
  const firstOctet = reader.octet('first octet');
  switch (firstOctet & 0x03) {
    case 0:
    case 3: // Reserved: to be processed as SMS-DELIVER (3GPP TS 23.040 §9.2.3.1).
      return decodeDeliver(reader, (firstOctet & USER_DATA_HEADER) !== 0);
    case 2:
      return decodeStatusReport(reader);
    default:
      throw new TpduError('an SMS-SUBMIT is not a received message');
  }
}

function decodeDeliver(reader: Reader, hasHeader: boolean): Deliver {
  const sender = reader.addressField();
  const protocolIdentifier = reader.octet('TP-PID');
  const { coding, messageClass, indication } = dataCodingOf(reader.octet('TP-DCS'));
  const sentAt = decodeTimestamp(reader.octets(TIMESTAMP_OCTETS, 'TP-SCTS'));
  const length = reader.octet('TP-UDL');
  const userData = decodeUserData(reader.rest(), { coding, length, hasHeader });
  return {
    kind: 'deliver',
    from: decodeAddress(sender),
    protocolIdentifier,
    sentAt,
    messageClass,
    userData,
    // The indication is in the coding, in the header or, in old networks, in the sender's address.
    indication: indication ?? userData.indication ?? decodeVoicemailAddress(sender),
  };
}

function decodeStatusReport(reader: Reader): StatusReport {
  const messageReference = reader.octet('TP-MR');
  const recipient = decodeAddress(reader.addressField());
  const acceptedAt = decodeTimestamp(reader.octets(TIMESTAMP_OCTETS, 'TP-SCTS'));
  const dischargedAt = decodeTimestamp(reader.octets(TIMESTAMP_OCTETS, 'TP-DT'));
  const status = reader.octet('TP-ST');
  return { kind: 'statusReport', messageReference, recipient, acceptedAt, dischargedAt, status };
}

function packedText(text: string, header: Uint8Array): { data: Uint8Array; length: number } {
  const septets = septetsOf(text);
  if (septets === undefined) throw new TpduError('the text is not in the GSM 7 bit alphabet');
  const fillBits = fillBitsAfter(header.length);
  const data = Uint8Array.of(...header, ...packSeptets(septets, fillBits));
  return { data, length: (header.length * 8 + fillBits) / 7 + septets.length };
}

function utf16Text(text: string, header: Uint8Array): { data: Uint8Array; length: number } {
  const data = Uint8Array.of(...header, ...Buffer.from(text, 'utf16le').swap16());
  return { data, length: data.length };
}

/** Reads fields one by one. Throws a `TpduError` that names the field if octets are missing. */
class Reader {
  #octets: Uint8Array;

  constructor(octets: Uint8Array) {
    this.#octets = octets;
  }

  octets(count: number, field: string): Uint8Array {
    if (this.#octets.length < count) throw new TpduError(`ends in ${field}`);
    const taken = this.#octets.subarray(0, count);
    this.#octets = this.#octets.subarray(count);
    return taken;
  }

  octet(field: string): number {
    return this.octets(1, field)[0] ?? 0;
  }

  addressField(): Uint8Array {
    return this.octets(addressOctets(this.#octets[0] ?? 0), 'an address');
  }

  rest(): Uint8Array {
    return this.#octets;
  }
}
