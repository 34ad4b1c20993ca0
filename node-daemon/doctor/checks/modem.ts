// Checks of the modem itself: profile, message storage and clock.
import { ownCommand } from '#shared/process/own-command.ts';
import { fieldsOf, integerField } from '../../at/fields.ts';
import { modelOf } from '../../modem/identity.ts';
import { GENERIC } from '../../modem/profiles/generic.ts';
import { ok, problem, skipped, warning } from '../report/finding.ts';
import { modemCheck, type SlotCheck } from './check.ts';

/** Which modem is it, and is its make known? */
export const profile = modemCheck((modem) => {
  const model = modelOf(modem.text('AT+CGMI'), modem.text('AT+CGMM')) ?? 'a modem that tells no name';
  const firmware = modem.text('AT+CGMR') ?? 'firmware unknown';
  const seen = `${model}, ${firmware}`;
  if (modem.profile !== GENERIC) return ok(`${seen}; profile ${modem.profile.name}`);
  return warning(
    `${seen}; no profile of its own`,
    'messages work as the standard has it; calls are silent unless the slot names its audio_port. A make is added in two files: node-daemon/README.md',
  );
});

const WARNING_SHARE = 0.8;

interface Use {
  readonly memory: string;
  readonly used: number;
  readonly total: number;
}

/** Is there room for messages on SIM and modem? */
export const storage = modemCheck((modem) => {
  const uses = usesOf(modem.line('AT+CPMS?', '+CPMS:') ?? '');
  if (uses.length === 0) return skipped('the modem does not tell (AT+CPMS?)');
  const seen = uses.map(({ memory, used, total }) => `${memory} ${used} of ${total}`).join(', ');
  const share = Math.max(...uses.map(({ used, total }) => used / total));
  const advice = `the daemon empties it as it reads: is it running, its journal writable? What stays is not for it; "${ownCommand('node-daemon')} sms <slot>" shows it`;
  if (share >= 1) return problem(`${seen}: full, messages wait in the network`, advice);
  return share >= WARNING_SHARE ? warning(seen, advice) : ok(seen);
});

/** `+CPMS: "SM",used,total,"ME",used,total,…`: each memory once. */
function usesOf(line: string): Use[] {
  const fields = fieldsOf(line);
  const uses = new Map<string, Use>();
  for (let position = 0; position + 2 < fields.length; position += 3) {
    const memory = fields[position] ?? '';
    const used = integerField(fields, position + 1);
    const total = integerField(fields, position + 2);
    if (used !== undefined && total !== undefined && total > 0) uses.set(memory, { memory, used, total });
  }
  return [...uses.values()];
}

/** Many networks are off by some seconds, and modems keep time badly. */
const DIFFERENCE_MAX_MS = 5 * 60_000;
const QUARTER_HOUR_MS = 15 * 60_000;
/** Clocks that were never set show the eighties, or the year of the firmware: two digits from 70 on are of the last century. */
const YEARS = { min: 24, max: 69 } as const;

/** `+CCLK: "yy/MM/dd,hh:mm:ss±zz"`, zz in quarters of an hour (3GPP TS 27.007 §8.15). */
const CLOCK = /"(\d\d)\/(\d\d)\/(\d\d),(\d\d):(\d\d):(\d\d)([+-]\d\d)?"/;

/** Does the network's time, as the modem has it, agree with this host's? `now` in ms since the Unix epoch. */
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
  // Without a zone the time is unknown.
  if (Number.isNaN(zone) || year < YEARS.min || year > YEARS.max) return undefined;
  return Date.UTC(2000 + year, month - 1, day, hour, minute, second) - zone * QUARTER_HOUR_MS;
}
