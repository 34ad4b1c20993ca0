// Can the SIM make calls? One for VoLTE alone is refused by 2G and 3G for ever.
import type { Registration } from '../../../modem/network.ts';
import { ok, problem, skipped, warning } from '../../finding.ts';
import { diagnosisOf } from '../../makes/find-diagnosis.ts';
import { modemCheck } from '../check.ts';
import { registrationOf } from './registration.ts';

/** Registered at home or abroad, for more than messages (3GPP TS 27.007 §7.2). */
const SERVED = new Set([1, 5]);
const LTE = new Set([1, 5, 6, 7, 9, 10]);

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
