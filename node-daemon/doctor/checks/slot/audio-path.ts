// Is there a way for the audio of calls, and has it the right form?
import { ok, problem, skipped, warning } from '../../finding.ts';
import { modemCheck } from '../check.ts';

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
