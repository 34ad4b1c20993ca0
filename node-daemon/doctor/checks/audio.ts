// Checks of the audio of calls.
import { ok, problem, skipped, warning } from '#shared/operator/findings.ts';
import { diagnosisOf } from '../makes/find-diagnosis.ts';
import { modemCheck } from './check.ts';

/** Does call audio have a sound card or port, and does it have the right format? */
export const audioPath = modemCheck(({ profile }, { cardRatesHz, place }) => {
  const { card, serial } = profile.voice;
  const { audio } = place ?? {};
  if (audio?.card !== undefined && card !== undefined) {
    if (cardRatesHz === undefined) return ok(`sound card ${audio.card}`);
    if (cardRatesHz.includes(card.rateHz)) return ok(`sound card ${audio.card}, ${card.rateHz} Hz`);
    return problem(
      `sound card ${audio.card} supports ${cardRatesHz.join(', ')} Hz, not ${card.rateHz}`,
      'Use firmware whose sound card supports 8 kHz. Or turn the sound card off (AT+QCFG="USBCFG") and use the serial port.',
    );
  }
  if (audio?.port !== undefined)
    return ok(`serial port${serial.rateHz === 'measured' ? '' : `, ${serial.rateHz} Hz`}`);
  if (place === undefined) return skipped('the modem’s USB port is unknown');
  return warning(
    'no audio port is known: calls are silent',
    'If the modem has an audio port, set it as audio_port of a slot with port.',
  );
});

/** Does the modem's audio format match the daemon's, above all its sample rate? */
export const audioSettings = modemCheck((modem) => diagnosisOf(modem.profile).audioSettings(modem));

/** NMEA 0183: a talker of two letters, a sentence of three, fields. */
const NMEA = /\$(?:G[A-Z]|P[A-Z]|BD)[A-Z]{3},/;

/** Do the sentences of a GPS receiver come out of the audio port? */
export const gpsInAudio = modemCheck((modem, { audio }) => {
  const { gpsAdvice, isGpsApart } = diagnosisOf(modem.profile);
  if (audio.kind === 'heard') {
    if (NMEA.test(Buffer.from(audio.octets).toString('latin1')))
      return problem('the audio port sends GPS text (NMEA), which causes clicks in every call', gpsAdvice);
    return ok('the port is silent without a call');
  }
  return isGpsApart(modem) === true ? ok('no GPS text goes to the audio port') : skipped(audio.why);
});

const LISTEN = 'Call the number of this slot and listen before you rely on its audio.';

/** Does the modem loop a tone back? */
export const audioLoop = modemCheck((_, { loop }) => {
  switch (loop.kind) {
    case 'not_done':
      return skipped(loop.why);
    case 'back':
      return ok('the tone came back unchanged');
    case 'silence':
      return warning('the tone did not come back: some firmware loops audio only in calls', LISTEN);
    case 'noise':
      return problem(
        'the sound that came back is not the tone',
        `The port has another sample rate than expected, or loses octets. ${LISTEN}`,
      );
  }
});
