// The log of a program: lines on standard error, so that standard output has only the result of a command.
import { isatty } from 'node:tty';
import { destination, pino } from 'pino';
import type { LogFormat, Logger, LogLevel } from '../log.ts';
import { isJournal, lineWriter } from './log-lines.ts';
import { loggedError } from './logged-error.ts';
import { unsteeringJson } from './terminal.ts';

const STANDARD_ERROR = 2;

/** `onWrite` gets each line too, as JSON. */
export function createLogger(
  program: string,
  { logLevel, logFormat = 'json' }: { logLevel: LogLevel; logFormat?: LogFormat },
  onWrite: (json: string) => void = () => undefined,
): Logger {
  const standardError = destination({ dest: STANDARD_ERROR, sync: true });
  const written = lineWriter({
    format: logFormat,
    isTerminal: isatty(STANDARD_ERROR),
    isJournal: isJournal(STANDARD_ERROR, process.env),
  });
  return pino(
    {
      name: program,
      level: logLevel,
      serializers: { err: (error: unknown) => loggedError(error) },
      hooks: { streamWrite: (line) => unsteeringJson(redacted(line)) },
    },
    {
      write(text: string) {
        standardError.write(written(text));
        onWrite(text);
      },
    },
  );
}

const PATTERNS: ReadonlyArray<readonly [pattern: RegExp, replacement: string]> = [
  // Lengths have bounds, so that matching a long line is fast.
  [/[^\s"'<>@:,;()[\]\\/]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g, '[mail address]'],
  [/\bsimrack_[\w-]{43,60}/g, '[token]'],
  [/\b(Bearer|Payment) +[\w+/=.~-]{16,}/gi, '$1 [credential]'],
  // Wallets and contracts, keys, hashes, signatures, transactions: the pattern cannot distinguish them.
  [/\b0x[0-9a-f]{40,}/gi, '[hex]'],
  [/\b[0-9a-f]{64,}\b/gi, '[hex]'],
  // ICCIDs (ITU-T E.118) except their last four digits, which distinguish the cards of a rack.
  [/(?<!":|[\w.-])89\d{12,16}(\d{4})F?(?!\w)/g, '[ICCID …$1]'],
  [/\+\d{7,15}\b/g, '[number]'],
  // US numbers as people write them: area code and exchange begin with 2 to 9. Numeric fields are left alone.
  [/(?<!":|[\w.-])1?[2-9]\d{2}[2-9]\d{6}(?![\w-])/g, '[number]'],
  [/\+?(?:\b1[ .-])?(?:\([2-9]\d{2}\) ?|\b[2-9]\d{2}[ .-])\d{3}[ .-]\d{4}\b/g, '[number]'],
];

/** The last filter of the log: a line without private data. In its JSON only strings change, and lists of such numbers. */
export const redacted = (text: string): string =>
  PATTERNS.reduce((line, [pattern, replacement]) => line.replace(pattern, replacement), text);
