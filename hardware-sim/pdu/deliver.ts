// SMS-DELIVER and SMS-STATUS-REPORT: a message from the network to a modem, and the outcome of a submitted one
// (3GPP TS 23.040 §9.2.2.1, §9.2.2.3).
import { type Address, addressFromText, encodeAddress, readAddress } from './address.ts';
import { OctetReader, PduError } from './octets.ts';
import { readUserData, type UserData } from './user-data.ts';

/** TP-MTI 00 with TP-MMS set: no more messages are waiting. */
const DELIVER = 0x04;

/** The fields of a DELIVER to encode. */
interface Deliver {
  /** "+15550001234", a short code, or a name of at most 11 septets. */
  originator: string;
  protocolIdentifier: number;
  hasReplyPath: boolean;
  /** Seven octets, right or wrong. */
  timestamp: Buffer;
  userData: UserData;
}

/** Encodes the TPDU, without service center address. Throws `PduError` when the originator does not fit. */
export function encodeDeliver(deliver: Deliver): Buffer {
  const { userData } = deliver;
  const flags = (userData.hasHeader ? 0x40 : 0) | (deliver.hasReplyPath ? 0x80 : 0);
  return Buffer.concat([
    Buffer.from([DELIVER | flags]),
    encodeAddress(addressFromText(deliver.originator)),
    Buffer.from([deliver.protocolIdentifier, userData.dataCodingScheme]),
    deliver.timestamp,
    Buffer.from([userData.length]),
    userData.octets,
  ]);
}

/** The fields of a DELIVER that text mode shows. */
interface ReceivedDeliver {
  originator: Address;
  /** Seven octets. */
  timestamp: Buffer;
  userData: UserData;
}

/** Decodes for text mode. Throws `PduError`. */
export function decodeDeliver(tpdu: Buffer): ReceivedDeliver {
  const reader = new OctetReader(tpdu);
  const first = reader.octet('first octet');
  if ((first & 0x03) !== 0) throw new PduError('message type is not SMS-DELIVER');
  const originator = readAddress(reader, 'originating address');
  reader.octet('protocol identifier');
  const dataCodingScheme = reader.octet('data coding scheme');
  const timestamp = reader.octets(7, 'time stamp');
  return { originator, timestamp, userData: readUserData(reader, dataCodingScheme, (first & 0x40) !== 0) };
}

/** TP-MTI 10 with TP-MMS set: no more messages are waiting. */
const STATUS_REPORT = 0x06;
/** The fields of a STATUS-REPORT to encode. */
interface StatusReport {
  messageReference: number;
  recipient: Address;
  /** When the service center took the message: seven octets. */
  submittedAt: Buffer;
  /** When the outcome was known. */
  dischargedAt: Buffer;
  /** TP-ST. */
  status: number;
}

/** Encodes the TPDU, without service center address. */
export function encodeStatusReport(report: StatusReport): Buffer {
  return Buffer.concat([
    Buffer.from([STATUS_REPORT, report.messageReference]),
    encodeAddress(report.recipient),
    report.submittedAt,
    report.dischargedAt,
    Buffer.from([report.status]),
  ]);
}
