// The form of log lines: JSON for programs, text for people, and the priority of each line for a journal.
import { fstatSync } from 'node:fs';
import { prettyFactory } from 'pino-pretty';
import { jsonOf } from '../json.ts';
import type { LogFormat } from '../log.ts';
import { onLines, onOneLine } from './terminal.ts';

/** Priorities of syslog(3) by pino's levels, as sd-daemon(3) writes them in front of a line. */
const PRIORITIES: ReadonlyArray<readonly [level: number, priority: number]> = [
  [50, 3],
  [40, 4],
  [30, 6],
  [0, 7],
];

/** systemd names the device and the inode of the journal's socket (systemd.exec(5)). */
export function isJournal(descriptor: number, { JOURNAL_STREAM }: NodeJS.ProcessEnv): boolean {
  if (JOURNAL_STREAM === undefined) return false;
  try {
    const { dev, ino } = fstatSync(descriptor);
    return JOURNAL_STREAM === `${dev}:${ino}`;
  } catch {
    return false;
  }
}

interface Output {
  format: LogFormat;
  isTerminal: boolean;
  isJournal: boolean;
}

/** Turns a line of JSON into what is written. */
export function lineWriter({ format, isJournal, isTerminal }: Output): (json: string) => string {
  const isText = format === 'text' || (format === 'auto' && (isTerminal || isJournal));
  const text = prettyFactory({
    colorize: false,
    // A journal has the time and the name of the program.
    ignore: isJournal ? 'pid,hostname,name,time,level' : 'pid,hostname',
    translateTime: 'SYS:standard',
    singleLine: true,
  });
  return (json) => {
    // The text of a modem or of a client steers no terminal.
    const lines = isText ? onLines(withBlock(json, text)) : json;
    return isJournal ? withPriority(lines, priorityOf(json)) : lines;
  };
}

/** An event with the field `block` is a line, then a line for each entry of it. */
function withBlock(json: string, text: (json: string) => string): string {
  if (!json.includes('"block":{')) return text(json);
  const { block, ...rest } = jsonOf(json) as { block?: Record<string, unknown> | null };
  if (typeof block !== 'object' || block === null) return text(json);
  const entries = Object.entries(block).flatMap(([name, value]) =>
    [value].flat().map((each) => [name.replaceAll('_', ' '), onOneLine(String(each))] as const),
  );
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  const lines = entries.map(([name, value]) => `  ${name.padEnd(width)}  ${value}\n`);
  return `${text(`${JSON.stringify(rest)}\n`)}${lines.join('')}`;
}

/** Each line of a text is an entry of its own. */
const withPriority = (lines: string, priority: number): string => lines.replace(/^(?=.)/gm, `<${priority}>`);

function priorityOf(json: string): number {
  const level = Number(/^\{"level":(\d+)/.exec(json)?.[1] ?? 0);
  return PRIORITIES.find(([from]) => level >= from)?.[1] ?? 7;
}
