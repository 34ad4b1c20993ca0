// The diagnosis of Huawei's sticks: is voice unlocked? Sources: chan_dongle, the Huawei datacard AT command interface specification.
import { ok, problem, skipped } from '#shared/operator/findings.ts';
import { fieldsOf, integerField } from '../../at/fields.ts';
import { GENERIC_DIAGNOSIS, type MakeDiagnosis } from './make-diagnosis.ts';

const VOICE = 'AT^CVOICE?';
/** `^CVOICE:0,8000,16,20`: open, Hz, bits, ms. */
const OPEN = 0;
const RATE_HZ = 8_000;

export const HUAWEI_DIAGNOSIS: MakeDiagnosis = {
  ...GENERIC_DIAGNOSIS,
  questions: [VOICE],
  audioSettings(modem) {
    const line = modem.line(VOICE, '^CVOICE:');
    if (line === undefined) return skipped('the modem does not report it (AT^CVOICE?)');
    const [state, rateHz] = [0, 1].map((position) => integerField(fieldsOf(line), position));
    if (state !== OPEN)
      return problem(
        'voice is locked in this stick',
        'Unlock voice with AT^CVOICE=0, if the firmware supports it. Or use the stick for messages only.',
      );
    if (rateHz !== undefined && rateHz !== RATE_HZ)
      return problem(
        `${rateHz} Hz, but the daemon needs 8 kHz`,
        'Use another firmware. This one does not work for calls.',
      );
    return ok('8 kHz, voice is unlocked');
  },
  isVolteOn: () => false,
  volteAdvice:
    'These sticks support 2G and 3G only: use a SIM and a network that have them, or another modem.',
};
