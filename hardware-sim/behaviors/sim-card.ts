// The SIM card: PIN, ICCID, IMSI, own number, phone book (3GPP TS 27.007 §8.3 and §8.11 to §8.14). Each maker has its own
// command for the ICCID.
import { CME, CMS, CommandRefusal, cme, cms, ok } from '../at/answer.ts';
import type { SimIdentity } from '../equipment/identity.ts';
import { cmeCodeOf, cmsCodeOf, type SimState } from '../equipment/sim-card.ts';
import {
  type CommandContext,
  type CommandHandler,
  commandFamily,
  forms,
  numberParameter,
  textParameter,
} from './behavior.ts';
import { quoted } from './terminal-text.ts';

const PIN_STATES: Partial<Record<SimState, string>> = { ready: 'READY', pin: 'SIM PIN', puk: 'SIM PUK' };

/** The card. Throws `CommandRefusal` while it cannot be read. */
function requireSim({ equipment }: CommandContext): SimIdentity {
  const { card, state } = equipment.sim;
  const code = cmeCodeOf(state);
  if (code !== undefined || card === undefined) throw new CommandRefusal(cme(code ?? 10));
  return card.identity;
}

/** The ICCID. A locked card returns it too (ETSI TS 102 221 §13.2: read access "always"). */
export function iccidOf(context: CommandContext): string {
  const { card, state } = context.equipment.sim;
  return card !== undefined && PIN_STATES[state] !== undefined
    ? card.identity.iccid
    : requireSim(context).iccid;
}

/** READY, SIM PIN or SIM PUK. Throws `CommandRefusal` for the states that are errors. */
export function shownSimState(context: CommandContext): string {
  const { state } = context.equipment.sim;
  const shown = PIN_STATES[state];
  if (shown === undefined) throw new CommandRefusal(cme(cmeCodeOf(state) ?? 13));
  return shown;
}

/** `AT+CCID` and its like, which answer `prefix: …`. */
export function iccidForms(
  prefix: string,
  form: (iccid: string) => string = (iccid) => iccid,
): CommandHandler {
  const show: CommandHandler = (_, context) => ok(`${prefix}: ${form(iccidOf(context))}`);
  return forms({ execute: show, read: show });
}

const PHONE_BOOKS = ['SM', 'ME', 'ON'];
const PHONE_BOOK_ENTRIES = 250;

const pin = forms({
  read: (_, context) => ok(`+CPIN: ${shownSimState(context)}`),
  set: (command, { equipment }) => {
    const answer = equipment.sim.enter(textParameter(command, 0) ?? '', textParameter(command, 1));
    if (equipment.sim.state === 'ready') equipment.faults.end('sim');
    equipment.onConditionsChanged();
    return answer;
  },
});

const pinTries = forms({
  execute: (_, { equipment }) => {
    const { pin: pinLeft, puk } = equipment.sim.tries;
    return ok(`+CPINR: SIM PIN,${pinLeft},3`, `+CPINR: SIM PUK,${puk},10`);
  },
});

/** Only the lock of the card itself can be read and changed. */
const lock = forms({
  set: (command, context) => {
    requireSim(context);
    const { card } = context.equipment.sim;
    const [facility, mode = '', code = ''] = command.parameters;
    const isCard = facility === 'SC' && card !== undefined;
    if (mode === '2') return ok(`+CLCK: ${isCard && card.asksForPin ? 1 : 0}`);
    if (!isCard || !/^[01]$/.test(mode)) return cme(CME.operationNotSupported);
    const answer = card.setAsksForPin(mode === '1', code);
    context.equipment.onConditionsChanged();
    return answer;
  },
  test: () => ok('+CLCK: ("SC","AO","OI","OX","AI","IR","AB","AG","AC","FD","PN","PU","PP","PC","PF")'),
});

const imsi = forms({ execute: (_, context) => ok(requireSim(context).imsi) });

const ownNumber = forms({
  execute: (_, context) => {
    const { number } = requireSim(context);
    return ok(`+CNUM: ${quoted('', context.port)},${quoted(number, context.port)},145`);
  },
});

const phoneBookStorage = forms({
  set: (command, { equipment }) => {
    const name = textParameter(command, 0) ?? '';
    if (!PHONE_BOOKS.includes(name)) return cme(CME.incorrectParameters);
    equipment.settings.kept.set('+CPBS', name);
    return ok();
  },
  read: (_, context) => {
    requireSim(context);
    const name = context.equipment.settings.kept.get('+CPBS') ?? 'SM';
    return ok(`+CPBS: "${name}",${name === 'ON' ? 1 : 0},${name === 'ON' ? 1 : PHONE_BOOK_ENTRIES}`);
  },
  test: () => ok(`+CPBS: (${PHONE_BOOKS.map((name) => `"${name}"`).join(',')})`),
});

/** All phone books are empty, but for the own number. */
const phoneBookRead = forms({
  set: (command, context) => {
    const { number } = requireSim(context);
    const { equipment, port } = context;
    const bounds = { min: 1, max: PHONE_BOOK_ENTRIES, refusal: cme(CME.invalidIndex) };
    const first = numberParameter(command, 0, bounds);
    if (equipment.settings.kept.get('+CPBS') !== 'ON' || first !== 1) return ok();
    return ok(`+CPBR: 1,${quoted(number, port)},145,${quoted('', port)}`);
  },
  test: () => ok(`+CPBR: (1-${PHONE_BOOK_ENTRIES}),40,14`),
});

/** PIN, lock, IMSI, own number, phone book. */
export const simCard = commandFamily('sim card', {
  '+CPIN': pin,
  '+CPINR': pinTries,
  '+CLCK': lock,
  '+CIMI': imsi,
  '+CNUM': ownNumber,
  '+CPBS': phoneBookStorage,
  '+CPBR': phoneBookRead,
});

/** Throws `CommandRefusal` with the state of the SIM. */
export function requireMessaging({ equipment }: CommandContext): void {
  const code = cmsCodeOf(equipment.sim.state);
  if (code !== undefined) throw new CommandRefusal(cms(code));
  // Some seconds after the start the card is ready and its messages are not read yet.
  if (!equipment.isMessagingReady) throw new CommandRefusal(cms(CMS.simBusy));
}
