// The account of an API: its numbers, and what its parts share.
import type { SimrackClient } from '../simrack-client.ts';
import type { Callbacks } from './callbacks.ts';
import { invalid } from './refusal.ts';
import type { CallSids } from './sids.ts';

/** A number of the account. */
export interface Phone {
  client: SimrackClient;
  /** E.164. */
  number: string;
}

export interface TwilioAccount {
  sid: string;
  authToken: string;
  phones: readonly Phone[];
  callSids: CallSids;
  callbacks: Callbacks;
  /** Verbs and attributes of TwiML, and parameters of requests, to leave out. */
  skipped: readonly string[];
  /** Reports something that people should know. */
  note: (words: string) => void;
  /** Ends everything. */
  signal: AbortSignal;
}

/** Rows of a number's history that a request for one of them reads. */
export const SEARCHED_MAX = 1_000;

/** The row that fits, and its number. */
export async function findRow<R>(
  { phones }: TwilioAccount,
  rowsOf: (client: SimrackClient) => AsyncIterable<R>,
  fits: (row: R) => boolean,
): Promise<{ phone: Phone; row: R } | undefined> {
  for (const phone of phones) {
    let left = SEARCHED_MAX;
    for await (const row of rowsOf(phone.client)) {
      if (fits(row)) return { phone, row };
      left -= 1;
      if (left === 0) break;
    }
  }
  return undefined;
}

export const API_VERSION = '2010-04-01';

/** Path of a resource of the account, without `.json`. */
export const resourcePathOf = ({ sid }: TwilioAccount, resource: string): string =>
  `/${API_VERSION}/Accounts/${sid}/${resource}`;

/** The number that a request names as `From`. Throws `TwilioRefusal`: without one, or with one of another account. */
export function phoneOf(
  { phones }: TwilioAccount,
  from: string | undefined,
  { missing, foreign }: { missing: number; foreign: number },
): Phone {
  if (from === undefined) throw invalid(missing, "A 'From' phone number is required.");
  const phone = phones.find(({ number }) => number === from);
  if (phone !== undefined) return phone;
  const numbers = phones
    .map(({ number }) => number)
    .slice(0, 5)
    .join(', ');
  throw invalid(
    foreign,
    `The 'From' number ${from} is not a number of this account: ${numbers}${plusHint(from) && `.${plusHint(from)}`}`,
  );
}

/** A form has a space for a `+` that is not encoded. */
const plusHint = (number: string): string => (/^ \d/.test(number) ? ' Write + as %2B.' : '');

/** E.164. Throws `TwilioRefusal`. */
export function destinationOf(to: string | undefined, missing: number): string {
  if (to === undefined) throw invalid(missing, "A 'To' phone number is required.");
  if (!/^\+[1-9]\d{1,14}$/.test(to))
    throw invalid(21_211, `The 'To' number ${to.slice(0, 40)} is not a valid phone number.${plusHint(to)}`);
  return to;
}

/** As Twilio writes times: RFC 2822, in UTC. */
export const rfc2822 = (time: Date | string): string => new Date(time).toUTCString().replace('GMT', '+0000');
