// What a terminal can show, and what may be written to it.
import type { WriteStream } from 'node:tty';

/** Whether colours are wanted: on a terminal that has them, unless NO_COLOR says otherwise (no-color.org). */
export function hasColors(stream: Pick<WriteStream, 'isTTY'>): boolean {
  const { NO_COLOR: noColor = '', TERM: term } = process.env;
  return stream.isTTY && noColor === '' && term !== 'dumb';
}

/** A text of strangers on one line: what would steer the terminal, or turn the direction of writing, is shown as "�". */
export const onOneLine = (text: string): string =>
  text.replace(/\r?\n/g, ' ⏎ ').replace(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, '\ufffd');
