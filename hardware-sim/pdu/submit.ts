// SMS-SUBMIT: a message from a modem to the network (3GPP TS 23.040 §9.2.2.2).
import { type Address, addressFromText, encodeAddress, readAddress } from './address.ts';
import { OctetReader, PduError } from './octets.ts';
import { readUserData, type UserData } from './user-data.ts';

const MTI_MASK = 0x03;
const MTI_SUBMIT = 0x01;
/** Octets of TP-Validity-Period by TP-VPF: none, enhanced, relative, absolute. */
const VALIDITY_OCTETS = [0, 7, 1, 7] as const;

/** The fields of a decoded SUBMIT. */
export interface Submit {
  messageReference: number;
  destination: Address;
  protocolIdentifier: number;
  /** TP-SRR: the sender wants a status report. */
  wantsStatusReport: boolean;
  /** TP-RP, handed on to the recipient. */
  hasReplyPath: boolean;
  userData: UserData;
}

/** Decodes as strictly as a network: every octet must be accounted for. Throws `PduError`. */
export function decodeSubmit(tpdu: Buffer): Submit {
  const reader = new OctetReader(tpdu);
  const first = reader.octet('first octet');
  if ((first & MTI_MASK) !== MTI_SUBMIT) throw new PduError('message type is not SMS-SUBMIT');
  const messageReference = reader.octet('message reference');
  const destination = readAddress(reader, 'destination address');
  const protocolIdentifier = reader.octet('protocol identifier');
  const dataCodingScheme = reader.octet('data coding scheme');
  reader.octets(VALIDITY_OCTETS[(first >> 3) & 0x03] ?? 0, 'validity period');
  return {
    messageReference,
    destination,
    protocolIdentifier,
    wantsStatusReport: (first & 0x20) !== 0,
    hasReplyPath: (first & 0x80) !== 0,
    userData: readUserData(reader, dataCodingScheme, (first & 0x40) !== 0),
  };
}

/** The fields of a SUBMIT to encode. */
interface SubmitParameters {
  /** TP fields as `AT+CSMP` sets them (3GPP TS 27.005 §3.3.2). */
  firstOctet: number;
  validityPeriod: number;
  protocolIdentifier: number;
  destination: string;
  userData: UserData;
}

/** Encodes a message of text mode: a SUBMIT with a relative validity period, or none. Throws `PduError`. */
export function encodeSubmit(parameters: SubmitParameters): Buffer {
  const { userData } = parameters;
  const hasValidity = (parameters.firstOctet & 0x18) === 0x10;
  const flags = (parameters.firstOctet & 0xa4) | (hasValidity ? 0x10 : 0) | (userData.hasHeader ? 0x40 : 0);
  return Buffer.concat([
    Buffer.from([flags | MTI_SUBMIT, 0]),
    encodeAddress(addressFromText(parameters.destination)),
    Buffer.from([parameters.protocolIdentifier, userData.dataCodingScheme]),
    Buffer.from(hasValidity ? [parameters.validityPeriod] : []),
    Buffer.from([userData.length]),
    userData.octets,
  ]);
}

/** The same SUBMIT to another destination (`AT+CMSS=<index>,<da>`). Throws `PduError`. */
export function withDestination(tpdu: Buffer, destination: string): Buffer {
  const reader = new OctetReader(tpdu);
  const head = reader.octets(2, 'first octets');
  readAddress(reader, 'destination address');
  const tail = reader.octets(reader.remaining, 'rest');
  return Buffer.concat([head, encodeAddress(addressFromText(destination)), tail]);
}
