// The carrier's answers to USSD codes: a menu, other alphabets, errors, and no answer. Pure.

/** <m> of +CUSD (3GPP TS 27.007 §7.15), and the text of those that have one. */
export type UssdAnswer =
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly waits: boolean;
      readonly alphabet: 'gsm7' | 'ucs2';
    }
  | { readonly kind: 'result'; readonly m: 2 | 3 | 4 | 5 }
  /** The carrier never answers. */
  | { readonly kind: 'silence' };

const final = (text: string): UssdAnswer => ({ kind: 'text', text, waits: false, alphabet: 'gsm7' });

const MENU: UssdAnswer = {
  kind: 'text',
  waits: true,
  alphabet: 'gsm7',
  text: 'Simrack Mobile\n1 Balance\n2 My number',
};

const CODES: ReadonlyMap<string, UssdAnswer> = new Map([
  ['*100#', final('Your balance is $12.34, good until 31.12.')],
  ['*101#', { kind: 'text', text: 'Баланс: 12,34 €', waits: false, alphabet: 'ucs2' }],
  ['*102#', MENU],
  ['*103#', { kind: 'silence' }],
  ['*104#', { kind: 'result', m: 4 }],
  ['*105#', { kind: 'result', m: 2 }],
]);

/** The answer to a code that begins a dialogue. */
export const answerToCode = (code: string): UssdAnswer => CODES.get(code) ?? final('Unknown code');

/** The answer to a reply to the menu, from the SIM of `number`. */
export function answerToReply(reply: string, number: string): UssdAnswer {
  if (reply === '1') return answerToCode('*100#');
  if (reply === '2') return final(`Your number is ${number}`);
  return MENU;
}
