// An AT command as data: its text, the lines that answer it, and its time limit.
import assert from 'node:assert/strict';
import { timeoutOf } from './command-timeout.ts';

/** The text to write and how to recognize the answer. */
export interface AtCommand {
  /** The command line without its CR. */
  readonly text: string;
  /** The command line as logs and errors show it, because the line may be secret. */
  readonly shownAs: string;
  /** Lines that match are its information responses; all others are URCs. Absent: all lines are URCs. */
  readonly answer?: RegExp;
  /** True if the answer has at least one information response. An OK before it belongs to another command. */
  readonly answerRequired?: boolean;
  /** True if the answer is one line. Of several matching lines the last is the answer, and the others are URCs. */
  readonly answerSingle?: boolean;
  /** Matches information responses that are followed by a line of hexadecimal digits (+CMGR, +CMGL). */
  readonly bodyAfter?: RegExp;
  /** True if the answer may be on the line of an error, as in Huawei's "ERROR+CNUM: …". */
  readonly answerMayTrail?: boolean;
  /** True for ATD and ATA, which NO CARRIER, BUSY, NO ANSWER, NO DIALTONE and CONNECT end (V.250 §5.7.1). */
  readonly endsLikeCall?: boolean;
  /** Written at the "> " prompt, followed by Ctrl-Z (3GPP TS 27.005 §4.3). */
  readonly body?: string;
  readonly timeoutMs: number;
}

type CommandOptions = Partial<Omit<AtCommand, 'text'>>;

/**
 * Makes a command. Throws `AssertionError` for characters that would end the command line early or
 * reach the modem as control characters.
 */
export function atCommand(text: string, options: CommandOptions = {}): AtCommand {
  assert(/^[\x20-\x7e]{2,512}$/.test(text), 'an AT command is printable ASCII');
  assert(options.body === undefined || /^[\x20-\x7e]+$/.test(options.body), 'a body is printable ASCII');
  return { timeoutMs: timeoutOf(text), shownAs: text, ...options, text };
}

/** Makes a query whose answer is one line with this prefix, such as "+CSQ:". */
export function atQuery(text: string, prefix: string, options: CommandOptions = {}): AtCommand {
  return atCommand(text, {
    answer: withPrefix(prefix),
    answerRequired: true,
    answerSingle: true,
    ...options,
  });
}

/** Patterns by prefix. The prefixes are constants of the program, so there are few. */
const PREFIXES = new Map<string, RegExp>();

/** Returns a pattern for lines with this prefix. */
export function withPrefix(prefix: string): RegExp {
  const known = PREFIXES.get(prefix);
  if (known !== undefined) return known;
  const pattern = new RegExp(`^${prefix.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`);
  PREFIXES.set(prefix, pattern);
  return pattern;
}

/** Returns a string argument in quotes (V.250 §5.4.2.2). Throws `AssertionError` for a value that cannot be quoted. */
export function quoted(value: string): string {
  assert(/^[\x20\x21\x23-\x7e]{0,256}$/.test(value), 'a quoted argument is printable ASCII without quotes');
  return `"${value}"`;
}
