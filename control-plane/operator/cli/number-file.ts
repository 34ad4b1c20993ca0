// A list of numbers and their SIMs as an operator has it from a carrier: a line each, "number,iccid" or "number,iccid,node".
import { readFileSync, statSync } from 'node:fs';
import { hasLuhnDigit, iccidSchema, isE164 } from '#shared/identities.ts';
import { nodeNameSchema } from '#shared/link/enrollment.ts';
import { OperatorError } from '#shared/operator/operator-error.ts';
import { fileProblem } from '#shared/process/file-problem.ts';
import { isSellable } from '../../domain/sellable-number.ts';
import type { ImportedNumber } from '../../store/fleet/number-import.ts';
import { IMPORT_LINES_MAX } from '../procedures/fields.ts';

const BYTES_MAX = 1024 * 1024;

/** Throws what is wrong with the file, with a line for each bad line. */
export function readNumberFile(path: string): ImportedNumber[] {
  let text: string;
  try {
    if (statSync(path).size > BYTES_MAX)
      throw new OperatorError('refused', `${path} has more than ${BYTES_MAX} bytes`);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new Error(`${path} ${fileProblem(error)}`);
  }
  return parseNumbers(text);
}

/**
 * Lines of "number,iccid" or "number,iccid,node", with or without quotes. A first line with these words, empty lines and
 * those that begin with "#" say nothing. Throws `OperatorError` with a line for each bad line.
 */
export function parseNumbers(text: string): ImportedNumber[] {
  const rows: ImportedNumber[] = [];
  const problems: string[] = [];
  const numbers = new Map<string, number>();
  const iccids = new Map<string, number>();
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  lines.forEach((written, index) => {
    const line = index + 1;
    const cells = written.split(/[,;\t]/).map((cell) => cell.trim().replace(/^"(.*)"$/, '$1'));
    const [number = '', iccid = '', node = ''] = cells;
    if (written.trim() === '' || written.startsWith('#')) return;
    if (rows.length + problems.length === 0 && /^number$/i.test(number) && /^iccid$/i.test(iccid)) return;
    const problem =
      cells.length === 2 || cells.length === 3
        ? (problemOfNumber(number) ??
          problemOfIccid(iccid) ??
          problemOfNode(node) ??
          twice(numbers, number, line) ??
          twice(iccids, iccid, line))
        : 'is not "number,iccid" or "number,iccid,node"';
    if (problem === undefined) rows.push({ line, number, iccid, ...(node === '' ? {} : { node }) });
    else problems.push(`line ${line}: ${problem}`);
  });
  if (problems.length > 0) throw new OperatorError('refused', problems.join('\n'));
  if (rows.length === 0) throw new OperatorError('refused', 'it contains no numbers');
  if (rows.length > IMPORT_LINES_MAX)
    throw new OperatorError(
      'refused',
      `it has ${rows.length} numbers: import at most ${IMPORT_LINES_MAX} at once`,
    );
  return rows;
}

function problemOfNode(node: string): string | undefined {
  const issue = node === '' ? undefined : nodeNameSchema.safeParse(node).error?.issues[0];
  return issue && `the node ${issue.message}`;
}

function twice(seen: Map<string, number>, key: string, line: number): string | undefined {
  const earlier = seen.get(key);
  if (earlier !== undefined) return `${key} is already in line ${earlier}`;
  seen.set(key, line);
  return undefined;
}

function problemOfNumber(number: string): string | undefined {
  if (!isE164(number)) return `"${number}" is not an E.164 number, such as +12065550123`;
  return isSellable(number) ? undefined : `${number} is not a US mobile number`;
}

function problemOfIccid(iccid: string): string | undefined {
  if (!iccidSchema.safeParse(iccid).success) return `ICCID "${iccid}" needs 18 to 22 digits`;
  // It finds slips in a list that was typed.
  return hasLuhnDigit(iccid) ? undefined : `ICCID "${iccid}" has a wrong check digit`;
}
