// Encodes the carrier's messages, DELIVER and STATUS-REPORT, which then wait for a card. Pure.
import {
  type Address,
  encodeAddress,
  linePduOf,
  readAddress,
  TYPE_NATIONAL,
  TYPE_UNKNOWN,
  tpduOfLinePdu,
} from '../pdu/address.ts';
import { encodeDeliver, encodeStatusReport } from '../pdu/deliver.ts';
import { hexFromOctets, OctetReader, octetsFromHex, PduError } from '../pdu/octets.ts';
import { encodeTimestamp } from '../pdu/timestamp.ts';
import type { UserData } from '../pdu/user-data.ts';
import type { HeardMessage, RackRecord, ReportRequest, WaitingMessage } from '../state/records.ts';
import { CARRIER_SERVICE_CENTRE, NETWORK_OFFSET_QUARTER_HOURS } from './numbering.ts';
import type { RecipientForm, ReportPolicy, TimePolicy } from './subscriber.ts';

const DAY_MS = 86_400_000;
/** TP-ST: validity period expired (3GPP TS 23.040 §9.2.3.15). */
const STATUS_EXPIRED = 0x46;

/** A text on its way to a card. */
interface WrittenDeliver {
  id: number;
  iccid: string;
  from: string;
  userData: UserData;
  protocolIdentifier: number;
  hasReplyPath: boolean;
  atMs: number;
  time: TimePolicy;
  report?: ReportRequest | undefined;
}

/** The user data octets are copied unchanged: the carrier does not decode text. Throws `PduError`. */
export function writtenDeliver({ id, iccid, from, report, ...fields }: WrittenDeliver): RackRecord {
  const tpdu = encodeDeliver({
    originator: from,
    protocolIdentifier: fields.protocolIdentifier,
    hasReplyPath: fields.hasReplyPath,
    timestamp: timestamp(fields.atMs, fields.time),
    userData: fields.userData,
  });
  const message = { id, iccid, kind: 'deliver' as const, from, ...onTheLine(tpdu) };
  return { kind: 'waiting', message: report === undefined ? message : { ...message, report } };
}

/** The reports on one message, with ids from `firstId` on. */
export function writtenReports(
  request: ReportRequest,
  { firstId, atMs }: { firstId: number; atMs: number },
  { policy, time }: { policy: ReportPolicy; time: TimePolicy },
): RackRecord[] {
  const report = (submittedAtMs: number, dischargedAtMs: number, status: number): Buffer =>
    encodeStatusReport({
      messageReference: policy.messageReference ?? request.message_reference,
      recipient: inForm(addressFromHex(request.recipient), policy.recipientForm),
      submittedAt: timestamp(submittedAtMs, time),
      dischargedAt: timestamp(dischargedAtMs, time),
      status,
    });
  const own = report(request.submitted_at_ms, atMs, policy.status);
  const tpdus = Array.from({ length: policy.copies }, () => own);
  if (policy.followsYesterdays) {
    tpdus.unshift(report(request.submitted_at_ms - DAY_MS, atMs - DAY_MS, STATUS_EXPIRED));
  }
  return tpdus.map((tpdu, index) => ({
    kind: 'waiting',
    message: {
      id: firstId + index,
      iccid: request.iccid,
      kind: 'report',
      from: '',
      ...onTheLine(tpdu, policy.serviceCentre),
    },
  }));
}

/** A message with any hex as its PDU. */
export function writtenRaw(id: number, iccid: string, pdu: string, length: number | undefined): RackRecord {
  const shown = length ?? plausibleLength(pdu);
  return { kind: 'waiting', message: { id, iccid, kind: 'deliver', from: '', length: shown, pdu } };
}

/** The data that a later status report needs. */
export function reportRequestOf(heard: HeardMessage, destination: Address): ReportRequest {
  return {
    iccid: heard.iccid,
    message_reference: heard.message_reference,
    recipient: hexFromOctets(encodeAddress(destination)),
    submitted_at_ms: heard.at_ms,
  };
}

/** The service center address in front is the carrier's, whatever the modem has set. */
function onTheLine(
  tpdu: Buffer,
  serviceCentre = CARRIER_SERVICE_CENTRE,
): Pick<WaitingMessage, 'length' | 'pdu'> {
  return { length: tpdu.length, pdu: linePduOf(serviceCentre, tpdu) };
}

function timestamp(atMs: number, { shiftMs, octets }: TimePolicy): Buffer {
  return octets ?? encodeTimestamp(atMs + shiftMs, NETWORK_OFFSET_QUARTER_HOURS);
}

/** The number as another network element writes it: without country code, or with type unknown. */
function inForm(address: Address, form: RecipientForm): Address {
  if (form === 'as_sent') return address;
  if (form === 'digits') return { typeOfAddress: TYPE_UNKNOWN, value: address.value };
  return { typeOfAddress: TYPE_NATIONAL, value: address.value.replace(/^1(?=\d{10}$)/, '') };
}

function addressFromHex(hex: string): Address {
  return readAddress(new OctetReader(octetsFromHex(hex)), 'recipient address');
}

/** TPDU octets if the PDU can be read so far; all its octets otherwise. */
function plausibleLength(pdu: string): number {
  try {
    return tpduOfLinePdu(pdu).length;
  } catch (error) {
    if (error instanceof PduError) return Math.floor(pdu.length / 2);
    throw error;
  }
}
