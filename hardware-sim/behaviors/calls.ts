// Call control (3GPP TS 27.007 §6, ITU-T V.250 §6.3): dialing, answering, hanging up, listing, keys (§C.2.11 +VTS, §C.2.12 +VTD).
import { type Answer, CME, cme, ok } from '../at/answer.ts';
import type { AtCommand } from '../at/at-line.ts';
import { causeText } from '../calls/cause.ts';
import { cmeCodeOf } from '../equipment/sim-card.ts';
import { parseDialString } from '../voice/dial-string.ts';
import { clccLine } from '../voice/modem-call.ts';
import { type CommandContext, type CommandHandler, commandFamily, forms } from './behavior.ts';

/** With +VTD=0 the network decides. */
const USUAL_TONE_MS = 100;
const GAP_MS = 50;
/** Unit of +VTD and of the second parameter of +VTS. */
const TENTH_MS = 100;

/** Presses keys in the active call, each for the given tenths of a second. */
export function press({ equipment }: CommandContext, digits: string, tenths?: number): Answer {
  const { active } = equipment.voice.calls;
  if (active?.network === undefined) return cme(CME.operationNotAllowed);
  const duration = tenths ?? Number(equipment.settings.kept.get('+VTD') ?? '0');
  const toneMs = duration === 0 ? USUAL_TONE_MS : duration * TENTH_MS;
  const keys = [...digits.toUpperCase()].map((digit) => ({ digit, toneMs, gapMs: GAP_MS }));
  return active.network.press(active.side, keys) ? ok() : cme(CME.operationNotAllowed);
}

/** +VTS=<keys>[,<tenths>], with quotes or without. */
export function pressKeys(allowed: RegExp): CommandHandler {
  return ({ parameters }, context) => {
    const [digits = '', tenths] = parameters;
    if (!allowed.test(digits) || parameters.length > 2) return cme(CME.incorrectParameters);
    if (tenths !== undefined && (!/^\d{1,3}$/.test(tenths) || Number(tenths) > 255)) {
      return cme(CME.incorrectParameters);
    }
    return press(context, digits, tenths === undefined ? undefined : Number(tenths));
  };
}

const NO_CARRIER: Answer = { kind: 'result', code: 'NO CARRIER' };

const dial: CommandHandler = ({ value }, { equipment }) => {
  const dialled = parseDialString(value);
  if (dialled === undefined) return cme(CME.incorrectParameters);
  // The simulated network has no data calls.
  if (dialled === 'data') return NO_CARRIER;
  const cardCode = cmeCodeOf(equipment.sim.state);
  if (cardCode !== undefined) return cme(cardCode);
  if (!equipment.radio.isRegistered) return cme(CME.noNetworkService);
  return equipment.voice.calls.dial(dialled);
};

/** Ends calls, unless the fault `hangup_fails` prevents it. `cause` replaces the usual one. */
export function hangUp(
  { equipment }: CommandContext,
  options: { cause?: number; index?: number } = {},
): Answer {
  const fault = equipment.faults.take('hangup_fails');
  if (fault === undefined || fault.ends) equipment.voice.calls.hangUp(options);
  if (fault === undefined) return ok();
  return fault.answer === 'error' ? { kind: 'error' } : { kind: 'nothing' };
}

/** +CVHU=1: ATH is answered and ends no voice call. */
const hookOff: CommandHandler = ({ value }, context) => {
  if (!/^0?$/.test(value)) return { kind: 'error' };
  return context.equipment.settings.kept.get('+CVHU') === '1' ? ok() : hangUp(context);
};

/** The answer of +CLCC. */
export const listCalls: CommandHandler = (_, { equipment }) => {
  const lines = equipment.voice.calls.calls.map(clccLine);
  const data = equipment.faults.has('clcc_data_line') ? [`+CLCC: ${lines.length + 1},0,0,1,0,"",128`] : [];
  return ok(...lines, ...data);
};

/** 0: the waiting caller is refused. 1: it is taken, and the others end. 1x: call x ends. */
function callHold(command: AtCommand, context: CommandContext): Answer {
  const { calls } = context.equipment.voice;
  const { value } = command;
  if (value === '0') return calls.refuseWaiting() ? ok() : cme(CME.operationNotAllowed);
  if (value === '1') return calls.takeWaiting() ? ok() : cme(CME.operationNotAllowed);
  if (!/^1[1-7]$/.test(value)) return cme(CME.operationNotSupported);
  const index = Number(value.slice(1));
  if (!calls.calls.some((call) => call.index === index)) return cme(CME.invalidIndex);
  return hangUp(context, { index });
}

/** <n> shows a waiting caller, <mode> lets one wait; 2 asks. */
function callWaiting({ parameters }: AtCommand, { equipment }: CommandContext): Answer {
  const { kept } = equipment.settings;
  const [n, mode] = parameters;
  if (!/^[01]?$/.test(n ?? '') || !/^[012]?$/.test(mode ?? '')) return cme(CME.incorrectParameters);
  if (mode === '2') return ok(`+CCWA: ${kept.get('+CCWA mode') ?? '0'},1`);
  if (n !== undefined && n !== '') kept.set('+CCWA n', n);
  if (mode !== undefined && mode !== '') kept.set('+CCWA mode', mode);
  return ok();
}

const endReport: CommandHandler = (_, { equipment }) => {
  const end = equipment.voice.calls.lastEnd;
  return ok(`+CEER: ${end === undefined ? causeText(0) : equipment.model.voice.endReport(end)}`);
};

/** Dialing, answering, hanging up. */
export const calls = commandFamily('calls', {
  D: dial,
  A: (_, { equipment }) => (equipment.voice.calls.answer() ? ok() : NO_CARRIER),
  H: hookOff,
  '+CHUP': forms({ execute: (_, context) => hangUp(context) }),
  '+CLCC': forms({ execute: listCalls }),
  '+CHLD': forms({ set: callHold, test: () => ok('+CHLD: (0,1,1x)') }),
  '+VTS': forms({ set: pressKeys(/^[0-9*#A-D]$/i), test: () => ok('+VTS: (0-9,*,#,A,B,C,D),(0-255)') }),
  '+CCWA': forms({
    set: callWaiting,
    read: (_, { equipment }) => ok(`+CCWA: ${equipment.settings.kept.get('+CCWA n') ?? '0'}`),
    test: () => ok('+CCWA: (0,1)'),
  }),
  '+CEER': forms({ execute: endReport }),
});
