// Reads the modem's lines about registration, operator and signal (3GPP TS 27.007 §7.2, §7.3, §8.5, §8.69). Pure.
import { fieldsOf, integerField } from '../../at/fields.ts';
import type { RegistrationDomain, SignalScale } from '../../profiles/profile.ts';

/** The registration in one domain. */
interface DomainRegistration {
  readonly stat: number;
  /** Location or tracking area, cell and technology as the modem sent them, for comparison only. */
  readonly place: string;
  /** 5GMM, EMM, GMM or MM cause of the last rejection (3GPP TS 24.008 annex G, 24.301 annex A). */
  readonly cause?: number;
}

/** The registration by domain, for domains that reported it. */
export type Registration = Partial<Record<RegistrationDomain, DomainRegistration>>;

/** Matches `+CREG: <n>,<stat>…`, the answer to the query. A URC has quotes, letters or nothing there. */
export const REGISTRATION_ANSWER = /^\+(CREG|CGREG|CEREG|C5GREG): ?[0-5], ?(?:\d|1[01])(?:,|$)/;
const REGISTRATION = /^\+(CREG|CGREG|CEREG|C5GREG): ?(?:\d|1[01])(?:,|$)/;

/** Fields between <stat> and <cause_type>: area, cell, technology. +CGREG also has the routing area. */
const PLACE_FIELDS: Record<RegistrationDomain, number> = { CREG: 3, CGREG: 4, CEREG: 3, C5GREG: 5 };
/** <cause_type>: a cause of the standard. 1 means a cause of the manufacturer. */
const CAUSE_OF_STANDARD = 0;

/** Returns the registration in an answer or a URC; `undefined` for any other line. */
export function parseRegistration(line: string): Registration | undefined {
  const domain = REGISTRATION.exec(line)?.[1] as RegistrationDomain | undefined;
  if (domain === undefined) return undefined;
  const fields = fieldsOf(line).slice(REGISTRATION_ANSWER.test(line) ? 1 : 0);
  const placeEnd = 1 + PLACE_FIELDS[domain];
  const isStandard = integerField(fields, placeEnd) === CAUSE_OF_STANDARD;
  const cause = isStandard ? integerField(fields, placeEnd + 1) : undefined;
  return {
    [domain]: {
      stat: integerField(fields, 0) ?? 0,
      place: fields.slice(1, placeEnd).join(','),
      ...(cause === undefined ? {} : { cause }),
    },
  };
}

/** The service of a SIM, as in the slot. */
export interface Service {
  readonly state: 'registered' | 'searching' | 'denied';
  /** `roaming`, or the reason why there is no service; null at home. */
  readonly reason: string | null;
  /** Whether the network refuses this SIM or modem, so that no recovery step helps. */
  readonly isHopeless: boolean;
}

/** Values at home, including SMS only and without CS fallback; then the same while roaming. */
const AT_HOME = new Set([1, 6, 9]);
const ROAMING = new Set([5, 7, 10]);
const SEARCHING = 2;
const DENIED = 3;
const WITHOUT_SERVICE: Readonly<Record<number, string>> = {
  0: 'not_searching',
  2: 'searching',
  4: 'no_coverage',
  8: 'emergency_only',
  11: 'emergency_only',
};

/** Causes of 3GPP TS 24.008 annex G and 24.301 annex A: the word for each, and whether it concerns the SIM or the modem. */
const CAUSES: ReadonlyMap<
  number,
  { readonly word: string; readonly isHopeless: boolean; readonly text: RegExp }
> = new Map([
  [2, { word: 'unknown_sim', isHopeless: true, text: /imsi unknown/i }],
  [3, { word: 'illegal_sim', isHopeless: true, text: /illegal (ms|ue)\b/i }],
  [5, { word: 'imei', isHopeless: true, text: /imei not accepted/i }],
  [6, { word: 'illegal_modem', isHopeless: true, text: /illegal me\b/i }],
  [7, { word: 'service', isHopeless: true, text: /(gprs|eps) services not allowed$/i }],
  [8, { word: 'service', isHopeless: true, text: /and non-?(gprs|eps) services not allowed/i }],
  [11, { word: 'plmn', isHopeless: true, text: /^plmn not allowed/i }],
  [12, { word: 'area', isHopeless: false, text: /(location|tracking) area not allowed/i }],
  [13, { word: 'roaming', isHopeless: true, text: /roaming not allowed/i }],
  [14, { word: 'service_in_plmn', isHopeless: true, text: /services not allowed in this plmn/i }],
  [15, { word: 'no_cells', isHopeless: false, text: /no suitable cells/i }],
  [17, { word: 'network_failure', isHopeless: false, text: /network failure/i }],
  [22, { word: 'congestion', isHopeless: false, text: /congestion/i }],
]);

/**
 * Returns the service of a registration. One registered domain is enough: a SIM without CS service keeps +CREG: 0,3 while +CEREG is 1
 * and messages work. Observed: VoLTE-only SIMs. `ceerText` is the text of AT+CEER, if the daemon asked for it.
 */
export function serviceOf(registration: Registration, ceerText = ''): Service {
  const domains = Object.values(registration);
  const has = (stats: ReadonlySet<number>): boolean => domains.some(({ stat }) => stats.has(stat));
  if (has(AT_HOME)) return { state: 'registered', reason: null, isHopeless: false };
  if (has(ROAMING)) return { state: 'registered', reason: 'roaming', isHopeless: false };
  const denials = domains.filter(({ stat }) => stat === DENIED);
  if (denials.length > 0 && !domains.some(({ stat }) => stat === SEARCHING)) {
    const cause = denials.find((denial) => denial.cause !== undefined)?.cause ?? causeIn(ceerText);
    return { state: 'denied', ...denialOf(cause) };
  }
  const worst = Math.max(...domains.map(({ stat }) => (stat === SEARCHING ? 99 : stat)), 0);
  return {
    state: 'searching',
    reason: WITHOUT_SERVICE[worst === 99 ? SEARCHING : worst] ?? null,
    isHopeless: false,
  };
}

function denialOf(cause: number | undefined): Pick<Service, 'reason' | 'isHopeless'> {
  if (cause === undefined) return { reason: 'denied', isHopeless: false };
  const known = CAUSES.get(cause);
  if (known === undefined) return { reason: `denied_cause_${cause}`, isHopeless: false };
  return { reason: `denied_${known.word}`, isHopeless: known.isHopeless };
}

/** Returns the cause in a text of AT+CEER, whose form depends on the maker (3GPP TS 27.007 §6.10). */
function causeIn(text: string): number | undefined {
  const report = text
    .replace(/^\+CEER: ?/, '')
    .replaceAll('"', '')
    .trim();
  for (const [cause, known] of CAUSES) if (known.text.test(report)) return cause;
  return undefined;
}

const SCALES: Readonly<
  Record<SignalScale, { readonly max: number; readonly base: number; readonly step: number }>
> = {
  rssi: { max: 31, base: -113, step: 2 },
  rxlev: { max: 63, base: -111, step: 1 },
  rscp: { max: 96, base: -121, step: 1 },
  rsrp: { max: 97, base: -141, step: 1 },
  dbm: { max: -1, base: 0, step: 1 },
};
/** Below the sensitivity of any radio. */
const DBM_MIN = -150;

/** Returns a value in dBm; null if it means "unknown" or is not on the scale. */
export function dbmOf(value: number | undefined, scale: SignalScale): number | null {
  const { base, max, step } = SCALES[scale];
  if (value === undefined || value > max) return null;
  if (scale === 'dbm') return value >= DBM_MIN ? value : null;
  return value < 0 ? null : base + step * value;
}

/** Returns the dBm of an answer to AT+CSQ; null if unknown. */
export function signalOf(line: string): number | null {
  return dbmOf(integerField(fieldsOf(line), 0), 'rssi');
}

/** Returns the dBm of the current technology from an answer to AT+CESQ; null if there is none. */
export function extendedSignalOf(line: string): number | null {
  const fields = fieldsOf(line);
  const rxlev = dbmOf(integerField(fields, 0), 'rxlev');
  const rscp = dbmOf(integerField(fields, 2), 'rscp');
  return rxlev ?? rscp ?? dbmOf(integerField(fields, 5), 'rsrp');
}

/** Returns the operator in an answer to AT+COPS?; null if there is none. */
export function operatorOf(line: string): string | null {
  const operator = fieldsOf(line)[2]?.slice(0, 64);
  return operator === undefined || operator === '' ? null : operator;
}
