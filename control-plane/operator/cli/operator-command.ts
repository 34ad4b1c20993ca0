// A command that opens the operator API and prints the text of an answer, and the options that such commands share.
import * as z from 'zod';
import { shownTime } from '#shared/operator/listing.ts';
import { type AnyCommand, programCommand } from '#shared/process/commands.ts';
import { type OptionsOf, type Specs, switchOption } from '#shared/process/options.ts';
import { onLines } from '#shared/process/terminal.ts';
import { OPTIONS } from '../../config/config.ts';
import type { OpenOperator } from '../open-operator.ts';

const { databaseUrl, dataDir, host, port, publicUrl } = OPTIONS;

/** Where a command finds the service's data. */
const WHERE = { databaseUrl, dataDir };
type Where = OptionsOf<typeof WHERE>;

/** For a command that names the URL of the service. */
export const URL_OPTIONS = { host, port, publicUrl };
type Url = OptionsOf<typeof URL_OPTIONS>;
const urlOf = (given: Partial<Url>): string =>
  (given.publicUrl ?? `http://${given.host}:${given.port}`).replace(/\/+$/, '');

export const JSON_OPTION = switchOption('Print JSON');
export const FULL_OPTION = {
  full: switchOption('Show wallets and subscribers’ numbers unmasked'),
};

/** An option with a value that is left out unless it is given as a flag. */
export const filterOption = <S extends z.ZodType>(about: string, schema: S) => ({
  about,
  schema: schema.optional(),
});

/** "out_of_service", "out-of-service" and "Out of service" are the same. */
const spelled = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, '_');

/** A filter by one of `values`. `wordsOf`: a value as rows of the console show it, which the filter takes as well. */
export function choiceOption<V extends readonly [string, ...string[]]>(
  about: string,
  values: V,
  wordsOf: (value: V[number]) => string = (value) => value,
) {
  const hasWords = (value: V[number]): boolean => spelled(wordsOf(value)) !== spelled(value);
  const inWords = values.filter(hasWords).map((value: V[number]) => `"${wordsOf(value)}" (${value})`);
  const names = values.map((value: V[number]) =>
    hasWords(value) ? `${value} ("${wordsOf(value)}")` : value,
  );
  const readValue = (text: string): string =>
    values.find((value) => spelled(value) === spelled(text)) ??
    values.find((value: V[number]) => spelled(wordsOf(value)) === spelled(text)) ??
    text;
  return filterOption(
    `${about}: ${values.join(', ')}${inWords.length === 0 ? '' : `. Or in words: ${inWords.join(', ')}`}`,
    z
      .string()
      .transform(readValue)
      .pipe(z.enum(values, { error: `must be one of ${names.join(', ')}` })),
  );
}

/** Text that is safe for a terminal already, with its own line ends. */
interface Csv {
  csv: string;
}

interface OperatorCommand<S extends Specs> {
  usage: string;
  about: string;
  options?: S;
  /** Works also where there is no database yet. */
  mayCreate?: boolean;
  /** Returns the text to print. */
  run(operator: OpenOperator, options: OptionsOf<S> & Where, args: readonly string[]): Promise<string | Csv>;
}

/** A command that opens the operator API, prints what `run` returns, and closes it. */
export const operatorCommand = <S extends Specs = Record<never, never>>({
  usage,
  about,
  options,
  mayCreate = false,
  run,
}: OperatorCommand<S>): AnyCommand =>
  programCommand({
    usage,
    about,
    options: { ...WHERE, ...options },
    async run(given, args) {
      const where = given as OptionsOf<S> & Where & Partial<Url>;
      // Help and bad options do not need it.
      const { openOperator } = await import('../open-operator.ts');
      const operator = await openOperator({ ...where, url: urlOf(where) }, { mayCreate });
      try {
        const printed = await run(operator, where, args);
        process.stdout.write(typeof printed === 'string' ? `${onLines(printed)}\n` : printed.csv);
      } finally {
        await operator.close();
      }
    },
  });

/** An argument or option as its schema wants it. Throws with what it must be. */
export function checked<S extends z.ZodType>(
  about: string,
  schema: S,
  text: string | undefined,
): z.output<S> {
  const parsed = schema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new Error(`the ${about} ${parsed.error.issues[0]?.message}`);
}

/** To the minute, UTC; "-" for nothing. */
export const timeOrDash = (time: string | null): string => (time === null ? '-' : shownTime(time));
