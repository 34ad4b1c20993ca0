// Our codec against a live python3-gammu: it reads what we write, and we read what it writes.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { addressFromText, linePduOf, tpduOfLinePdu } from '#hardware-sim/pdu/address.ts';
import { encodeDeliver, encodeStatusReport } from '#hardware-sim/pdu/deliver.ts';
import { segmentsOf } from '#hardware-sim/pdu/segments.ts';
import { decodeSubmit } from '#hardware-sim/pdu/submit.ts';
import { encodeTimestamp } from '#hardware-sim/pdu/timestamp.ts';
import { concatenationOf, textOf } from '#hardware-sim/pdu/user-data.ts';

/** Debian's package belongs to Debian's Python. */
const PYTHON = '/usr/bin/python3';
const isInstalled = spawnSync(PYTHON, ['-c', 'import gammu']).status === 0;
const skip = isInstalled || process.env['CI'] !== undefined ? false : 'python3-gammu is not installed';

function askGammu(requests: object[]): unknown[] {
  const input = requests.map((request) => JSON.stringify(request)).join('\n');
  const script = join(import.meta.dirname, '../fixtures/gammu-oracle.py');
  const { stdout, stderr, status } = spawnSync(PYTHON, [script], {
    input,
    encoding: 'utf8',
    timeout: 20_000,
  });
  if (status !== 0) throw new Error(`python3-gammu failed: ${stderr}`);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const TEXTS = [
  'A',
  'Hello world',
  '1234567',
  '12345678',
  '@£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&',
  '^{}\\[~]|€',
  'Привет, мир',
  'a😀b',
  'x'.repeat(160),
];

t.test('gammu reads our DELIVERs', { skip }, async (t) => {
  const senders = ['+15550000012', '12345', 'GOOGLE', 'My Bank'];
  const cases = TEXTS.flatMap((text) => senders.map((from) => ({ text, from })));
  const requests = cases.map(({ text, from }) => {
    const [userData] = segmentsOf(text, { referenceBits: 8, reference: 1 });
    if (userData === undefined) throw new Error('no segment');
    const tpdu = encodeDeliver({
      originator: from,
      protocolIdentifier: 0,
      hasReplyPath: false,
      timestamp: encodeTimestamp(Date.now(), -32),
      userData,
    });
    return { deliver: linePduOf('+15550000000', tpdu) };
  });
  const answers = askGammu(requests);
  cases.forEach(({ text, from }, index) => {
    t.match(answers[index], { text, number: from, type: 'Deliver' });
  });
});

t.test('gammu reads the parts of our long texts', { skip }, async (t) => {
  for (const referenceBits of [8, 16] as const) {
    const text = 'long text, '.repeat(40);
    const reference = referenceBits === 8 ? 0xab : 0x12ab;
    const segments = segmentsOf(text, { referenceBits, reference });
    const requests = segments.map((userData) => ({
      deliver: linePduOf(
        '+15550000000',
        encodeDeliver({
          originator: '+15550000012',
          protocolIdentifier: 0,
          hasReplyPath: false,
          timestamp: encodeTimestamp(Date.now(), 0),
          userData,
        }),
      ),
    }));
    const answers = askGammu(requests) as { text: string; parts: number[]; id8: number; id16: number }[];
    t.equal(answers.map((answer) => answer.text).join(''), text);
    t.same(
      answers.map((answer) => answer.parts),
      segments.map((_, index) => [segments.length, index + 1]),
    );
    t.equal(referenceBits === 8 ? answers[0]?.id8 : answers[0]?.id16, reference);
  }
});

t.test('gammu reads our status reports', { skip }, async (t) => {
  const tpdu = encodeStatusReport({
    messageReference: 201,
    recipient: addressFromText('+15550001234'),
    submittedAt: encodeTimestamp(Date.now(), -32),
    dischargedAt: encodeTimestamp(Date.now(), -32),
    status: 0x46,
  });
  const [answer] = askGammu([{ deliver: linePduOf('+15550000000', tpdu) }]);
  t.match(answer, {
    type: 'Status_Report',
    number: '+15550001234',
    message_reference: 201,
    delivery_status: 0x46,
  });
});

t.test('we read what gammu submits', { skip }, async (t) => {
  const cases = [
    ...TEXTS.map((text) => ({ text, kind: 'ConcatenatedTextLong' })),
    { text: 'A'.repeat(161), kind: 'ConcatenatedTextLong' },
    { text: 'B€'.repeat(200), kind: 'ConcatenatedTextLong16bit' },
    { text: 'Ж😀'.repeat(60), kind: 'ConcatenatedTextLong' },
  ];
  const requests = cases.map(({ text, kind }) => ({
    submit: text,
    kind,
    unicode: /[\u0400-\u04ff]|\p{Extended_Pictographic}/u.test(text),
  }));
  const answers = askGammu(requests) as string[][];
  cases.forEach(({ text }, index) => {
    const parts = (answers[index] ?? []).map((pdu) => decodeSubmit(tpduOfLinePdu(pdu)).userData);
    t.equal(parts.map((part) => textOf(part)).join(''), text);
    const numbers = parts.map((part) => concatenationOf(part)?.part);
    t.same(numbers, parts.length === 1 ? [undefined] : parts.map((_, part) => part + 1));
  });
});
