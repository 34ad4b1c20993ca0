// Reads a modem's lines about calls into one form for all makes: the call list (3GPP TS 27.007 §7.18) and URCs.
import { CAUSE } from '#shared/voice/release-cause.ts';
import { fieldsOf, integerField } from '../at/fields.ts';

/** <stat> of 3GPP TS 27.007 §7.18. */
export type ListedState = 'active' | 'held' | 'dialing' | 'alerting' | 'incoming' | 'waiting';

/** A voice call as the modem lists it. */
export interface ListedCall {
  readonly index: number;
  readonly direction: 'inbound' | 'outbound';
  readonly state: ListedState;
  /** The number as the modem sent it; null if it is withheld or missing. */
  readonly number: string | null;
}

export type CallEvent =
  | { readonly kind: 'listed'; readonly call: ListedCall }
  /** RING, +CRING: an incoming call rings. It is repeated every few seconds. */
  | { readonly kind: 'rings' }
  /** +CLIP: the caller's number; null if it is withheld. */
  | { readonly kind: 'caller'; readonly number: string | null }
  | { readonly kind: 'alerting' }
  | { readonly kind: 'answered' }
  /** `cause`: ITU-T Q.850, if the line contains it. */
  | { readonly kind: 'released'; readonly cause?: number }
  /** The far end pressed a key. */
  | { readonly kind: 'digit'; readonly digit: string }
  /** The modem paused or continues the audio input on its serial port. */
  | { readonly kind: 'audioFlow'; readonly isPaused: boolean };

const LISTED: readonly ListedState[] = ['active', 'held', 'dialing', 'alerting', 'incoming', 'waiting'];
const VOICE_MODE = 0;

/**
 * Reads the fields of +CLCC (3GPP TS 27.007 §7.18) and similar lines: index, direction, state, mode, multiparty, number, type. Returns
 * undefined for data calls, which LTE modems also list, and for invalid lines.
 */
export function listedCall(fields: readonly string[]): ListedCall | undefined {
  const [index, direction, state, mode] = [0, 1, 2, 3].map((position) => integerField(fields, position));
  const listed = state === undefined ? undefined : LISTED[state];
  if (index === undefined || listed === undefined || mode !== VOICE_MODE) return undefined;
  return {
    index,
    direction: direction === 1 ? 'inbound' : 'outbound',
    state: listed,
    number: numberOf(fields[5], fields[6]),
  };
}

/** Reads the answer to AT+CLCC. */
export const listedCalls = (lines: readonly string[]): ListedCall[] =>
  lines.flatMap((line) => listedCall(fieldsOf(line)) ?? []);

/** 3GPP TS 24.008 §10.5.4.7: type of number "international". */
const INTERNATIONAL = '145';

/** Most characters of a number on the control link, which ends over a longer one. */
const NUMBER_MAX = 32;

/** Returns a number, as E.164 if its type is international; null if there is none. A caller of a hostile network may have a longer one. */
export function numberOf(text: string | undefined, type?: string): string | null {
  if (text === undefined || text === '') return null;
  const number = type === INTERNATIONAL && /^\d+$/.test(text) ? `+${text}` : text;
  return number.slice(0, NUMBER_MAX);
}

/** Reads the lines that all makes send. */
export function commonCallEvent(line: string): CallEvent | undefined {
  // Also sent for data calls: "+CRING: REL ASYNC", "+CRING: GPRS".
  if (line === 'RING' || /^\+CRING:.*VOICE/.test(line)) return { kind: 'rings' };
  if (line.startsWith('+CLIP:')) {
    const [number, type] = fieldsOf(line);
    return { kind: 'caller', number: numberOf(number, type) };
  }
  switch (line) {
    case 'NO CARRIER':
      return { kind: 'released' };
    case 'BUSY':
      return { kind: 'released', cause: CAUSE.userBusy };
    case 'NO ANSWER':
      return { kind: 'released', cause: CAUSE.noAnswer };
    default:
      return undefined;
  }
}

/** Reads the text of AT+CEER: `+CEER: 5,16` on Quectel, words on others. Returns undefined if it contains no cause. */
export function causeOfReport(line: string): number | undefined {
  const numbers = line.slice(line.indexOf(':') + 1).match(/\b\d{1,3}\b/g) ?? [];
  const cause = Number(numbers.at(-1));
  if (cause > 0 && cause <= 127) return cause;
  if (/busy/i.test(line)) return CAUSE.userBusy;
  if (/no answer|not answer/i.test(line)) return CAUSE.noAnswer;
  if (/reject/i.test(line)) return CAUSE.callRejected;
  return undefined;
}
