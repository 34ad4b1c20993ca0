// Keys that a modem presses during a call (3GPP TS 27.007 §C.2.11 +VTS, §C.2.12 +VTD).

import type { Answer } from '../at/answer.ts';
import { CME, cme, ok } from '../at/answer.ts';
import type { CommandContext, CommandHandler } from './behaviour.ts';

/** With +VTD=0 the network decides. */
const USUAL_TONE_MS = 100;
const GAP_MS = 50;
/** Unit of +VTD and of the second parameter of +VTS. */
const TENTH_MS = 100;

/** Presses keys in the active call, for so many tenths of a second each. */
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
    const digits = parameters[0]?.text ?? '';
    const tenths = parameters[1]?.text;
    if (!allowed.test(digits) || parameters.length > 2) return cme(CME.incorrectParameters);
    if (tenths !== undefined && (!/^\d{1,3}$/.test(tenths) || Number(tenths) > 255)) {
      return cme(CME.incorrectParameters);
    }
    return press(context, digits, tenths === undefined ? undefined : Number(tenths));
  };
}
