// Is the SIM in service?
import { fieldsOf, integerField } from '../../../at/fields.ts';
import { operatorOf, parseRegistration, type Registration, serviceOf } from '../../../modem/network.ts';
import { type Outcome, ok, problem, skipped, warning } from '../../finding.ts';
import type { ModemView } from '../../modem/modem-view.ts';
import { modemCheck } from '../check.ts';

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

/** What all domains say. */
export function registrationOf(modem: ModemView): Registration {
  const lines = REGISTRATION_QUERIES.flatMap((command) => modem.lines(command));
  return Object.assign({}, ...lines.map((line) => parseRegistration(line) ?? {}));
}

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
