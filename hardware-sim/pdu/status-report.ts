// SMS-STATUS-REPORT: the outcome of a submitted message (3GPP TS 23.040 §9.2.2.3).
import { type Address, encodeAddress } from './address.ts';

/** TP-MTI 10 with TP-MMS set: no more messages are waiting. */
const FIRST_OCTET = 0x06;
/** The fields of a STATUS-REPORT to encode. */
export interface StatusReport {
  messageReference: number;
  recipient: Address;
  /** When the service centre took the message: seven octets. */
  submittedAt: Buffer;
  /** When the outcome was known. */
  dischargedAt: Buffer;
  /** TP-ST. */
  status: number;
}

/** Encodes the TPDU, without service centre address. */
export function encodeStatusReport(report: StatusReport): Buffer {
  return Buffer.concat([
    Buffer.from([FIRST_OCTET, report.messageReference]),
    encodeAddress(report.recipient),
    report.submittedAt,
    report.dischargedAt,
    Buffer.from([report.status]),
  ]);
}
