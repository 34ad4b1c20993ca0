// A row of numbers as a picture of one line. Pure.

const BARS = '▁▂▃▄▅▆▇█';
/** The range of +CSQ (3GPP TS 27.007 §8.5): the lowest and the highest bar. */
const WEAKEST_DBM = -113;
const STRONGEST_DBM = -51;

/** A bar for each signal in dBm; a blank where there was none. */
export const sparkline = (signals: readonly (number | null)[]): string =>
  signals.map((signal) => (signal === null ? ' ' : barOf(signal))).join('');

function barOf(signal: number): string {
  const share = (signal - WEAKEST_DBM) / (STRONGEST_DBM - WEAKEST_DBM);
  const position = Math.round(share * (BARS.length - 1));
  return BARS.charAt(Math.max(0, Math.min(BARS.length - 1, position)));
}
