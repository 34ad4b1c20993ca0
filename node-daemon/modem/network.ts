// Registration, operator and signal: what the modem's lines say (3GPP TS 27.007 §7.2, §7.3, §8.5). Pure.
import type { SlotState } from '#shared/link/messages.ts';
import { fieldsOf, integerField } from '../at/fields.ts';

/** +CREG: circuit switched; +CGREG: packet switched; +CEREG: LTE. */
export type RegistrationDomain = 'CREG' | 'CGREG' | 'CEREG';
/** All domains, in the order in which they are asked. */
export const REGISTRATION_DOMAINS: readonly RegistrationDomain[] = ['CREG', 'CEREG', 'CGREG'];

/** <stat> of each domain that has told one. */
export type Registration = Partial<Record<RegistrationDomain, number>>;

/** Home, roaming, and both restricted to SMS or without CS fall-back. */
const REGISTERED = new Set([1, 5, 6, 7, 9, 10]);
const SEARCHING = 2;
const DENIED = 3;

/** Matches `+CREG: <n>,<stat>…`, the answer to the query; a URC has quotes or 4 digits there. */
export const REGISTRATION_ANSWER = /^\+(CREG|CGREG|CEREG): ?\d, ?(\d{1,2})(?:,|$)/;
const REGISTRATION_URC = /^\+(CREG|CGREG|CEREG): ?(\d{1,2})(?:,|$)/;

/** The domain and <stat> of an answer or a URC; `undefined` for any other line. */
export function parseRegistration(line: string): Registration | undefined {
  const match = REGISTRATION_ANSWER.exec(line) ?? REGISTRATION_URC.exec(line);
  return match === null ? undefined : { [match[1] as RegistrationDomain]: Number(match[2]) };
}

/**
 * The state of a slot whose SIM is open. One registered domain is enough: a SIM without CS service says
 * +CREG: 0,3 for ever while +CEREG is 1 and messages pass. Observed: VoLTE-only SIMs.
 */
export function slotStateOf(
  registration: Registration,
): Extract<SlotState, 'registered' | 'searching' | 'denied'> {
  const stats = Object.values(registration);
  if (stats.some((stat) => REGISTERED.has(stat))) return 'registered';
  return stats.includes(DENIED) && !stats.includes(SEARCHING) ? 'denied' : 'searching';
}

/** dBm of an answer to AT+CSQ; null when the modem does not know it. */
export function signalOf(line: string): number | null {
  const rssi = integerField(fieldsOf(line), 0);
  return rssi !== undefined && rssi >= 0 && rssi <= 31 ? -113 + 2 * rssi : null;
}

/** The operator in an answer to AT+COPS?; null when there is none. */
export function operatorOf(line: string): string | null {
  const operator = fieldsOf(line)[2]?.slice(0, 64);
  return operator === undefined || operator === '' ? null : operator;
}
