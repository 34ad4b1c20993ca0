// The SIM card: its presence, its lock, its identity (3GPP TS 27.007 §8.3, ITU-T E.118).
import { E164_PATTERN } from '#shared/e164.ts';
import { ask } from '../../at/ask.ts';
import { CmeError, isUnanswered } from '../../at/at-error.ts';
import type { AtChannel } from '../../at/channel.ts';
import { atCommand, atQuery } from '../../at/command.ts';
import type { Priority } from '../../at/command-queue.ts';
import { fieldsOf } from '../../at/fields.ts';

/**
 * `busy`: not ready yet, ask again. `reason` is a word for the operator: `sim_pin`, `sim_puk`, `ph_net_pin` and the like for locks,
 * `sim_absent`, `sim_failure` or `sim_wrong` where there is no usable card.
 */
export type SimState =
  | { readonly kind: 'ready' | 'busy' }
  | { readonly kind: 'absent' | 'locked'; readonly reason: string };

/** The lock that AT+CPIN opens. */
export const LOCKED_BY_PIN = 'sim_pin';

const READY: SimState = { kind: 'ready' };
const BUSY: SimState = { kind: 'busy' };
const absent = (reason: string): SimState => ({ kind: 'absent', reason });
const locked = (reason: string): SimState => ({ kind: 'locked', reason });

/** By the code of +CME ERROR: 3GPP TS 27.007 §9.2.1. All others, such as 14, are the card's or the modem's way to say "not yet". */
export const SIM_STATES_OF_CME: ReadonlyMap<number, SimState> = new Map([
  [5, locked('ph_sim_pin')],
  [6, locked('ph_fsim_pin')],
  [7, locked('ph_fsim_puk')],
  [10, absent('sim_absent')],
  [11, locked(LOCKED_BY_PIN)],
  [12, locked('sim_puk')],
  [13, absent('sim_failure')],
  [15, absent('sim_wrong')],
  [16, locked(LOCKED_BY_PIN)],
  [40, locked('ph_net_pin')],
  [41, locked('ph_net_puk')],
]);

/** Reads the card's state. Throws the errors of `AtChannel.send`, but for error answers. */
export async function readSimState(channel: AtChannel, priority: Priority = 'normal'): Promise<SimState> {
  try {
    const [answer] = await channel.send(atQuery('AT+CPIN?', '+CPIN:'), priority);
    return simStateOf(answer?.line ?? '');
  } catch (error) {
    if (isUnanswered(error)) throw error;
    return (error instanceof CmeError ? SIM_STATES_OF_CME.get(error.code) : undefined) ?? BUSY;
  }
}

/** The state that an answer to AT+CPIN? stands for. */
export function simStateOf(line: string): SimState {
  const [state = ''] = fieldsOf(line);
  if (state === 'READY') return READY;
  if (/^(NOT INSERTED|SIM REMOVED)$/.test(state)) return absent('sim_absent');
  // PIN2 and PUK2 lock nothing that messages need.
  if (/^SIM (PIN2|PUK2)$/.test(state)) return READY;
  if (!/(PIN|PUK)/.test(state)) return BUSY;
  return locked(
    state
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '_')
      .slice(0, 64),
  );
}

/** 18 digits and more are in many lines: only whole ones, with the prefix that some makes use, are ICCIDs. */
const ICCID_ANSWER = /^(?:[+^](?:CCID|QCCID|ICCID|CICCID): ?)?"?[0-9F]{18,24}"?$|^\+CRSM:/i;

/** Reads the ICCID with the first of `commands` that the modem knows; `undefined` when none returns one. */
export async function readIccid(
  channel: AtChannel,
  commands: readonly string[],
  priority: Priority = 'normal',
): Promise<{ iccid: string; command: string } | undefined> {
  for (const command of commands) {
    const [line = ''] =
      (await ask(channel, atCommand(command, { answer: ICCID_ANSWER, answerSingle: true }), priority)) ?? [];
    const iccid = iccidOf(line, command.startsWith('AT+CRSM'));
    if (iccid !== undefined) return { iccid, command };
  }
  return undefined;
}

/** The 18 to 22 digits in a line, without the filler "F"; `swapped` as the card stores them. */
export function iccidOf(line: string, swapped = false): string | undefined {
  const field = swapped ? (fieldsOf(line)[2] ?? '') : line.replace(/^[^:]*:/, '');
  const stored = /[0-9F]{18,24}/i.exec(field)?.[0];
  if (stored === undefined) return undefined;
  // ITU-T E.118: every ICCID begins with 89. Huawei returns it as the card stores it.
  const isSwapped = swapped || stored.startsWith('98');
  const digits = (isSwapped ? swappedNibbles(stored) : stored).replace(/F+$/i, '');
  return /^\d{18,22}$/.test(digits) ? digits : undefined;
}

function swappedNibbles(digits: string): string {
  return digits.replace(/(.)(.)/g, '$2$1');
}

const IMSI_ANSWER = /^(?:\+CIMI: ?)?"?\d{14,15}"?$/;

/** Reads the IMSI; `undefined` when the modem does not return it. */
export async function readImsi(channel: AtChannel): Promise<string | undefined> {
  const [line = ''] =
    (await ask(channel, atCommand('AT+CIMI', { answer: IMSI_ANSWER, answerSingle: true }))) ?? [];
  return /\d{14,15}/.exec(line)?.[0];
}

/** Reads the card's own number in international form; most cards do not know it. */
export async function readOwnNumber(channel: AtChannel): Promise<string | undefined> {
  const command = atCommand('AT+CNUM', { answer: /^\+CNUM:/, answerMayTrail: true });
  const lines = (await ask(channel, command)) ?? [];
  return lines.map(ownNumberOf).find((number) => number !== undefined);
}

/** The number in an answer to AT+CNUM, E.164; `undefined` when it is not in international form. */
export function ownNumberOf(line: string): string | undefined {
  const [, number = '', type] = fieldsOf(line);
  const international = type === '145' && !number.startsWith('+') ? `+${number}` : number;
  return E164_PATTERN.test(international) ? international : undefined;
}
