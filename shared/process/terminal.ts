// What a terminal can show, and what may be written to it.
import type { WriteStream } from 'node:tty';

/** Whether colours are wanted: on a terminal that has them, unless NO_COLOR says otherwise (no-color.org). */
export function hasColors(stream: Pick<WriteStream, 'isTTY'>): boolean {
  const { NO_COLOR: noColor = '', TERM: term } = process.env;
  return stream.isTTY && noColor === '' && term !== 'dumb';
}

/** What would steer a terminal, or turn the direction of writing. */
const STEERING = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

/** A text of strangers on one line: what would steer the terminal is shown as "�". */
export const onOneLine = (text: string): string => text.replace(/\r?\n/g, ' ⏎ ').replace(STEERING, '\ufffd');

/** Lines of ours, with texts of strangers in them. */
export const onLines = (text: string): string => text.split('\n').map(onOneLine).join('\n');

/** JSON that says the same and steers no terminal. */
export const toJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    STEERING,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
