// Reads the SIM card: its presence, its lock, its identity (3GPP TS 27.007 §8.3, ITU-T E.118).
import { E164_PATTERN } from '#shared/identities.ts';
import { ask } from '../../at/ask.ts';
import { CmeError, isUnanswered } from '../../at/at-error.ts';
import type { AtChannel } from '../../at/channel.ts';
import { atCommand, atQuery } from '../../at/command.ts';
import type { Priority } from '../../at/command-queue.ts';
import { fieldsOf } from '../../at/fields.ts';

/**
 * `busy`: not ready yet, ask again. `reason` is a word for the operator: `sim_pin`, `sim_puk`, `ph_net_pin` and the like for locks,
 * `sim_absent`, `sim_failure` or `sim_wrong` if there is no usable card.
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

/** States by the code of +CME ERROR (3GPP TS 27.007 §9.2.1). All other codes, such as 14, mean "not ready yet". */
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

/** Reads the card's state. Throws the errors of `AtChannel.send`, except error answers. */
export async function readSimState(channel: AtChannel, priority: Priority = 'normal'): Promise<SimState> {
  try {
    const [answer] = await channel.send(atQuery('AT+CPIN?', '+CPIN:'), priority);
    return simStateOf(answer?.line ?? '');
  } catch (error) {
    if (isUnanswered(error)) throw error;
    return (error instanceof CmeError ? SIM_STATES_OF_CME.get(error.code) : undefined) ?? BUSY;
  }
}

/** Returns the state for an answer to AT+CPIN?. */
export function simStateOf(line: string): SimState {
  const [state = ''] = fieldsOf(line);
  if (state === 'READY') return READY;
  if (/^(NOT INSERTED|SIM REMOVED)$/.test(state)) return absent('sim_absent');
  // Messages do not need what PIN2 and PUK2 lock.
  if (/^SIM (PIN2|PUK2)$/.test(state)) return READY;
  if (!/(PIN|PUK)/.test(state)) return BUSY;
  return locked(
    state
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '_')
      .slice(0, 64),
  );
}

/** Many lines contain 18 or more digits. An ICCID is the whole line, apart from a prefix that some makes add. */
const ICCID_ANSWER = /^(?:[+^](?:CCID|QCCID|ICCID|CICCID): ?)?"?[0-9F]{18,24}"?$|^\+CRSM:/i;

/** Reads the ICCID with the first supported one of `commands`. Returns `undefined` if none of them returns an ICCID. */
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

/** Returns the 18 to 22 digits in a line, without the filler "F". `swapped`: in the order in which the card stores them. */
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

/** Reads the IMSI. Returns `undefined` if the modem does not return it. */
export async function readImsi(channel: AtChannel): Promise<string | undefined> {
  const [line = ''] =
    (await ask(channel, atCommand('AT+CIMI', { answer: IMSI_ANSWER, answerSingle: true }))) ?? [];
  return /\d{14,15}/.exec(line)?.[0];
}

/** Reads the card's own number in international form. Most cards do not contain it. */
export async function readOwnNumber(channel: AtChannel): Promise<string | undefined> {
  const command = atCommand('AT+CNUM', { answer: /^\+CNUM:/, answerMayTrail: true });
  const lines = (await ask(channel, command)) ?? [];
  return lines.map(ownNumberOf).find((number) => number !== undefined);
}

/** Returns the number in an answer to AT+CNUM, E.164; `undefined` if it is not in international form. */
export function ownNumberOf(line: string): string | undefined {
  const [, number = '', type] = fieldsOf(line);
  const international = type === '145' && !number.startsWith('+') ? `+${number}` : number;
  return E164_PATTERN.test(international) ? international : undefined;
}
