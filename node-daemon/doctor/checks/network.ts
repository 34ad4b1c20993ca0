// Checks of the network: registration, VoLTE and signal.
import { shownCarrier } from '#shared/carriers/carrier-name.ts';
import { type Outcome, ok, problem, skipped, warning } from '#shared/operator/findings.ts';
import { NODE_ALARMS } from '#shared/operator/node-alarms.ts';
import { reasonAdvice, reasonWords } from '#shared/operator/slot-reasons.ts';
import { fieldsOf, integerField } from '../../at/fields.ts';
import {
  dbmOf,
  operatorOf,
  parseRegistration,
  type Registration,
  serviceOf,
  signalOf,
} from '../../modem/network/network.ts';
import { diagnosisOf } from '../makes/find-diagnosis.ts';
import type { ModemView } from '../seen/slot-view.ts';
import { modemCheck } from './check.ts';

export const REGISTRATION_QUERIES = ['AT+CREG?', 'AT+CGREG?', 'AT+CEREG?'] as const;

const CARRIER = 'Ask the carrier: ';

/** The registration of all domains. */
function registrationOf(modem: ModemView): Registration {
  const lines = REGISTRATION_QUERIES.flatMap((command) => modem.lines(command));
  return Object.assign({}, ...lines.map((line) => parseRegistration(line) ?? {}));
}

/** Is the SIM in service? */
export const registration = modemCheck((modem, { slot }) => {
  if (modem.line('AT+CPIN?', '+CPIN: READY') === undefined) return skipped('the SIM card is not ready');
  const service = serviceOf(registrationOf(modem), modem.lines('AT+CEER')[0]);
  const operator = operatorOf(modem.line('AT+COPS?', '+COPS:') ?? '') ?? 'unknown network';
  const carrier = shownCarrier(operator);
  if (service.state === 'registered') {
    const { advice, means } = NODE_ALARMS.journal_unavailable;
    if (slot?.state === 'journal_unavailable')
      return problem(`registered, ${carrier}, but not in service: ${means}`, advice);
    if (service.reason === null) return ok(`registered, ${carrier}`);
    return warning(
      `roaming, ${carrier}`,
      'Check whether the home network has coverage here. Roaming messages and calls may cost more or not arrive.',
    );
  }
  if (service.state === 'denied') return denied(service.reason ?? 'denied');
  return searching(modem, service.reason ?? 'searching');
});

function denied(reason: string): Outcome {
  return problem(
    `the network refuses the SIM card: ${reason === 'denied' ? 'no cause given' : `${reasonWords(reason)} (${reason})`}`,
    reasonAdvice(reason) ??
      `${CARRIER}is the SIM card activated and paid? A prepaid card expires after months without use.`,
  );
}

function searching(modem: ModemView, reason: string): Outcome {
  const level = integerField(fieldsOf(modem.line('AT+CFUN?', '+CFUN:') ?? ''), 0);
  if (level !== undefined && level !== 1)
    return problem(
      `the radio is off (AT+CFUN is ${level})`,
      'Send AT+CFUN=1, or restart the daemon: it turns the radio on when it opens the modem.',
    );
  if (reason === 'emergency_only')
    return problem('emergency calls only', `${CARRIER}is the SIM card activated? Also try it in a phone.`);
  return problem(
    reason === 'no_coverage' ? 'no coverage' : 'searching for a network',
    'Check the antenna and its connector. Try the SIM card in a phone at this place. AT+COPS=0 selects the network automatically.',
  );
}

/** Registered, at home or roaming, and not for SMS only (3GPP TS 27.007 §7.2). */
const SERVED = new Set([1, 5]);
const LTE = new Set([1, 5, 6, 7, 9, 10]);

/** Can the SIM make calls? 2G and 3G never accept a VoLTE-only SIM. */
export const volte = modemCheck((modem) => {
  const registration = registrationOf(modem);
  if (has(registration, 'CREG', SERVED)) return ok('not needed: registered for calls');
  if (!has(registration, 'CEREG', LTE)) return skipped('not registered');
  const { isVolteOn, volteAdvice } = diagnosisOf(modem.profile);
  const isOn = isVolteOn(modem);
  const seen = 'registered in LTE only, not in 2G or 3G (VoLTE-only SIM, or a network without 2G and 3G)';
  if (isOn === true) return ok(`${seen}; VoLTE is on`);
  const advice = `Messages work, but calls need VoLTE. ${volteAdvice}`;
  return isOn === false ? problem(`${seen}; VoLTE is off`, advice) : warning(seen, advice);
});

const has = (registration: Registration, domain: 'CREG' | 'CEREG', stats: ReadonlySet<number>): boolean =>
  stats.has(registration[domain]?.stat ?? -1);

/** Received power of a whole channel (+CSQ), and of a resource element of LTE (RSRP), which is less by nature. */
const LIMITS = { RSSI: { weak: -97, bad: -107 }, RSRP: { weak: -112, bad: -122 } } as const;
/** Field of +CESQ. */
const CESQ_RSRP = 5;
const ADVICE =
  'Tighten the antenna’s connector. Move the antenna outside and away from other antennas, or use a better one. Another carrier may be stronger here.';

/** How well does the modem hear its network? */
export const signal = modemCheck((modem) => {
  const isServed = serviceOf(registrationOf(modem)).state === 'registered';
  const rsrp = dbmOf(integerField(fieldsOf(modem.line('AT+CESQ', '+CESQ:') ?? ''), CESQ_RSRP), 'rsrp');
  const rssi = signalOf(modem.line('AT+CSQ', '+CSQ:') ?? '');
  const judged = [judge('RSSI', rssi), judge('RSRP', rsrp)].flatMap((each) => each ?? []);
  const [first] = judged;
  if (first === undefined)
    return isServed
      ? warning('the modem does not report it', 'Check that the antenna is plugged in.')
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
