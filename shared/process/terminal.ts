// What a terminal can show, and what may be written to it.
import type { WriteStream } from 'node:tty';

/** Whether colours are wanted: on a terminal that has them, unless NO_COLOR says otherwise (no-color.org). */
export function hasColors(stream: Pick<WriteStream, 'isTTY'>): boolean {
  const { NO_COLOR: noColor = '', TERM: term } = process.env;
  return stream.isTTY && noColor === '' && term !== 'dumb';
}

/** What would steer a terminal (ESC, the rest of C0, DEL, C1), end a line or turn the direction of writing (UAX #9). */
const STEERING = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]/gu;

/** A text of strangers on one line: what would steer the terminal is shown as "�". */
export const onOneLine = (text: string): string => text.replace(/\r?\n/g, ' ⏎ ').replace(STEERING, '\ufffd');

/** Lines of ours, with texts of strangers in them. */
export const onLines = (text: string): string => text.split('\n').map(onOneLine).join('\n');

/** JSON that says the same and steers no terminal. */
export const toJson = (value: unknown, indent?: number): string =>
  unsteeringJson(JSON.stringify(value, undefined, indent));

/** The same of a text that is JSON already; a line break in it stands between values. */
export const unsteeringJson = (json: string): string =>
  json.replace(STEERING, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** What ended a program or a command, as a line of standard error. */
export const errorLine = (error: unknown): string =>
  `error: ${onLines(error instanceof Error ? error.message : String(error))}\n`;
