// TP-Service-Centre-Time-Stamp (3GPP TS 23.040 §9.2.3.11).
import { swappedDigits } from './octets.ts';

const QUARTER_HOUR_MS = 15 * 60_000;

/** Seven octets of local time; `offsetQuarterHours` from UTC, -95 to 95. */
export function encodeTimestamp(atMs: number, offsetQuarterHours: number): Buffer {
  const local = new Date(atMs + offsetQuarterHours * QUARTER_HOUR_MS);
  const sign = offsetQuarterHours < 0 ? 0x08 : 0;
  return Buffer.from([
    swappedDigits(local.getUTCFullYear() % 100),
    swappedDigits(local.getUTCMonth() + 1),
    swappedDigits(local.getUTCDate()),
    swappedDigits(local.getUTCHours()),
    swappedDigits(local.getUTCMinutes()),
    swappedDigits(local.getUTCSeconds()),
    swappedDigits(Math.abs(offsetQuarterHours)) | sign,
  ]);
}

/** As text mode prints it: "yy/MM/dd,hh:mm:ss±zz" (3GPP TS 27.005 §3.1, parameter `<scts>`). */
export function timestampToText(octets: Uint8Array): string {
  const [year, month, day, hour, minute, second] = [...octets.subarray(0, 6)].map(unswappedDigits);
  const zone = octets[6] ?? 0;
  const sign = (zone & 0x08) === 0 ? '+' : '-';
  return `${year}/${month}/${day},${hour}:${minute}:${second}${sign}${unswappedDigits(zone & 0xf7)}`;
}

function unswappedDigits(octet: number): string {
  return `${octet & 0x0f}${octet >> 4}`;
}
