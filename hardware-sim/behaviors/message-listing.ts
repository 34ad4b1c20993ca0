// A stored message as +CMGL and +CMGR show it, in PDU and in text mode (3GPP TS 27.005 §3.4). Pure.
import type { PortSettings } from '../at/settings.ts';
import { addressToText, tpduOfLinePdu } from '../pdu/address.ts';
import { decodeDeliver } from '../pdu/deliver.ts';
import { PduError } from '../pdu/octets.ts';
import { decodeSubmit } from '../pdu/submit.ts';
import { timestampToText } from '../pdu/timestamp.ts';
import type { StoredMessage } from '../state/records.ts';
import { quoted, shownText } from './terminal-text.ts';

/** `<stat>` in text mode, by its number in PDU mode. */
export const STATUS_NAMES = ['REC UNREAD', 'REC READ', 'STO UNSENT', 'STO SENT', 'ALL'] as const;

/** One entry of +CMGL. Header and PDU are one line, so that no unsolicited line comes between them. */
export function listedLine(index: number, message: StoredMessage, port: PortSettings): string {
  if (port.messageFormat === 0) {
    return `+CMGL: ${index},${message.status},,${message.length}\r\n${message.pdu}`;
  }
  const { header, text } = textForm(message, port);
  return `+CMGL: ${index},${header}\r\n${text}`;
}

/** The answer of +CMGR; one line, as above. */
export function readLine(message: StoredMessage, port: PortSettings): string {
  if (port.messageFormat === 0) return `+CMGR: ${message.status},,${message.length}\r\n${message.pdu}`;
  const { header, text } = textForm(message, port);
  return `+CMGR: ${header}\r\n${text}`;
}

interface TextForm {
  header: string;
  text: string;
}

/** A PDU that is neither a valid DELIVER nor a valid SUBMIT shows as hex. */
function textForm(message: StoredMessage, port: PortSettings): TextForm {
  const status = `"${STATUS_NAMES[message.status]}"`;
  try {
    const tpdu = tpduOfLinePdu(message.pdu);
    return ((tpdu[0] ?? 0) & 0x03) === 0 ? deliverForm(tpdu, status, port) : submitForm(tpdu, status, port);
  } catch (error) {
    if (!(error instanceof PduError)) throw error;
    return { header: `${status},"",`, text: message.pdu };
  }
}

function deliverForm(tpdu: Buffer, status: string, port: PortSettings): TextForm {
  const { originator, timestamp, userData } = decodeDeliver(tpdu);
  const from = quoted(addressToText(originator), port);
  const header = `${status},${from},,"${timestampToText(timestamp)}"`;
  const details = port.showsTextHeaders ? `,${originator.typeOfAddress},${userData.length}` : '';
  return { header: header + details, text: shownText(userData, port) };
}

function submitForm(tpdu: Buffer, status: string, port: PortSettings): TextForm {
  const { destination, userData } = decodeSubmit(tpdu);
  const details = port.showsTextHeaders ? `,${destination.typeOfAddress},${userData.length}` : '';
  return {
    header: `${status},${quoted(addressToText(destination), port)},${details}`,
    text: shownText(userData, port),
  };
}
