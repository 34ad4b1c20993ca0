// Facts about an option, read from its schema: default, unit and range.
import * as z from 'zod';
import { booleanOption, type OptionSpec } from '../../../shared/process/options.ts';
import { code, codes, shownMs, shownNumber } from '../markdown.ts';

interface Definition {
  type: string;
  innerType?: z.ZodType;
  in?: z.ZodType;
  out?: z.ZodType;
}

const definitionOf = (schema: z.ZodType): Definition => schema._zod.def as unknown as Definition;

/** The schema and those that it wraps: optional, with a default, transformed. */
function layers(schema: z.ZodType): z.ZodType[] {
  const { innerType, in: input, out } = definitionOf(schema);
  return [schema, ...[innerType ?? input, out].flatMap((each) => (each === undefined ? [] : layers(each)))];
}

/** Milliseconds, days …: the names of options end with their unit. */
const UNITS: readonly [RegExp, string][] = [
  [/_MS$/, 'milliseconds'],
  [/_DAYS$/, 'days'],
  [/_MINUTES$/, 'minutes'],
  [/_PERCENT$/, 'percent'],
  [/_HZ$/, 'hertz'],
  [/_BLOCKS$/, 'blocks'],
  [/_PER_MINUTE$/, 'per minute'],
];

const unitOf = (name: string): string | undefined => UNITS.find(([ending]) => ending.test(name))?.[1];

/** The default as people read it; undefined where there is none. */
export function defaultOf({ env = '', isSwitch, schema }: OptionSpec): string | undefined {
  const parsed = schema.safeParse(undefined);
  if (isSwitch === true || !parsed.success || parsed.data === undefined) return undefined;
  const written = writtenDefault(schema);
  const text = typeof written === 'object' ? String(written) : code(String(written ?? parsed.data));
  return /_MS$/.test(env) && typeof parsed.data === 'number' && parsed.data > 0
    ? `${text} (${shownMs(parsed.data)})`
    : text;
}

/** As it would be written, where the default is a text that is read further. */
function writtenDefault(schema: z.ZodType): unknown {
  for (const layer of layers(schema)) {
    const { defaultValue } = layer._zod.def as { defaultValue?: unknown };
    if (defaultValue !== undefined) return defaultValue;
  }
  return undefined;
}

/** Unit and range, or the values that may be given. */
export function valuesOf({ env = '', isSwitch, isValueOptional, schema }: OptionSpec): string {
  if (isSwitch === true) return 'flag';
  if (isValueOptional === true) return 'flag, or with a value';
  const all = layers(schema);
  const options = all.flatMap((layer) => (layer instanceof z.ZodEnum ? [layer.options] : []))[0];
  if (options !== undefined) return codes(options);
  const range = all.flatMap((layer) => rangeOf(layer))[0];
  if (range !== undefined) return [unitOf(env), range].filter(Boolean).join(', ');
  return schema === booleanOption ? '`true`, `false`' : '';
}

function rangeOf(schema: z.ZodType): string[] {
  const { maximum, minimum } = (schema.meta() ?? {}) as { minimum?: number; maximum?: number };
  return minimum === undefined || maximum === undefined
    ? []
    : [`${shownNumber(minimum)} to ${shownNumber(maximum)}`];
}

/** Must be given: the program does not start without it. */
export const isRequired = ({ schema }: OptionSpec): boolean => !schema.safeParse(undefined).success;
