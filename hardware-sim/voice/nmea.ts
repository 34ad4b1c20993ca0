// A sentence of the GNSS receiver (NMEA 0183).

/** With its line end. */
export function nmeaSentence(atMs: number): string {
  const time = new Date(atMs).toISOString().slice(11, 22).replaceAll(':', '');
  const body = `GPGGA,${time},4736.37,N,12219.92,W,1,08,0.9,56.0,M,-17.2,M,,`;
  const checksum = [...body].reduce((sum, character) => sum ^ character.charCodeAt(0), 0);
  return `$${body}*${checksum.toString(16).toUpperCase().padStart(2, '0')}\r\n`;
}
