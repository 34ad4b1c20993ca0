// Verification of a file of receipts: each change of it shows, without the service.
import t from 'tap';
import {
  headOf,
  type ReceiptFile,
  verifyReceipts,
} from '#control-plane/client/commands/receipt-verification.ts';
import { receiptFile, receiptOf, signingKey } from '../../fixtures/payments/receipt-chain.ts';

const KEY = signingKey('key-1');
const KEYS = { keys: [KEY.jwk] };
const FILE = receiptFile(KEY, 6);

/** The file with other receipts, and a head that fits them. */
const withReceipts = (receipts: ReceiptFile['receipts']): ReceiptFile => ({
  receipts,
  head: headOf(receipts),
});
const at = (index: number) => {
  const receipt = FILE.receipts[index];
  if (receipt === undefined) throw new Error(`no receipt ${index}`);
  return receipt;
};
const hash = (index: number): string => String(headOf(FILE.receipts.slice(0, index))?.hash);
async function problemsOf(file: unknown, since?: string): Promise<string[]> {
  const { valid, problems } = await verifyReceipts(file, KEYS, { since });
  if (valid !== (problems.length === 0)) throw new Error('valid with problems');
  return problems.map(({ problem }) => problem);
}

t.test('a whole file is valid, also one that begins after the last known receipt', async (t) => {
  t.same(await verifyReceipts(FILE, KEYS, { since: hash(6) }), {
    valid: true,
    count: 6,
    head: FILE.head,
    problems: [],
    warnings: [],
  });
  t.same(await problemsOf({ receipts: [], head: null }), []);
  t.same(await problemsOf(FILE, hash(4)), []);
  t.same(await problemsOf(withReceipts(FILE.receipts.slice(4)), hash(4)), []);
  t.same(await problemsOf({ ...FILE, receipts: FILE.receipts.map((one) => ({ ...one, salt: null })) }), []);
});

t.test('a shortened file is valid, with a warning that its newest receipts may be missing', async (t) => {
  const short = withReceipts(FILE.receipts.slice(0, 4));
  const { valid, warnings } = await verifyReceipts(short, KEYS);
  t.ok(valid);
  t.match(warnings, [/^The newest receipts may be missing: .* receipt 4 is the last one\. .*--since HASH$/]);
  t.match(await verifyReceipts({ receipts: [], head: null }, KEYS), {
    valid: true,
    warnings: [/^The file has no receipts and proves nothing\./],
  });
  t.same((await verifyReceipts(short, KEYS, { since: hash(4) })).warnings, []);
  t.match(await verifyReceipts(short, KEYS, { since: hash(6) }), { valid: false, warnings: [] });
});

t.test('each bit', async (t) => {
  const { receipts, head } = receiptFile(KEY, 2);
  const octets = Buffer.from(JSON.stringify({ receipts, head }));
  const unseen: string[] = [];
  for (let bit = 0; bit < octets.length * 8; bit += 1) {
    const changed = Buffer.from(octets);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    let file: unknown;
    try {
      file = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(changed));
    } catch {
      continue;
    }
    if ((await problemsOf(file)).length === 0) unseen.push(`bit ${bit}: ${changed}`);
  }
  t.same(unseen, []);
  t.ok(octets.length > 1_000);
});

t.test('each omission, each repetition and each exchange', async (t) => {
  for (let index = 0; index < FILE.receipts.length - 1; index += 1) {
    const without = FILE.receipts.filter((_, other) => other !== index);
    t.ok((await problemsOf(withReceipts(without))).length > 0, `without ${index}`);
    const twice = FILE.receipts.flatMap((one, other) => (other === index ? [one, one] : [one]));
    t.ok((await problemsOf(withReceipts(twice))).length > 0, `${index} twice`);
    const exchanged = [...FILE.receipts];
    exchanged.splice(index, 2, at(index + 1), at(index));
    t.ok((await problemsOf(withReceipts(exchanged))).length > 0, `${index} later`);
  }
});

t.test('missing last receipts show only to a reader that kept the last hash', async (t) => {
  const shorter = withReceipts(FILE.receipts.slice(0, 4));
  t.same(await problemsOf(shorter), [], 'a shorter chain is a valid chain');
  t.match(await problemsOf(shorter, hash(6)), [/^the receipt that you saw last is neither/]);
  // The service signs another history after the fourth.
  const other = receiptFile(KEY, 6, { iat: 1_900_000_000 });
  t.same(await problemsOf(other), []);
  t.match(await problemsOf(other, hash(5)), [/^the receipt that you saw last/]);
  t.match(await problemsOf({ ...FILE, head: null }), ['"head" is null, but the file has receipts']);
  t.match(await problemsOf({ ...FILE, receipts: FILE.receipts.slice(0, 4) }), [
    /^"head" names receipt 6, but the file ends with 4$/,
  ]);
  const gap = withReceipts(FILE.receipts.filter((_, index) => index !== 2));
  t.same(await problemsOf(gap), ['receipt 3 is missing']);
});

t.test('receipts and heads that the service did not sign are refused', async (t) => {
  const forger = signingKey('key-1');
  t.match(await problemsOf(receiptFile(forger, 1)), ['the signature is wrong']);
  t.same(
    await problemsOf(receiptFile(signingKey('key-2'), 3)),
    ['the service has no key key-2'],
    'once, and not for each receipt',
  );
  const [, payload] = at(0).jws.split('.');
  const statement = JSON.parse(Buffer.from(String(payload), 'base64url').toString()) as object;
  const refused = async (jws: string, problem: RegExp) =>
    t.match(await problemsOf(withReceipts([{ ...at(0), jws }])), [problem]);
  const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'receipt+jwt', kid: 'key-1' })).toString(
    'base64url',
  );
  await refused(`${none}.${payload}.`, /header/);
  await refused(receiptOf(KEY, statement, { alg: 'EdDSA', typ: 'JWT', kid: 'key-1' }), /header/);
  await refused(
    receiptOf(KEY, statement, { alg: 'EdDSA', typ: 'receipt+jwt', kid: 'key-1', jwk: forger.jwk }),
    /header/,
  );
  await refused(receiptOf(KEY, { ...statement, kind: 'gift' }), /statement is unknown/);
  await refused(receiptOf(KEY, { ...statement, seq: 0 }), /statement is unknown/);
  t.match(
    await problemsOf(receiptFile(KEY, 2, { sub: 'sub_2' })),
    [],
    'of whom it is, is for the reader to compare',
  );
  const mixed = [at(0), ...receiptFile(KEY, 2, { sub: 'sub_2' }).receipts.slice(1)];
  t.match(await problemsOf(withReceipts(mixed)), [/"prev" is not the hash/, /another subscription/]);
});

t.test('a key for which everyone can sign', async (t) => {
  // The neutral element of the curve: R is it, too, and S is 0.
  const neutral = Buffer.alloc(32);
  neutral[0] = 1;
  const signature = Buffer.concat([neutral, Buffer.alloc(32)]).toString('base64url');
  const jws = `${at(0).jws.split('.').slice(0, 2).join('.')}.${signature}`;
  const file = withReceipts([{ ...at(0), jws }]);
  for (const sign of [0, 0x80]) {
    const point = Buffer.from(neutral);
    point[31] = sign;
    const weak = { keys: [{ ...KEY.jwk, x: point.toString('base64url') }] };
    t.match(await verifyReceipts(file, weak), {
      valid: false,
      problems: [{ place: 1, problem: 'the key is one for which everyone can sign' }],
    });
  }
});

t.test('files of other kinds', async (t) => {
  for (const file of [null, [], {}, { ...FILE, note: 'x' }, { receipts: [{}], head: null }])
    t.match(await problemsOf(file), [
      /^the file is not a file of receipts: (the whole|"[\w.]+") (is missing or has a wrong value|has an unknown field "note")$/,
    ]);
  const { receipts } = FILE;
  t.same(await problemsOf({ receipts, has_more: false }), [], 'an answer of the API');
  t.match(await problemsOf({ receipts, has_more: true }), [/^the file does not have the newest receipts/]);
  t.match(await verifyReceipts(FILE, { keys: 'x' }), { valid: false, problems: [{ problem: /Key Set/ }] });
});
