// Reads a YAML file of an operator, and reports every problem with line, column and key; schemas for its values.
import { readFileSync } from 'node:fs';
import { CST, type Document, isMap, isNode, isPair, isScalar, Lexer, LineCounter, parseDocument } from 'yaml';
import * as z from 'zod';
import { fileProblem } from './file-problem.ts';
import { allowedKeys, closest, type Path } from './suggestion.ts';

const MIB = 1024 * 1024;
/** A file of the most slots and SIM cards is a tenth of this. */
const TEXT_LENGTH_MAX = MIB;
/** Aliases may not make a document many times as large as its text. */
const ALIASES_MAX = 100;
/** Levels of nested lists and maps: none of our files has more than five. */
const DEPTH_MAX = 64;
const INDENTED_TOO_FAR = /^[ \t?:-]{256}/m;

/** The file cannot be used; the message has a line for each problem: `file:line:column: key: what is allowed`. */
export class ConfigFileError extends Error {
  override name = 'ConfigFileError';
}

/** Reads a file; `undefined` when it does not exist. Throws `ConfigFileError`. */
export function readConfigText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new ConfigFileError(`${file}: ${fileProblem(cause)}`, { cause });
  }
}

/**
 * Parses YAML, with every scalar as text: 0123 stays a PIN, and a long number is not rounded. `file` is the name
 * in messages. Returns `undefined` for an empty text. Throws `ConfigFileError`.
 */
export const parseConfigText = <S extends z.ZodType>(
  schema: S,
  text: string,
  file: string,
): z.output<S> | undefined => parseConfigDocument(schema, text, file)?.value;

/** As `parseConfigText`, with the line of each value. `lengthMax`: of the text, in characters. */
export function parseConfigDocument<S extends z.ZodType>(
  schema: S,
  text: string,
  file: string,
  lengthMax = TEXT_LENGTH_MAX,
): { value: z.output<S>; lineOf(path: Path): number } | undefined {
  if (text.length > lengthMax)
    throw new ConfigFileError(`${file}: the file is longer than ${lengthMax / MIB} MiB`);
  if (isTooDeep(text))
    throw new ConfigFileError(`${file}: has more than ${DEPTH_MAX} lists and maps in each other`);
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { schema: 'failsafe', lineCounter, prettyErrors: false });
  const at = (offset: number): string => {
    const { line, col } = lineCounter.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const [broken] = [...document.errors, ...document.warnings];
  if (broken !== undefined) {
    // The library's own message is for programmers.
    const message = broken.code === 'MULTIPLE_DOCS' ? 'must be one document, without "---"' : broken.message;
    throw new ConfigFileError(`${at(broken.pos[0])}: ${message}`);
  }
  if (document.contents === null) return undefined;
  const parsed = schema.safeParse(valuesIn(document, file));
  if (parsed.success)
    return {
      value: parsed.data,
      lineOf: (path) => lineCounter.linePos(offsetOf(document, path)).line,
    };
  const { issues } = parsed.error;
  const misspelled = new Set(
    issues.filter(({ code }) => code === 'unrecognized_keys').map(({ path }) => path.join('.')),
  );
  const problems = issues
    // A misspelled key explains the problem of the whole map.
    .filter(({ code, path }) => code !== 'custom' || !misspelled.has(path.join('.')))
    .flatMap((issue) => problemsOf(document, schema, issue))
    .sort((one, other) => one.offset - other.offset);
  throw new ConfigFileError(problems.map(({ offset, text }) => `${at(offset)}: ${text}`).join('\n'));
}

/** The parser and all that reads its document call themselves for each level, and their stack ends. */
function isTooDeep(text: string): boolean {
  // In lines, a level below another begins further right, but for a list in a map.
  if (INDENTED_TOO_FAR.test(text)) return true;
  let depth = 0;
  let before = '';
  for (const token of new Lexer().lex(text)) {
    // Behind the mark of a scalar there is its text.
    if (before !== CST.SCALAR && /^[[{]$/.test(token)) depth += 1;
    else if (before !== CST.SCALAR && /^[\]}]$/.test(token)) depth -= 1;
    if (depth > DEPTH_MAX) return true;
    before = token;
  }
  return false;
}

function valuesIn(document: Document, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: ALIASES_MAX });
  } catch (cause) {
    // The library's error for aliases that expand too far, or to themselves.
    throw new ConfigFileError(`${file}: its aliases (*name) cannot be used: write the values out`, { cause });
  }
}

interface Problem {
  readonly offset: number;
  readonly text: string;
}

function problemsOf(document: Document, schema: z.ZodType, issue: z.core.$ZodIssue): Problem[] {
  const path = issue.path as Path;
  if (issue.code === 'unrecognized_keys') {
    const allowed = allowedKeys(schema, path);
    return issue.keys.map((key) => {
      const meant = closest(key, allowed);
      const hint = meant === undefined ? `allowed are ${allowed.join(', ')}` : `did you mean ${meant}?`;
      const offset = keyOffsetOf(document, path, key);
      return { offset, text: `${keyOf([...path, key])}unknown key; ${hint}` };
    });
  }
  const missing = path.length > 0 && !document.hasIn(path) ? 'is missing: ' : '';
  const offset =
    issue.code === 'invalid_key'
      ? keyOffsetOf(document, path.slice(0, -1), String(path.at(-1)))
      : offsetOf(document, path);
  return [{ offset, text: `${keyOf(path)}${missing}${issue.message}` }];
}

/** `slots[0].imei: `; nothing for the whole file. */
function keyOf(path: Path): string {
  const key = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return key === '' ? '' : `${key.replace(/^\./, '')}: `;
}

/** Position of a missing key: that of the map that it belongs to. */
function offsetOf(document: Document, path: Path): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

function keyOffsetOf(document: Document, path: Path, key: string): number {
  const node = path.length === 0 ? document.contents : document.getIn(path, true);
  const pair = isMap(node)
    ? node.items.find((item) => isScalar(item.key) && item.key.value === key)
    : undefined;
  return isPair(pair) && isNode(pair.key) && pair.key.range ? pair.key.range[0] : offsetOf(document, path);
}

/** A text of one form; its message reads as "must be …", like those of the next schemas. Every scalar arrives as text, so that the zeros in front of a PIN survive. */
export const text = (pattern: RegExp, allowed: string) =>
  z.string(`must be ${allowed}`).regex(pattern, `must be ${allowed}`);
/** One of some words. */
export const choice = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` });
/** `true` or `false`. */
export const yesOrNo = choice(['true', 'false']).transform((value) => value === 'true');
/** From `min` to `max`. */
export const wholeNumber = (min: number, max: number) =>
  text(/^\d{1,9}$/, `a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`);
/** A map of known keys. */
export const map = <S extends z.ZodRawShape>(shape: S) =>
  z.strictObject(shape, { error: ({ code }) => (code === 'invalid_type' ? 'must be a map' : undefined) });
