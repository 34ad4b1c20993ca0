// Is the number of the SIM known?
import { ownNumberOf } from '../../../modem/sim-card.ts';
import { ok, skipped, warning } from '../../finding.ts';
import { modemCheck } from '../check.ts';

export const number = modemCheck((modem, { slot }) => {
  // That of the configuration file goes before the card's.
  const isKnown = (slot?.number ?? null) !== null;
  if (isKnown || modem.lines('AT+CNUM').some((line) => ownNumberOf(line) !== undefined)) return ok('known');
  if (modem.line('AT+CPIN?', '+CPIN: READY') === undefined) return skipped('the SIM is not open');
  return warning(
    'the SIM does not know its own number',
    'write it into the configuration file: sims, the ICCID of the card, number',
  );
});
