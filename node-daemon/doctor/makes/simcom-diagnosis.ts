// The diagnosis of SIMCom's SIM7600: its sample rate. Sources: the SIM7500_SIM7600 AT command manual, reports of users.
import { ok, skipped, warning } from '#shared/operator/findings.ts';
import { fieldsOf, integerField } from '../../at/fields.ts';
import { GENERIC_DIAGNOSIS, type MakeDiagnosis } from './make-diagnosis.ts';

const BANDWIDTH = 'AT+CPCMBANDWIDTH?';
const FRAME = 'AT+CPCMFRM?';
/** In <volte>,<non-volte>, 0 is 16 kHz and the default of the first. */
const WIDE = 0;

export const SIMCOM_DIAGNOSIS: MakeDiagnosis = {
  ...GENERIC_DIAGNOSIS,
  questions: [BANDWIDTH, FRAME],
  audioSettings(modem) {
    const line = modem.line(BANDWIDTH, '+CPCMBANDWIDTH:');
    const frame = modem.line(FRAME, '+CPCMFRM:');
    const advice = 'Send AT+CPCMBANDWIDTH=1,1 for 8 kHz. After AT+CPCMFRM=1, restart the modem (AT+CRESET).';
    if (frame !== undefined && integerField(fieldsOf(frame), 0) === 1)
      return warning('16 kHz (AT+CPCMFRM): programs that expect 8 kHz get noise', advice);
    if (line === undefined) return skipped('the modem does not report it (AT+CPCMBANDWIDTH?)');
    const rates = fieldsOf(line).slice(0, 2);
    if (!rates.map(Number).includes(WIDE)) return ok('8 kHz');
    const calls = Number(rates[0]) === WIDE ? 'calls over VoLTE' : 'calls over 2G and 3G';
    return warning(
      `16 kHz in ${calls}: the daemon detects it, but programs that expect 8 kHz get noise`,
      advice,
    );
  },
  volteAdvice:
    'Ask the carrier whether SIM7600 modems may use VoLTE, and update the firmware. Otherwise use a SIM that may use 2G or 3G.',
};
