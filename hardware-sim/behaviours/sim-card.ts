// The SIM card: PIN, IMSI, ICCID, own number, phone book (3GPP TS 27.007 §8.3 and §8.11 to §8.14).
import { CME, CommandRefused, cme, ok } from '../modem/answer.ts';
import {
  type CommandContext,
  commandFamily,
  forms,
  numberParameter,
  textParameter,
} from '../modem/behaviour.ts';
import type { SimState } from '../modem/sim-card.ts';
import { quoted } from './terminal-text.ts';

const PIN_STATES: Partial<Record<SimState, string>> = { ready: 'READY', pin: 'SIM PIN', puk: 'SIM PUK' };
const PHONE_BOOKS = ['SM', 'ME', 'ON'];
const PHONE_BOOK_ENTRIES = 250;

/** Refuses a command that reads the card while it cannot be read. */
function requireSim({ modem }: CommandContext): void {
  const code = modem.simCard.cmeCode;
  if (code !== undefined) throw new CommandRefused(cme(code));
}

const pin = forms({
  read: (_, context) => {
    const shown = PIN_STATES[context.modem.simCard.state];
    if (shown === undefined) requireSim(context);
    return ok(`+CPIN: ${shown}`);
  },
  set: (command, { modem }) => {
    const answer = modem.simCard.enter(textParameter(command, 0) ?? '', textParameter(command, 1));
    if (modem.simCard.state === 'ready') modem.faults.end('sim');
    modem.onConditionsChanged();
    return answer;
  },
  test: () => ok(),
});

const pinTries = forms({
  execute: (_, { modem }) => {
    const { pin: pinLeft, puk } = modem.simCard.tries;
    return ok(`+CPINR: SIM PIN,${pinLeft},3`, `+CPINR: SIM PUK,${puk},10`);
  },
  test: () => ok(),
});

const quectelPinTries = forms({
  read: (_, { modem }) => {
    const { pin: pinLeft, puk } = modem.simCard.tries;
    return ok(`+QPINC: "SC",${pinLeft},${puk}`, '+QPINC: "P2",3,10');
  },
  test: () => ok('+QPINC: ("SC","P2")'),
});

/** The PIN lock can be asked for, not changed. */
const lock = forms({
  set: (command, context) => {
    requireSim(context);
    const isQuery = command.parameters[1]?.text === '2';
    return isQuery ? ok('+CLCK: 0') : cme(CME.operationNotSupported);
  },
  test: () => ok('+CLCK: ("SC","AO","OI","OX","AI","IR","AB","AG","AC","FD","PN","PU","PP","PC","PF")'),
});

const imsi = forms({
  execute: (_, context) => {
    requireSim(context);
    return ok(context.modem.identity.imsi);
  },
  test: () => ok(),
});

/** Quectel modems show the filler of the card's 20 semi-octets. */
function iccid(command: '+CCID' | '+QCCID') {
  const filler = command === '+QCCID' ? 'F' : '';
  const show = (_: unknown, context: CommandContext) => {
    requireSim(context);
    return ok(`${command}: ${context.modem.identity.iccid}${filler}`);
  };
  return forms({ execute: show, read: show, test: () => ok() });
}

const ownNumber = forms({
  execute: (_, context) => {
    requireSim(context);
    const { modem, port } = context;
    return ok(`+CNUM: ${quoted('', port)},${quoted(modem.identity.number, port)},145`);
  },
  test: () => ok(),
});

const phoneBookStorage = forms({
  set: (command, { modem }) => {
    const name = textParameter(command, 0) ?? '';
    if (!PHONE_BOOKS.includes(name)) return cme(CME.incorrectParameters);
    modem.settings.kept.set('+CPBS', name);
    return ok();
  },
  read: (_, context) => {
    requireSim(context);
    const name = context.modem.settings.kept.get('+CPBS') ?? 'SM';
    return ok(`+CPBS: "${name}",${name === 'ON' ? 1 : 0},${name === 'ON' ? 1 : PHONE_BOOK_ENTRIES}`);
  },
  test: () => ok(`+CPBS: (${PHONE_BOOKS.map((name) => `"${name}"`).join(',')})`),
});

/** All phone books are empty, but for the own number. */
const phoneBookRead = forms({
  set: (command, context) => {
    requireSim(context);
    const { modem, port } = context;
    const bounds = { min: 1, max: PHONE_BOOK_ENTRIES, refusal: cme(CME.invalidIndex) };
    const first = numberParameter(command, 0, bounds);
    if (modem.settings.kept.get('+CPBS') !== 'ON' || first !== 1) return ok();
    return ok(`+CPBR: 1,${quoted(modem.identity.number, port)},145,${quoted('', port)}`);
  },
  test: () => ok(`+CPBR: (1-${PHONE_BOOK_ENTRIES}),40,14`),
});

/** PIN, IMSI, ICCID, own number, phone book. */
export const simCard = commandFamily('sim card', {
  '+CPIN': pin,
  '+CPINR': pinTries,
  '+QPINC': quectelPinTries,
  '+CLCK': lock,
  '+CIMI': imsi,
  '+CCID': iccid('+CCID'),
  '+QCCID': iccid('+QCCID'),
  '+CNUM': ownNumber,
  '+CPBS': phoneBookStorage,
  '+CPBR': phoneBookRead,
});
