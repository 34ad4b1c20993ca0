// Decodes time stamps of the service center (3GPP TS 23.040 §9.2.3.11): seven octets of swapped digits.

/** Length of a time stamp field. */
export const TIMESTAMP_OCTETS = 7;
/** Zones range from UTC-12 to UTC+14. Any other value is invalid. */
const OFFSET_MINUTES_MAX = 14 * 60;

/**
 * Decodes a time stamp to ISO 8601 with its zone, such as `2026-11-21T08:30:00-05:00`. Returns `null` for an invalid one, which some
 * service centers send.
 */
export function decodeTimestamp(octets: Uint8Array): string | null {
  const [year, month, day, hour, minute, second] = [...octets.subarray(0, 6)].map(swappedDigits);
  const zone = octets[6];
  if (year === undefined || month === undefined || day === undefined) return null;
  if (hour === undefined || minute === undefined || second === undefined || zone === undefined) return null;
  const quarters = swappedDigits(zone & ~ZONE_SIGN);
  if (quarters === undefined || quarters * 15 > OFFSET_MINUTES_MAX) return null;
  const local = `20${two(year)}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}`;
  if (!isDate(local)) return null;
  const sign = zone & ZONE_SIGN ? '-' : '+';
  return `${local}${sign}${two(Math.floor(quarters / 4))}:${two((quarters % 4) * 15)}`;
}

/** The sign: "the first bit" of the zone's first digit, which is in the low semi-octet. */
const ZONE_SIGN = 0x08;

function swappedDigits(octet: number): number | undefined {
  const tens = octet & 0x0f;
  const ones = octet >> 4;
  return tens <= 9 && ones <= 9 ? tens * 10 + ones : undefined;
}

/** Returns whether the calendar has this second. `Date` would turn February 30 into March. */
function isDate(local: string): boolean {
  const date = new Date(`${local}Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(local);
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
