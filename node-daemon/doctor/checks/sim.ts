// Checks of the SIM: card, PIN, number and service center.
import { type Outcome, ok, problem, skipped, warning } from '#shared/operator/findings.ts';
import { reasonAdvice, reasonWords } from '#shared/operator/slot-reasons.ts';
import { fieldsOf } from '../../at/fields.ts';
import {
  iccidOf,
  LOCKED_BY_PIN,
  ownNumberOf,
  SIM_STATES_OF_CME,
  type SimState,
  simStateOf,
} from '../../modem/sim/sim-card.ts';
import type { ModemView } from '../seen/slot-view.ts';
import { modemCheck } from './check.ts';

/** The daemon leaves the last PIN attempt to a person. */
const TRIES_FEW = 1;

/** Is there a SIM card, unlocked and readable? */
export const sim = modemCheck((modem, { slot }) => {
  const state = stateOf(modem);
  if (state.kind === 'busy')
    return warning(
      'not ready yet',
      'Run doctor again in a minute. If this persists, the SIM card or its contacts are bad.',
    );
  if (state.kind === 'absent') return absent(state.reason);
  if (state.kind === 'locked') return locked(state.reason, triesOf(modem), slot?.reason ?? null);
  const { profile } = modem;
  const isReadable = profile.iccidCommands.some((command) =>
    modem.lines(command).some((line) => iccidOf(line, command.startsWith('AT+CRSM')) !== undefined),
  );
  if (isReadable) return ok('ready, ICCID readable');
  return problem(
    'ready, but its ICCID cannot be read',
    'Clean the contacts of the SIM card, or replace it. The service identifies a number by its ICCID.',
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
      'no SIM card in the modem',
      'Insert one, contacts first, with the notch as the slot shows. Some modems detect it only after a restart.',
    );
  return problem(
    reason === 'sim_wrong' ? 'the modem refuses this SIM card' : 'the SIM card does not answer',
    'Clean its contacts, try it in a phone, or replace it.',
  );
}

/** `seen`: the reason that the daemon reports. */
function locked(reason: string, tries: number | undefined, seen: string | null): Outcome {
  if (reason !== LOCKED_BY_PIN)
    return problem(
      `locked: ${reason.replaceAll('_', ' ').toUpperCase()}`,
      reason.includes('puk')
        ? 'Get the PUK from the carrier and enter it in a phone, which also sets a new PIN.'
        : 'This modem is locked to another network. Ask its maker or carrier to unlock it.',
    );
  if (tries !== undefined && tries <= TRIES_FEW)
    return problem(
      'locked by its PIN, one attempt left',
      'Enter the PIN in a phone. The daemon never uses the last attempt.',
    );
  const left = tries === undefined ? '' : `, ${tries} attempts left`;
  // "sim_pin" itself: it has no PIN.
  if (seen?.startsWith('sim_pin_') === true)
    return problem(`locked by its PIN${left}: ${reasonWords(seen)}`, reasonAdvice(seen) ?? '');
  return problem(
    `locked by its PIN${left}`,
    'Set sim_pin, or pin of this card under sims, in the configuration file. Or turn the lock off in a phone.',
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
  // The number in the configuration file overrides the number on the card.
  const isKnown = (slot?.number ?? null) !== null;
  if (isKnown || modem.lines('AT+CNUM').some((line) => ownNumberOf(line) !== undefined)) return ok('known');
  if (modem.line('AT+CPIN?', '+CPIN: READY') === undefined) return skipped('the SIM card is not ready');
  return warning(
    'the SIM card does not contain its number',
    'Add it to the configuration file, as number under sims and the card’s ICCID.',
  );
});

/** Does the SIM contain the address of its SMS service center? */
export const serviceCentre = modemCheck((modem) => {
  const line = modem.line('AT+CSCA?', '+CSCA:');
  if (line === undefined) return skipped('the modem does not report it (AT+CSCA?)');
  if ((fieldsOf(line)[0] ?? '') !== '') return ok('set');
  return problem(
    'no service center is set: the slot cannot send',
    'Get its number from the carrier, then set it with AT+CSCA="+…",145.',
  );
});
