// Decodes a received PDU. Pure.
import { type Deliver, decodeReceived, type StatusReport } from './tpdu.ts';
import { TpduError } from './tpdu-error.ts';

/** A decoded PDU, or the reason why it cannot be decoded. */
export type ReceivedPdu = { readonly pdu: string } & (
  | { readonly decoded: Deliver | StatusReport }
  | { readonly decoded: undefined; readonly reason: string }
);

/** Decodes a PDU. Never throws. */
export function readPdu(pdu: string): ReceivedPdu {
  try {
    return { pdu, decoded: decodeReceived(pdu) };
  } catch (error) {
    if (!(error instanceof TpduError)) throw error;
    return { pdu, decoded: undefined, reason: error.message };
  }
}
