// The dial string of ATD (ITU-T V.250 §6.3.1, 3GPP TS 27.007 §6.2). Pure.

/** Longest number: 40 digits of an address (3GPP TS 24.008 §10.5.4.7). */
const NUMBER = /^\+?[0-9*#A-D]{1,40}$/;
/** Tone, pulse, pause, wait, flash: for lines of old, and ignored. */
const MODIFIERS = /[TPW,!@ -]/gi;

/** A voice call to be made. */
export interface DialString {
  /** As it was dialed, without modifiers. */
  number: string;
  /** `I`: hidden for this call. `i`: shown. */
  hidesNumber: boolean | undefined;
}

/** `data` for a call without the semicolon, `undefined` for what is no number. */
export function parseDialString(value: string): DialString | 'data' | undefined {
  const isVoice = value.endsWith(';');
  const body = isVoice ? value.slice(0, -1) : value;
  const number = body
    .replace(/[ig]+$/i, '')
    .replace(MODIFIERS, '')
    .toUpperCase();
  if (!NUMBER.test(number)) return undefined;
  if (!isVoice) return 'data';
  const flags = /[ig]*$/i.exec(body)?.[0] ?? '';
  const hidesNumber = flags.includes('I') ? true : flags.includes('i') ? false : undefined;
  return { number, hidesNumber };
}
