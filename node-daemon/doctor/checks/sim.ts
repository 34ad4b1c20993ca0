// Checks of the SIM: card, PIN, number and service center.
import { fieldsOf } from '../../at/fields.ts';
import {
  iccidOf,
  LOCKED_BY_PIN,
  ownNumberOf,
  SIM_STATES_OF_CME,
  type SimState,
  simStateOf,
} from '../../modem/sim/sim-card.ts';
import { type Outcome, ok, problem, skipped, warning } from '../report/finding.ts';
import type { ModemView } from '../seen/modem-view.ts';
import { modemCheck } from './check.ts';

/** The last try of a PIN is a person's. */
const TRIES_FEW = 1;

/** Is there a SIM card, open and readable? */
export const sim = modemCheck((modem) => {
  const state = stateOf(modem);
  if (state.kind === 'busy')
    return warning(
      'not ready yet',
      'run doctor again in a minute; if it stays so, the card or its contacts are bad',
    );
  if (state.kind === 'absent') return absent(state.reason);
  if (state.kind === 'locked') return locked(state.reason, triesOf(modem));
  const { profile } = modem;
  const isReadable = profile.iccidCommands.some((command) =>
    modem.lines(command).some((line) => iccidOf(line, command.startsWith('AT+CRSM')) !== undefined),
  );
  if (isReadable) return ok('ready, ICCID readable');
  return problem(
    'ready, but its ICCID cannot be read',
    'numbers belong to ICCIDs: clean the contacts of the card, or exchange it',
  );
});

function stateOf(modem: ModemView): SimState {
  const line = modem.line('AT+CPIN?', '+CPIN:');
  if (line !== undefined) return simStateOf(line);
  return SIM_STATES_OF_CME.get(modem.cmeError('AT+CPIN?') ?? -1) ?? { kind: 'busy' };
}

function absent(reason: string): Outcome {
  if (reason === 'sim_absent')
    return problem(
      'no card is in the modem',
      'put one in: contacts first, notch as the slot shows; some modems see it after a restart only',
    );
  return problem(
    reason === 'sim_wrong' ? 'the modem refuses this card' : 'the card does not answer',
    'clean its contacts, try it in a telephone, exchange it',
  );
}

function locked(reason: string, tries: number | undefined): Outcome {
  if (reason !== LOCKED_BY_PIN)
    return problem(
      `locked: ${reason.replaceAll('_', ' ').toUpperCase()}`,
      reason.includes('puk')
        ? 'the carrier has the PUK: enter it in a telephone, which also sets a new PIN'
        : 'this modem is locked to another network: its maker or carrier unlocks it',
    );
  if (tries !== undefined && tries <= TRIES_FEW)
    return problem(
      'asks for its PIN, and has one try left',
      'put it into a telephone and enter the PIN there: the daemon does not risk the last try',
    );
  return problem(
    `asks for its PIN${tries === undefined ? '' : `, ${tries} tries left`}`,
    'sim_pin, or pin of this card under sims, in the configuration file; or take the lock off in a telephone',
  );
}

function triesOf(modem: ModemView): number | undefined {
  const { pinTries } = modem.profile;
  if (pinTries === undefined) return undefined;
  const tries = modem.lines(pinTries.command).map((line) => pinTries.tries.exec(line)?.[1]);
  const left = tries.find((each) => each !== undefined);
  return left === undefined ? undefined : Number(left);
}

/** Is the number of the SIM known? */
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

/** Does the SIM know the center to which messages are sent? */
export const serviceCentre = modemCheck((modem) => {
  const line = modem.line('AT+CSCA?', '+CSCA:');
  if (line === undefined) return skipped('the modem does not tell (AT+CSCA?)');
  if ((fieldsOf(line)[0] ?? '') !== '') return ok('set');
  return problem(
    'no service centre is set: nothing can be sent',
    'the carrier tells its number: AT+CSCA="+…",145',
  );
});
