// A PDU as it stands on the line: service centre address, then the TPDU (3GPP TS 27.005 §3.1, `<pdu>`).
import { encodeSemiOctets, TYPE_INTERNATIONAL } from './address.ts';
import { hexFromOctets, octetsFromHex, PduError } from './octets.ts';

/** 3GPP TS 24.011 §8.2.5.2: an RP address has at most 11 octets behind its length. */
const SERVICE_CENTRE_OCTETS_MAX = 11;

/** Hex of the service centre address and the TPDU. `serviceCentre` is E.164. */
export function linePduOf(serviceCentre: string, tpdu: Buffer): string {
  const digits = encodeSemiOctets(serviceCentre.replace('+', ''));
  const head = Buffer.from([digits.length + 1, TYPE_INTERNATIONAL]);
  return hexFromOctets(Buffer.concat([head, digits, tpdu]));
}

/** The TPDU behind the service centre address, whatever length that has. Throws `PduError`. */
export function tpduOfLinePdu(hex: string): Buffer {
  const octets = octetsFromHex(hex);
  const addressLength = octets[0];
  if (addressLength === undefined) throw new PduError('PDU is empty');
  if (addressLength > SERVICE_CENTRE_OCTETS_MAX) throw new PduError('service centre address is too long');
  if (octets.length <= 1 + addressLength) throw new PduError('PDU ends in the service centre address');
  return octets.subarray(1 + addressLength);
}
