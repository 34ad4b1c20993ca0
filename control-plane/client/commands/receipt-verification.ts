// Verifies receipts offline: each signature and each link of the chain, so that none is missing before the last one of the file.
import { createHash } from 'node:crypto';
import { compactVerify, importJWK, type JSONWebKeySet } from 'jose';
import * as z from 'zod';
import {
  RECEIPT_ALGORITHM,
  RECEIPT_TYPE,
  type Receipt,
  type ReceiptStatement,
  receiptHashSchema,
  receiptSchema,
  receiptStatementSchema,
} from '#shared/api/receipts.ts';
import { messageOf } from '#shared/error-message.ts';

const headSchema = z.strictObject({ sequence: z.int().min(1), hash: receiptHashSchema });

/** A file of receipts, as `simrack receipts` prints it, or an answer of GET /receipts, which has `has_more` in place of `head`. */
const receiptFileSchema = z.strictObject({
  receipts: z.array(receiptSchema.strict()),
  /** The last receipt. */
  head: headSchema.nullable().optional(),
  has_more: z.boolean().optional(),
});

/** The file that `simrack receipts` prints. */
export interface ReceiptFile {
  receipts: Receipt[];
  head: { sequence: number; hash: string } | null;
}

const keySetSchema = z.object({
  keys: z.array(
    z.looseObject({ kty: z.string(), kid: z.string(), crv: z.string().optional(), x: z.string().optional() }),
  ),
});
const headerSchema = z.strictObject({
  alg: z.literal(RECEIPT_ALGORITHM),
  typ: z.literal(RECEIPT_TYPE),
  kid: z.string(),
});

/** A reason not to trust the file. */
interface ReceiptProblem {
  /** Place in the file, from 1; null for the whole file. */
  place: number | null;
  problem: string;
}

interface Verification {
  valid: boolean;
  count: number;
  head: ReceiptFile['head'];
  problems: ReceiptProblem[];
  /** Why a valid file may be incomplete all the same. */
  warnings: string[];
}

/** Names a receipt: base64url of the SHA-256 of its compact JWS. */
const receiptHashOf = (jws: string): string => createHash('sha256').update(jws).digest('base64url');

export const headOf = (receipts: readonly Receipt[]): ReceiptFile['head'] => {
  const last = receipts.at(-1);
  return last === undefined ? null : { sequence: last.sequence, hash: receiptHashOf(last.jws) };
};

/**
 * Verifies a file of receipts with the service's key set. `since`: hash of the last receipt that the caller saw before. Without it the
 * file must begin with the first receipt. Receipts that were dropped from its end do not show then, which a warning says.
 */
export async function verifyReceipts(
  file: unknown,
  keySet: unknown,
  { since }: { since?: string | undefined } = {},
): Promise<Verification> {
  const invalid = (problem: string): Verification => ({
    valid: false,
    count: 0,
    head: null,
    problems: [{ place: null, problem }],
    warnings: [],
  });
  const keys = keySetSchema.safeParse(keySet);
  if (!keys.success) return invalid('the keys are not a JSON Web Key Set');
  const parsed = receiptFileSchema.safeParse(file);
  if (!parsed.success) return invalid(`the file is not a file of receipts: ${whereIn(parsed.error)}`);
  const { receipts, head, has_more: hasMore } = parsed.data;
  const problems: ReceiptProblem[] = [];
  let before: { hash: string; statement: ReceiptStatement | undefined } | undefined;
  for (const [index, receipt] of receipts.entries()) {
    const report = (problem: string): void => {
      // One wrong key set is one problem.
      const isKnown = problem.startsWith(NO_KEY) && problems.some((known) => known.problem === problem);
      if (!isKnown) problems.push({ place: index + 1, problem });
    };
    const statement = await statementOf(receipt.jws, keys.data as JSONWebKeySet).catch((error: unknown) => {
      report(messageOf(error));
      return undefined;
    });
    if (statement !== undefined) {
      checkBeside(receipt, statement, report);
      if (before === undefined) checkFirst(statement, since, report);
      else checkAfter(statement, before, report);
    }
    before = { hash: receiptHashOf(receipt.jws), statement };
  }
  const whole = headOf(receipts);
  const isHead = head?.sequence === whole?.sequence && head?.hash === whole?.hash;
  if (head !== undefined && !isHead) problems.push({ place: null, problem: headProblem(head, whole) });
  if (hasMore === true)
    problems.push({
      place: null,
      problem: 'the file does not have the newest receipts: has_more is true',
    });
  if (since !== undefined && !contains(receipts, since)) {
    const problem =
      'the receipt that you saw last is neither in the file nor before it: the service dropped or replaced it, or the file begins later';
    problems.push({ place: null, problem });
  }
  const isValid = problems.length === 0;
  const warnings = isValid && since === undefined ? [mayBeShort(whole)] : [];
  return { valid: isValid, count: receipts.length, head: whole, problems, warnings };
}

/** `head` of the file against the last receipt in it. */
function headProblem(head: ReceiptFile['head'], last: ReceiptFile['head']): string {
  if (head === null) return `"head" is null, but the file has receipts`;
  if (last === null) return `"head" names receipt ${head.sequence}, but the file has none`;
  return head.sequence === last.sequence
    ? `"head" has another hash than receipt ${last.sequence}, the last of the file`
    : `"head" names receipt ${head.sequence}, but the file ends with ${last.sequence}`;
}

const NO_KEY = 'the service has no key';

const mayBeShort = (head: ReceiptFile['head']): string =>
  `${
    head === null
      ? 'The file has no receipts and proves nothing. '
      : `The newest receipts may be missing: nothing in the file shows that receipt ${head.sequence} is the last one. `
  }To check that, give the hash of the newest receipt that you know: --since HASH`;

/** The statement of a receipt. Throws an `Error` that says what is wrong with it. */
async function statementOf(jws: string, { keys }: JSONWebKeySet): Promise<ReceiptStatement> {
  const parts = jws.split('.');
  // Some bits of the last character of base64url have no meaning: a change of them would pass.
  if (
    parts.length !== 3 ||
    !parts.every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)
  )
    throw new Error('not a compact JWS in canonical base64url');
  const header = headerSchema.safeParse(jsonIn(parts[0]));
  if (!header.success) throw new Error('the header is not that of a receipt');
  const jwk = keys.find(({ kid }) => kid === header.data.kid);
  if (jwk === undefined) throw new Error(`${NO_KEY} ${header.data.kid}`);
  const { kty, crv, x } = jwk;
  if (kty !== 'OKP' || crv !== 'Ed25519' || x === undefined) throw new Error('the key is not an Ed25519 key');
  if (isOfSmallOrder(x)) throw new Error('the key is one for which everyone can sign');
  try {
    await compactVerify(jws, await importJWK({ kty, crv, x }, RECEIPT_ALGORITHM), {
      algorithms: [RECEIPT_ALGORITHM],
    });
  } catch {
    throw new Error('the signature is wrong');
  }
  const statement = receiptStatementSchema.safeParse(jsonIn(parts[1]));
  if (!statement.success) throw new Error(`the statement is unknown: ${whereIn(statement.error)}`);
  return statement.data;
}

const HIGH_BYTES = 'ff'.repeat(30);

/**
 * Encodings of the points of small order, without their sign: one signature fits every message (Chalkias, Garillot, Nikolaenko: Taming the
 * many EdDSAs, table 1). A service with such a key could deny each receipt.
 */
const SMALL_ORDER: ReadonlySet<string> = new Set([
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  `ec${HIGH_BYTES}7f`,
  `ed${HIGH_BYTES}7f`,
  `ee${HIGH_BYTES}7f`,
]);

function isOfSmallOrder(x: string): boolean {
  const point = Buffer.from(x, 'base64url');
  point[31] = (point[31] ?? 0) & 0x7f;
  return SMALL_ORDER.has(point.toString('hex'));
}

function jsonIn(part = ''): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

type Report = (problem: string) => void;

/** Compares the unsigned fields, number and salt, with the signed statement. */
function checkBeside({ sequence, salt }: Receipt, statement: ReceiptStatement, report: Report): void {
  if (sequence !== statement.seq)
    report(`"sequence" is ${sequence}, and the receipt is number ${statement.seq}`);
  if (salt === null) return;
  const digest = createHash('sha256').update(salt).digest('hex');
  if (!('salt_digest' in statement) || statement.salt_digest !== digest)
    report('the salt is not that of this receipt');
}

const missing = (first: number, last: number): string =>
  first === last ? `receipt ${first} is missing` : `receipts ${first} to ${last} are missing`;

function checkFirst({ prev, seq }: ReceiptStatement, since: string | undefined, report: Report): void {
  if ((seq === 1) !== (prev === null)) report('only the first receipt has none before it');
  if (seq > 1 && prev !== since) report(missing(1, seq - 1));
}

function checkAfter(
  { prev, seq, sub }: ReceiptStatement,
  before: { hash: string; statement: ReceiptStatement | undefined },
  report: Report,
): void {
  // A receipt that cannot be read is reported already.
  const { statement } = before;
  const isGap = statement !== undefined && seq > statement.seq + 1;
  // Its "prev" is that of a receipt which is not there.
  if (prev !== before.hash && !isGap) report('its "prev" is not the hash of the receipt before it');
  if (statement === undefined) return;
  if (isGap) report(missing(statement.seq + 1, seq - 1));
  else if (seq !== statement.seq + 1) report(`it is number ${seq}, after number ${statement.seq}`);
  // The URL of the service may change.
  if (sub !== statement.sub) report('it is of another subscription');
}

const contains = (receipts: readonly Receipt[], hash: string): boolean =>
  receipts.some(({ jws }, index) => {
    if (receiptHashOf(jws) === hash) return true;
    const first = index === 0 ? (jsonIn(jws.split('.')[1]) as { prev?: unknown } | undefined) : undefined;
    return first?.prev === hash;
  });

function whereIn(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return '';
  const place = issue.path.length === 0 ? 'the whole' : `"${issue.path.join('.')}"`;
  return issue.code === 'unrecognized_keys'
    ? `${place} has an unknown field "${issue.keys[0]}"`
    : `${place} is missing or has a wrong value`;
}
