// The common part of the operator's tools: where the daemon is, how its operator API is opened, how they end.
import * as z from 'zod';
import { type OptionsOf, type Specs, switchOption } from '#shared/process/options.ts';
import { onLines } from '#shared/process/terminal.ts';
import { type DaemonSettings, daemonOptions, settingsOf } from '../../config/options.ts';
import type { NodeOperator } from '../node-operator.ts';
import { TIMEOUT_MS_MAX } from '../procedures/procedure.ts';

const { config, dataDir, defaultDataDir, logFormat: _format, logLevel: _level, ...ofModems } = daemonOptions;

/** Options that find the running daemon. */
export const DAEMON = { config, dataDir, defaultDataDir };

const grouped = <S extends Specs>(group: string, specs: S): S =>
  Object.fromEntries(Object.entries(specs).map(([key, spec]) => [key, { ...spec, group }])) as S;

/** Also those of the daemon's modems: a tool that finds no daemon uses the modems as the daemon would. */
export const WHERE = { ...DAEMON, ...grouped('If no daemon runs:', ofModems) };
type Where = OptionsOf<typeof WHERE>;

export const JSON_OPTION = switchOption('Print JSON');

const SECONDS_MAX = TIMEOUT_MS_MAX / 1000;
const SECONDS_PROBLEM = `must be a whole number of seconds from 1 to ${SECONDS_MAX}`;

/** In seconds, as people say it; gives milliseconds. `fallback`: the default, in words. */
export const timeoutOption = (fallback: string) => ({
  about: `Seconds to wait for the answer, from 1 to ${SECONDS_MAX}; default ${fallback}`,
  schema: z
    .string()
    .regex(/^[1-9]\d{0,2}$/, SECONDS_PROBLEM)
    .transform((text) => Number(text) * 1000)
    .refine((timeoutMs) => timeoutMs <= TIMEOUT_MS_MAX, SECONDS_PROBLEM)
    .optional(),
});

/** Opens the operator API, does the work of `tool`, and gives the modems back. */
export async function withOperator(
  tool: string,
  where: Where,
  work: (operator: NodeOperator, settings: DaemonSettings) => Promise<void>,
): Promise<void> {
  const settings = settingsOf({ ...where, logLevel: undefined });
  const { openNodeOperator } = await import('../open-operator.ts');
  const operator = await openNodeOperator(settings, { tool });
  if (!operator.isRunningDaemon) {
    process.stderr.write(`no daemon uses ${settings.dataDir}, so this command opens the modems\n`);
  }
  try {
    await work(operator, settings);
  } finally {
    await operator.close();
  }
}

/** Prints text of modems, networks and senders: none of it controls a terminal. */
export const print = (text: string): void => printDrawn(onLines(text));
export const printAside = (text: string): void => void process.stderr.write(`${onLines(text)}\n`);
/** With our own colors: text of strangers in it was escaped before. */
export const printDrawn = (text: string): void => void process.stdout.write(`${text}\n`);
