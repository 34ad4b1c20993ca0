// Capabilities of a terminal, and text and tables that are safe to write to one.
import type { WriteStream } from 'node:tty';
import { messageOf } from '#shared/error-message.ts';

/** Whether colors are wanted: on a terminal that has them, unless NO_COLOR says otherwise (no-color.org). */
export function hasColors(stream: Pick<WriteStream, 'isTTY'>): boolean {
  const { NO_COLOR: noColor = '', TERM: term } = process.env;
  return stream.isTTY && noColor === '' && term !== 'dumb';
}

/**
 * Characters that control a terminal (ESC, the rest of C0, DEL, C1), end a line or change the text direction (UAX
 * #9).
 */
const STEERING = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]/gu;

/** Untrusted text on one line. Control characters become "�". */
export const onOneLine = (text: string): string => text.replace(/\r?\n/g, ' ⏎ ').replace(STEERING, '\ufffd');

/** Our own lines, with untrusted text in them. Line breaks stay. */
export const onLines = (text: string): string => text.split('\n').map(onOneLine).join('\n');

/** A value as JSON that is safe for a terminal. */
export const toJson = (value: unknown, indent?: number): string =>
  unsteeringJson(JSON.stringify(value, undefined, indent));

/** The same for a text that is JSON already. Line breaks stay: they are between values. */
export const unsteeringJson = (json: string): string =>
  json.replace(STEERING, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** The error that ended a program or a command, as a line of standard error. */
export const errorLine = (error: unknown): string => `error: ${onLines(messageOf(error))}\n`;

/**
 * Formats rows, safe for a terminal. Columns are as wide as their widest cell, two spaces apart, without trailing
 * spaces.
 */
export function alignedTable(header: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const all = [header, ...rows].map((row) => row.map(onOneLine));
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
