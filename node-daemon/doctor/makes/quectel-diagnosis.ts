// The diagnosis of Quectel's EC2x: its PCM, GPS and VoLTE. Source: the AT commands manuals of EC2x.
import { ok, problem, skipped } from '#shared/operator/findings.ts';
import { fieldsOf, integerField } from '../../at/fields.ts';
import type { ModemView } from '../seen/slot-view.ts';
import type { MakeDiagnosis } from './make-diagnosis.ts';

const PCM = 'AT+QDAI?';
const GPS = 'AT+QGPS?';
const GPS_PORT = 'AT+QGPSCFG="outport"';
const IMS = 'AT+QCFG="ims"';
/** Fields of `+QDAI: 1,0,0,5,0,1`: the sixth is 1 for 16 kHz. */
const QDAI_RATE = 5;

/** Returns the value after the name: for `+QCFG: "ims",1,0` it is 1. */
const settingOf = (modem: ModemView, command: string): string | undefined =>
  fieldsOf(modem.lines(command)[0] ?? '')[1];

export const QUECTEL_DIAGNOSIS: MakeDiagnosis = {
  questions: [PCM, GPS, GPS_PORT, IMS],
  audioSettings(modem) {
    const line = modem.line(PCM, '+QDAI:');
    if (line === undefined) return skipped('the modem does not report it (AT+QDAI?)');
    if (integerField(fieldsOf(line), QDAI_RATE) !== 1) return ok('8 kHz');
    return problem(
      '16 kHz instead of 8 kHz: voices sound like noise',
      'Send AT+QDAI=1,0,0,5,0,0 and restart the modem (AT+CFUN=1,1).',
    );
  },
  isVolteOn(modem) {
    const mode = settingOf(modem, IMS);
    // At 0 the carrier's profile (MBN) decides. The second value is that profile's setting.
    if (mode === '0') return fieldsOf(modem.lines(IMS)[0] ?? '')[2] === '1' ? true : undefined;
    return mode === undefined ? undefined : mode === '1';
  },
  volteAdvice:
    'Send AT+QCFG="ims",1 and restart the modem (AT+CFUN=1,1). AT+QMBNCFG="AutoSel",1 selects the carrier’s profile.',
  isGpsApart(modem) {
    if (settingOf(modem, GPS_PORT) === 'none') return true;
    const line = modem.line(GPS, '+QGPS:');
    if (line === undefined) return undefined;
    return integerField(fieldsOf(line), 0) === 0 ? true : undefined;
  },
  gpsAdvice:
    'Send AT+QGPSCFG="outport","none" (or AT+QGPSEND): NMEA sentences use the same port as call audio.',
  loop: {
    on: ['AT+QPCMV=0', 'AT+QPCMV=1,0', 'AT+QAUDLOOP=1'],
    off: ['AT+QAUDLOOP=0', 'AT+QPCMV=0'],
  },
};
