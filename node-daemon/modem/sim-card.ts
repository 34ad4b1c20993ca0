// The SIM card: is it there, is it open, who is it (3GPP TS 27.007 §8.3, ITU-T E.118).
import { E164_PATTERN } from '#shared/e164.ts';
import { AtError, AtTimeoutError, CmeError, PortClosedError } from '../at/at-error.ts';
import type { AtChannel } from '../at/channel.ts';
import { type AtCommand, atCommand, atQuery } from '../at/command.ts';
import { fieldsOf } from '../at/fields.ts';

/** `busy`: not ready yet, ask again. */
export type SimState = 'ready' | 'absent' | 'locked' | 'busy';

/** SIM commands may wait for the card itself. */
const SIM_TIMEOUT_MS = 10_000;

const CME_SIM_ABSENT = new Set([10, 13, 15]);
const CME_SIM_LOCKED = new Set([5, 6, 7, 11, 12, 16, 17, 18]);

/** Reads the card's state. Throws what `AtChannel.send` throws, but for error answers. */
export async function readSimState(channel: AtChannel): Promise<SimState> {
  try {
    const [answer] = await channel.send(atQuery('AT+CPIN?', '+CPIN:', { timeoutMs: SIM_TIMEOUT_MS }));
    return simStateOf(answer?.line ?? '');
  } catch (error) {
    if (isUnanswered(error)) throw error;
    if (!(error instanceof CmeError)) return 'busy';
    if (CME_SIM_ABSENT.has(error.code)) return 'absent';
    return CME_SIM_LOCKED.has(error.code) ? 'locked' : 'busy';
  }
}

/** The state that an answer to AT+CPIN? stands for. */
export function simStateOf(line: string): SimState {
  const [state = ''] = fieldsOf(line);
  if (state === 'READY') return 'ready';
  if (/^NOT INSERTED$/.test(state)) return 'absent';
  // PIN2 and PUK2 lock nothing that messages need.
  if (/^SIM (PIN2|PUK2)$/.test(state)) return 'ready';
  return /(PIN|PUK)/.test(state) ? 'locked' : 'busy';
}

/** Reads the ICCID with the first of `commands` that the modem knows; `undefined` when none tells one. */
export async function readIccid(
  channel: AtChannel,
  commands: readonly string[],
): Promise<{ iccid: string; command: string } | undefined> {
  for (const command of commands) {
    const swapped = command.startsWith('AT+CRSM');
    const line = await firstAnswer(
      channel,
      atCommand(command, { answer: /(?:\d{18,22}|\+CRSM:)/, timeoutMs: SIM_TIMEOUT_MS }),
    );
    const iccid = line === undefined ? undefined : iccidOf(line, swapped);
    if (iccid !== undefined) return { iccid, command };
  }
  return undefined;
}

/** The 18 to 22 digits in a line, without the filler "F"; `swapped` as the card stores them. */
export function iccidOf(line: string, swapped = false): string | undefined {
  const stored = /[0-9]{18,22}F{0,2}/i;
  if (!swapped) return /\d{18,22}/.exec(line)?.[0];
  const hex = /[0-9A-F]{20}/i.exec(fieldsOf(line)[2] ?? '')?.[0];
  const digits = hex?.replace(/(.)(.)/g, '$2$1').toUpperCase();
  return digits !== undefined && stored.test(digits) ? digits.replace(/F+$/, '') : undefined;
}

/** Reads the IMSI; `undefined` when the modem does not tell it. */
export async function readImsi(channel: AtChannel): Promise<string | undefined> {
  const line = await firstAnswer(channel, atCommand('AT+CIMI', { answer: /^(?:\+CIMI: ?)?"?\d{14,15}"?$/ }));
  return line === undefined ? undefined : /\d{14,15}/.exec(line)?.[0];
}

/** Reads the card's own number in international form; most cards do not know it. */
export async function readOwnNumber(channel: AtChannel): Promise<string | undefined> {
  const line = await firstAnswer(
    channel,
    atCommand('AT+CNUM', { answer: /^\+CNUM:/, timeoutMs: SIM_TIMEOUT_MS }),
  );
  return line === undefined ? undefined : ownNumberOf(line);
}

/** The number in an answer to AT+CNUM, E.164; `undefined` when it is not in international form. */
export function ownNumberOf(line: string): string | undefined {
  const [, number = '', type] = fieldsOf(line);
  const international = type === '145' && !number.startsWith('+') ? `+${number}` : number;
  return E164_PATTERN.test(international) ? international : undefined;
}

/** First information response; `undefined` after an error answer: the modem does not know the command. */
async function firstAnswer(channel: AtChannel, command: AtCommand): Promise<string | undefined> {
  try {
    const [answer] = await channel.send(command);
    return answer?.line;
  } catch (error) {
    if (isUnanswered(error) || !(error instanceof AtError)) throw error;
    return undefined;
  }
}

function isUnanswered(error: unknown): boolean {
  return error instanceof AtTimeoutError || error instanceof PortClosedError;
}
