// The one message of the modem benches: the text for the daemon, and the same as a PDU for the raw loop.

export const BODY = 'Hello world';
/** `BODY` in the 7 bit default alphabet, with its length in front (3GPP TS 23.038 §6.1.2.1). */
const USER_DATA = '0BC8329BFD06DDDF723619';

/**
 * A SUBMIT with a delivery report wanted and a validity of 24 hours, as the daemon makes them, through the service center that the SIM
 * knows (3GPP TS 23.040 §9.2.2.2). `to` in E.164 with its "+".
 */
export function submitPdu(to: string): string {
  const digits = to.slice(1);
  const padded = digits.length % 2 === 0 ? digits : `${digits}F`;
  const swapped = padded.replace(/(.)(.)/g, '$2$1');
  const length = digits.length.toString(16).padStart(2, '0').toUpperCase();
  return `003100${length}91${swapped}0000A7${USER_DATA}`;
}
