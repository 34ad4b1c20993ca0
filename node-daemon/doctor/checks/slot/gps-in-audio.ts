// Do the sentences of a GPS receiver come out of the audio port?
import { ok, problem, skipped } from '../../finding.ts';
import { diagnosisOf } from '../../makes/find-diagnosis.ts';
import { modemCheck } from '../check.ts';

/** NMEA 0183: a talker of two letters, a sentence of three, fields. */
const NMEA = /\$(?:G[A-Z]|P[A-Z]|BD)[A-Z]{3},/;

export const gpsInAudio = modemCheck((modem, { audio }) => {
  const { gpsAdvice, isGpsApart } = diagnosisOf(modem.profile);
  if (audio.kind === 'heard') {
    if (NMEA.test(Buffer.from(audio.octets).toString('latin1')))
      return problem('GPS text (NMEA) comes out of the audio port: clicks in every call', gpsAdvice);
    return ok('nothing came out of the port without a call');
  }
  return isGpsApart(modem) === true ? ok('no GPS text goes to the audio port') : skipped(audio.why);
});
