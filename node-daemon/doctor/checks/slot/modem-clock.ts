// Does the network's time, as the modem has it, agree with this host's?
import { ok, skipped, warning } from '../../finding.ts';
import { modemCheck, type SlotCheck } from '../check.ts';

/** Many networks are off by some seconds, and modems keep time badly. */
const DIFFERENCE_MAX_MS = 5 * 60_000;
const QUARTER_HOUR_MS = 15 * 60_000;
/** Clocks that were never set show the eighties, or the year of the firmware: two digits from 70 on are of the last century. */
const YEARS = { min: 24, max: 69 } as const;

/** `+CCLK: "yy/MM/dd,hh:mm:ss±zz"`, zz in quarters of an hour (3GPP TS 27.007 §8.15). */
const CLOCK = /"(\d\d)\/(\d\d)\/(\d\d),(\d\d):(\d\d):(\d\d)([+-]\d\d)?"/;

/** `now` in ms since the Unix epoch. */
export const modemClockAt = (now: () => number): SlotCheck =>
  modemCheck((modem) => {
    const at = timeIn(modem.line('AT+CCLK?', '+CCLK:') ?? '');
    if (at === undefined) return skipped('the network gives the modem no time');
    const minutes = Math.round((at - now()) / 60_000);
    if (Math.abs(at - now()) <= DIFFERENCE_MAX_MS) return ok('as that of this host');
    return warning(
      `${Math.abs(minutes)} minutes ${minutes < 0 ? 'behind' : 'ahead of'} this host`,
      'one of the two is wrong: compare "date" with the time; messages carry that of the network',
    );
  });

function timeIn(line: string): number | undefined {
  const parts = CLOCK.exec(line)?.slice(1).map(Number);
  if (parts === undefined) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, zone = Number.NaN] = parts;
  // Without a zone it is anybody's guess.
  if (Number.isNaN(zone) || year < YEARS.min || year > YEARS.max) return undefined;
  return Date.UTC(2000 + year, month - 1, day, hour, minute, second) - zone * QUARTER_HOUR_MS;
}
