// The SIM card: PIN, IMSI, own number, phone book (3GPP TS 27.007 §8.3 and §8.11 to §8.14).
import { CME, cme, ok } from '../at/answer.ts';
import { commandFamily, forms, numberParameter, textParameter } from './behaviour.ts';
import { requireSim, shownSimState } from './iccid.ts';
import { quoted } from './terminal-text.ts';

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
  test: () => ok(),
});

const pinTries = forms({
  execute: (_, { equipment }) => {
    const { pin: pinLeft, puk } = equipment.sim.tries;
    return ok(`+CPINR: SIM PIN,${pinLeft},3`, `+CPINR: SIM PUK,${puk},10`);
  },
  test: () => ok(),
});

/** Of all locks only that of the card itself can be asked for and changed. */
const lock = forms({
  set: (command, context) => {
    requireSim(context);
    const { card } = context.equipment.sim;
    const [facility, mode, code] = command.parameters;
    const isCard = facility?.text === 'SC' && card !== undefined;
    if (mode?.text === '2') return ok(`+CLCK: ${isCard && card.asksForPin ? 1 : 0}`);
    if (!isCard || !/^[01]$/.test(mode?.text ?? '')) return cme(CME.operationNotSupported);
    const answer = card.setAsksForPin(mode?.text === '1', code?.text ?? '');
    context.equipment.onConditionsChanged();
    return answer;
  },
  test: () => ok('+CLCK: ("SC","AO","OI","OX","AI","IR","AB","AG","AC","FD","PN","PU","PP","PC","PF")'),
});

const imsi = forms({
  execute: (_, context) => ok(requireSim(context).imsi),
  test: () => ok(),
});

const ownNumber = forms({
  execute: (_, context) => {
    const { number } = requireSim(context);
    return ok(`+CNUM: ${quoted('', context.port)},${quoted(number, context.port)},145`);
  },
  test: () => ok(),
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
