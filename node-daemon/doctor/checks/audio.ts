// Checks of the audio of calls.
import { diagnosisOf } from '../makes/find-diagnosis.ts';
import { ok, problem, skipped, warning } from '../report/finding.ts';
import { modemCheck } from './check.ts';

/** Is there a way for the audio of calls, and has it the right form? */
export const audioPath = modemCheck(({ profile }, { cardRatesHz, place }) => {
  const { card, serial } = profile.voice;
  const { audio } = place ?? {};
  if (audio?.card !== undefined && card !== undefined) {
    if (cardRatesHz === undefined) return ok(`sound card ${audio.card}`);
    if (cardRatesHz.includes(card.rateHz)) return ok(`sound card ${audio.card}, ${card.rateHz} Hz`);
    return problem(
      `sound card ${audio.card} has ${cardRatesHz.join(', ')} Hz and not ${card.rateHz}`,
      'this firmware has another rate: use one that has 8 kHz, or switch the sound card off (AT+QCFG="USBCFG") and use the serial port',
    );
  }
  if (audio?.port !== undefined)
    return ok(`serial port${serial.rateHz === 'measured' ? '' : `, ${serial.rateHz} Hz`}`);
  if (place === undefined) return skipped('not known where it is plugged in');
  return warning(
    'no port for the audio of calls is known: calls are silent',
    'where the modem has one, name it as audio_port of a slot with port',
  );
});

/** Is the audio of calls set up as the daemon takes it, its rate above all? */
export const audioSettings = modemCheck((modem) => diagnosisOf(modem.profile).audioSettings(modem));

/** NMEA 0183: a talker of two letters, a sentence of three, fields. */
const NMEA = /\$(?:G[A-Z]|P[A-Z]|BD)[A-Z]{3},/;

/** Do the sentences of a GPS receiver come out of the audio port? */
export const gpsInAudio = modemCheck((modem, { audio }) => {
  const { gpsAdvice, isGpsApart } = diagnosisOf(modem.profile);
  if (audio.kind === 'heard') {
    if (NMEA.test(Buffer.from(audio.octets).toString('latin1')))
      return problem('GPS text (NMEA) comes out of the audio port: clicks in every call', gpsAdvice);
    return ok('nothing came out of the port without a call');
  }
  return isGpsApart(modem) === true ? ok('no GPS text goes to the audio port') : skipped(audio.why);
});

const LISTEN = 'call the number of this slot and listen, before you trust its audio';

/** Does a tone that is played into the modem come back? */
export const audioLoop = modemCheck((_, { loop }) => {
  switch (loop.kind) {
    case 'not_done':
      return skipped(loop.why);
    case 'back':
      return ok('a tone came back unchanged');
    case 'silence':
      return warning('nothing came back: some firmware loops in calls only', LISTEN);
    case 'noise':
      return problem(
        'what came back is not the tone that was played',
        `the rate of the port is not what it is taken for, or octets are lost: ${LISTEN}`,
      );
  }
});
