// The number of the card and whether it can be read: each maker has its own command for it.
import { CommandRefused, cme, ok } from '../at/answer.ts';
import type { SimIdentity } from '../equipment/identity.ts';
import { cmeCodeOf, type SimState } from '../equipment/sim-card.ts';
import { type CommandContext, type CommandHandler, forms } from './behaviour.ts';

const PIN_STATES: Partial<Record<SimState, string>> = { ready: 'READY', pin: 'SIM PIN', puk: 'SIM PUK' };

/** The card. Throws `CommandRefused` while it cannot be read. */
export function requireSim({ equipment }: CommandContext): SimIdentity {
  const { card, state } = equipment.sim;
  const code = cmeCodeOf(state);
  if (code !== undefined || card === undefined) throw new CommandRefused(cme(code ?? 10));
  return card.identity;
}

/** The ICCID. A locked card returns it too (ETSI TS 102 221 §13.2: read access "always"). */
export function iccidOf(context: CommandContext): string {
  const { card, state } = context.equipment.sim;
  return card !== undefined && PIN_STATES[state] !== undefined
    ? card.identity.iccid
    : requireSim(context).iccid;
}

/** READY, SIM PIN or SIM PUK. Throws `CommandRefused` for the states that are errors. */
export function shownSimState(context: CommandContext): string {
  const { state } = context.equipment.sim;
  const shown = PIN_STATES[state];
  if (shown === undefined) throw new CommandRefused(cme(cmeCodeOf(state) ?? 13));
  return shown;
}

/** `AT+CCID` and its like, which answer `prefix: …`. */
export function iccidForms(
  prefix: string,
  form: (iccid: string) => string = (iccid) => iccid,
): CommandHandler {
  const show: CommandHandler = (_, context) => ok(`${prefix}: ${form(iccidOf(context))}`);
  return forms({ execute: show, read: show, test: () => ok() });
}
