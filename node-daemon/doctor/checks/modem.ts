// Checks of the modem itself: profile, message storage and clock.
import { ok, problem, skipped, warning } from '#shared/operator/findings.ts';
import { ownCommand } from '#shared/process/own-command.ts';
import { fieldsOf, integerField } from '../../at/fields.ts';
import { modelOf } from '../../modem/identity.ts';
import { GENERIC } from '../../profiles/generic.ts';
import { modemCheck, type SlotCheck } from './check.ts';

/** Which modem is it, and is its make known? */
export const profile = modemCheck((modem) => {
  const model = modelOf(modem.text('AT+CGMI'), modem.text('AT+CGMM')) ?? 'unknown model';
  const firmware = modem.text('AT+CGMR') ?? 'unknown firmware';
  const seen = `${model}, ${firmware}`;
  if (modem.profile !== GENERIC) return ok(`${seen}; profile ${modem.profile.name}`);
  return warning(
    `${seen}; this make has no profile`,
    'Messages work as the standard defines. Set audio_port in the slot, or calls are silent. To add a make, see node-daemon/README.md.',
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
  if (uses.length === 0) return skipped('the modem does not report it (AT+CPMS?)');
  const seen = uses.map(({ memory, used, total }) => `${memory} ${used} of ${total}`).join(', ');
  const share = Math.max(...uses.map(({ used, total }) => used / total));
  const advice = `Check that the daemon runs and can write its journal: it deletes each message that it has read. "${ownCommand('node-daemon')} sms <slot>" shows the messages that remain.`;
  if (share >= 1) return problem(`${seen}: full, so messages wait in the network`, advice);
  return share >= WARNING_SHARE ? warning(seen, advice) : ok(seen);
});

/** Reads `+CPMS: "SM",used,total,"ME",used,total,…`. Returns each memory once. */
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

/** The time of many networks is wrong by some seconds, and modem clocks drift. */
const DIFFERENCE_MAX_MS = 5 * 60_000;
const QUARTER_HOUR_MS = 15 * 60_000;
/** Clocks that were never set show the eighties, or the year of the firmware: two digits from 70 on are of the last century. */
const YEARS = { min: 24, max: 69 } as const;

/** `+CCLK: "yy/MM/dd,hh:mm:ss±zz"`, zz in quarters of an hour (3GPP TS 27.007 §8.15). */
const CLOCK = /"(\d\d)\/(\d\d)\/(\d\d),(\d\d):(\d\d):(\d\d)([+-]\d\d)?"/;

/** Does the network's time in the modem agree with this host's? `now`: in ms since the Unix epoch. */
export const modemClockAt = (now: () => number): SlotCheck =>
  modemCheck((modem) => {
    const at = timeIn(modem.line('AT+CCLK?', '+CCLK:') ?? '');
    if (at === undefined) return skipped('the network did not send the modem its time');
    const minutes = Math.round((at - now()) / 60_000);
    if (Math.abs(at - now()) <= DIFFERENCE_MAX_MS) return ok('agrees with this host');
    return warning(
      `${Math.abs(minutes)} minutes ${minutes < 0 ? 'behind' : 'ahead of'} this host`,
      'Compare "date" with the real time to see which one is wrong. Messages carry the time of the network.',
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
