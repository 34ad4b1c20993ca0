// How well does the modem hear its network?
import { fieldsOf, integerField } from '../../../at/fields.ts';
import { dbmOf, serviceOf, signalOf } from '../../../modem/network.ts';
import { type Outcome, ok, problem, skipped, warning } from '../../finding.ts';
import { modemCheck } from '../check.ts';
import { registrationOf } from './registration.ts';

/** Received power of a whole channel (+CSQ), and of a resource element of LTE (RSRP), which is less by nature. */
const LIMITS = { RSSI: { weak: -97, bad: -107 }, RSRP: { weak: -112, bad: -122 } } as const;
/** Field of +CESQ. */
const CESQ_RSRP = 5;
const ADVICE =
  'move the antenna, or use a better one: outside, away from other antennas, its plug tight; another carrier may be stronger here';

export const signal = modemCheck((modem) => {
  const isServed = serviceOf(registrationOf(modem)).state === 'registered';
  const rsrp = dbmOf(integerField(fieldsOf(modem.line('AT+CESQ', '+CESQ:') ?? ''), CESQ_RSRP), 'rsrp');
  const rssi = signalOf(modem.line('AT+CSQ', '+CSQ:') ?? '');
  const judged = [judge('RSSI', rssi), judge('RSRP', rsrp)].flatMap((each) => each ?? []);
  const [first] = judged;
  if (first === undefined)
    return isServed
      ? warning('the modem does not tell it', 'is the antenna plugged in?')
      : skipped('not registered');
  const worst =
    judged.find(({ verdict }) => verdict === 'problem') ??
    judged.find(({ verdict }) => verdict === 'warning');
  return { ...(worst ?? first), seen: judged.map(({ seen }) => seen).join(', ') };
});

function judge(kind: keyof typeof LIMITS, dbm: number | null): Outcome | undefined {
  if (dbm === null) return undefined;
  const seen = `${dbm} dBm (${kind})`;
  const { bad, weak } = LIMITS[kind];
  if (dbm <= bad) return problem(seen, ADVICE);
  return dbm <= weak ? warning(seen, ADVICE) : ok(seen);
}
