// Checks of the network: registration, VoLTE and signal.
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
import { type Outcome, ok, problem, skipped, warning } from '../report/finding.ts';
import type { ModemView } from '../seen/modem-view.ts';
import { modemCheck } from './check.ts';

export const REGISTRATION_QUERIES = ['AT+CREG?', 'AT+CGREG?', 'AT+CEREG?'] as const;

const CARRIER = 'ask the carrier: ';
/** By the reason of the slot: see docs/operators/trouble.md. */
const DENIALS: Readonly<Record<string, string>> = {
  denied_unknown_sim: `${CARRIER}the card is not activated, or was closed`,
  denied_illegal_sim: `${CARRIER}the card is not activated, or was closed`,
  denied_imei: `${CARRIER}it does not let this modem in (IMEI)`,
  denied_illegal_modem: `${CARRIER}it does not let this modem in (IMEI)`,
  denied_service: `${CARRIER}the contract lacks this service`,
  denied_plmn:
    'this network does not take the card: has the modem the bands of its own network? AT+COPS=0 has it search again',
  denied_roaming:
    'the contract has no roaming, and only foreign networks are heard: look at bands and antenna',
  denied_area: 'the network does not take it here: look at the antenna, and ask the carrier',
};

/** The registration of all domains. */
function registrationOf(modem: ModemView): Registration {
  const lines = REGISTRATION_QUERIES.flatMap((command) => modem.lines(command));
  return Object.assign({}, ...lines.map((line) => parseRegistration(line) ?? {}));
}

/** Is the SIM in service? */
export const registration = modemCheck((modem) => {
  if (modem.line('AT+CPIN?', '+CPIN: READY') === undefined) return skipped('the SIM is not open');
  const service = serviceOf(registrationOf(modem), modem.lines('AT+CEER')[0]);
  const operator = operatorOf(modem.line('AT+COPS?', '+COPS:') ?? '') ?? 'unknown network';
  if (service.state === 'registered') {
    if (service.reason === null) return ok(`registered, ${operator}`);
    return warning(
      `roaming, ${operator}`,
      'messages and calls may cost more, and may not come: is the home network heard here?',
    );
  }
  if (service.state === 'denied') return denied(service.reason ?? 'denied');
  return searching(modem, service.reason ?? 'searching');
});

function denied(reason: string): Outcome {
  const cause = /^denied_cause_(\d+)$/.exec(reason)?.[1];
  const seen = `the network refuses it${cause === undefined ? `: ${reason.replace(/^denied_?/, '').replaceAll('_', ' ') || 'no cause told'}` : `, cause ${cause}`}`;
  return problem(
    seen,
    DENIALS[reason] ??
      `${CARRIER}is the card activated and paid? A prepaid card closes after months without use`,
  );
}

function searching(modem: ModemView, reason: string): Outcome {
  const level = integerField(fieldsOf(modem.line('AT+CFUN?', '+CFUN:') ?? ''), 0);
  if (level !== undefined && level !== 1)
    return problem(
      `the radio is off (AT+CFUN is ${level})`,
      'AT+CFUN=1; the daemon does it when it opens the modem',
    );
  if (reason === 'emergency_only')
    return problem('emergency calls only', `${CARRIER}is the card activated? Try it in a telephone`);
  return problem(
    reason === 'no_coverage' ? 'no coverage' : 'searches for a network',
    'look at the antenna and its plug; try the card in a telephone at this place; AT+COPS=0 has it choose by itself',
  );
}

/** Registered at home or abroad, for more than messages (3GPP TS 27.007 §7.2). */
const SERVED = new Set([1, 5]);
const LTE = new Set([1, 5, 6, 7, 9, 10]);

/** Can the SIM make calls? One for VoLTE alone is refused by 2G and 3G for ever. */
export const volte = modemCheck((modem) => {
  const registration = registrationOf(modem);
  if (has(registration, 'CREG', SERVED)) return ok('2G or 3G, or LTE with its calls');
  if (!has(registration, 'CEREG', LTE)) return skipped('not registered');
  const { isVolteOn, volteAdvice } = diagnosisOf(modem.profile);
  const isOn = isVolteOn(modem);
  const seen = 'registered in LTE alone: 2G and 3G refuse it (VoLTE-only SIM, or a network without them)';
  if (isOn === true) return ok(`${seen}; VoLTE is on`);
  const advice = `messages work, calls need VoLTE: ${volteAdvice}`;
  return isOn === false ? problem(`${seen}; VoLTE is off`, advice) : warning(seen, advice);
});

const has = (registration: Registration, domain: 'CREG' | 'CEREG', stats: ReadonlySet<number>): boolean =>
  stats.has(registration[domain]?.stat ?? -1);

/** Received power of a whole channel (+CSQ), and of a resource element of LTE (RSRP), which is less by nature. */
const LIMITS = { RSSI: { weak: -97, bad: -107 }, RSRP: { weak: -112, bad: -122 } } as const;
/** Field of +CESQ. */
const CESQ_RSRP = 5;
const ADVICE =
  'move the antenna, or use a better one: outside, away from other antennas, its plug tight; another carrier may be stronger here';

/** How well does the modem hear its network? */
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
