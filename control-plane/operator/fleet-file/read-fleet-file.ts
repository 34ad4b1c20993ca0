// Reads a fleet file, YAML or CSV by the end of its name.
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import * as z from 'zod';
import { OperatorError } from '#shared/operator/operator-error.ts';
import { map, parseConfigDocument } from '#shared/process/config-file.ts';
import { fileProblem } from '#shared/process/file-problem.ts';
import { CARD_FIELDS, CARDS_MAX, type FleetRow, repeated } from './card-schema.ts';
import { csvCards } from './csv-cards.ts';

/** Twice as much as the most cards need. */
const BYTES_MAX = 8 * 1024 * 1024;

/** Returns the cards. Throws an error with a line for each problem of the file. */
export function readFleetFile(path: string): FleetRow[] {
  const kind = extname(path).toLowerCase();
  if (!['.csv', '.yaml', '.yml'].includes(kind))
    throw new OperatorError('refused', `${path}: the name of a fleet file ends with .csv, .yaml or .yml`);
  const text = textOf(path);
  const rows = kind === '.csv' ? csvCards(text) : yamlCards(text, path);
  if (rows.length === 0) throw new OperatorError('refused', `${path} contains no cards`);
  if (rows.length > CARDS_MAX)
    throw new OperatorError(
      'refused',
      `${path} has ${rows.length} cards: apply at most ${CARDS_MAX} at once`,
    );
  return rows;
}

function textOf(path: string): string {
  const bytes = bytesOf(path);
  if (isUtf16(bytes))
    throw new OperatorError(
      'refused',
      `${path} is not UTF-8 but UTF-16, as Excel writes "Unicode Text" and PowerShell writes with ">": save it as "CSV UTF-8", or as YAML`,
    );
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new OperatorError('refused', `${path} is not UTF-8: save it as "CSV UTF-8", or as YAML`, cause);
  }
}

/** By its byte order mark, or by the NUL bytes of ASCII text in UTF-16. */
const isUtf16 = (bytes: Buffer): boolean =>
  [0xfeff, 0xfffe].includes(bytes.length < 2 ? 0 : bytes.readUInt16BE(0)) ||
  bytes.subarray(0, 64).includes(0);

function bytesOf(path: string): Buffer {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const stat = fstatSync(file);
    // The size of a pipe or a device is not known before its end.
    if (!stat.isFile()) throw new OperatorError('refused', `${path} is not a file`);
    if (stat.size > BYTES_MAX)
      throw new OperatorError('refused', `${path} has more than ${BYTES_MAX / 1024 / 1024} MiB`);
    return readFileSync(file);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError('refused', `${path} ${fileProblem(error)}`, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

const fleetSchema = map({
  cards: z
    .array(map(CARD_FIELDS), 'must be a list')
    .max(CARDS_MAX, `must have at most ${CARDS_MAX} cards`)
    .superRefine(
      (cards, context) => {
        for (const [index, field, earlier] of repeated(cards))
          context.addIssue({
            code: 'custom',
            path: [index, field],
            message: `is already in cards[${earlier}]`,
          });
      },
      // Beside all other problems.
      { when: ({ value }) => Array.isArray(value) },
    ),
});

/** Returns the cards. Throws `ConfigFileError` with a line for each problem. */
function yamlCards(text: string, file: string): FleetRow[] {
  const document = parseConfigDocument(fleetSchema, text, file, BYTES_MAX);
  return (document?.value.cards ?? []).map((card, index) => ({
    line: document?.lineOf(['cards', index]) ?? 0,
    ...card,
  }));
}
