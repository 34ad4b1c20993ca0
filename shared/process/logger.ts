// The log of a program: JSON lines on standard error, so that standard output has only the result of a command.
import { destination, pino } from 'pino';
import type { Logger } from '../log.ts';
import { loggedError } from './logged-error.ts';
import { redacted } from './redaction.ts';
import { unsteeringJson } from './terminal.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** `onWrite` gets the written text too, as whole lines. */
export function createLogger(
  program: string,
  level: LogLevel,
  onWrite: (text: string) => void = () => undefined,
): Logger {
  const standardError = destination({ dest: 2, sync: true });
  return pino(
    {
      name: program,
      level,
      serializers: { err: (error: unknown) => loggedError(error) },
      hooks: { streamWrite: (line) => unsteeringJson(redacted(line)) },
    },
    {
      write(text: string) {
        standardError.write(text);
        onWrite(text);
      },
    },
  );
}
