// Our codec against gammu's, both ways: what we encode it decodes, what it encodes we decode.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { joinParts, type MessagePart } from '#node-daemon/sms/concatenation.ts';
import { decodeReceived, encodeSubmit } from '#node-daemon/sms/tpdu.ts';
import { GSM7_ALPHABET, GSM7_EXTENSION } from '#shared/sms/gsm7-alphabet.ts';
import { segmentText } from '#shared/sms/segmentation.ts';

interface Answer {
  text?: string;
  number?: string;
  pdus?: string[];
  error?: string;
}

/** Debian's python has Debian's python3-gammu; another one first in PATH would not. */
function gammu(requests: object[]): Answer[] {
  const script = join(import.meta.dirname, 'gammu-codec.py');
  const input = requests.map((request) => `${JSON.stringify(request)}\n`).join('');
  const { status, stdout, stderr } = spawnSync('/usr/bin/python3', [script], { input, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Answer);
}

const hasGammu = spawnSync('/usr/bin/python3', ['-c', 'import gammu']).status === 0;
const skip = hasGammu || process.env['CI'] ? false : 'python3-gammu is not installed';

const TEXTS = [
  'Hello world',
  '1234567',
  '12345678',
  'ends in @',
  '[€] {~} \\ ^ |',
  'ÄÖÜ äöü ß Ñ ñ à é è ù ì ò Ç Ø ø Å å Δ Φ Γ Λ Ω Π Ψ Σ Θ Ξ Æ æ É ¿ ¡ § £ ¥',
  'x'.repeat(160),
  'x'.repeat(161),
  `${'x'.repeat(152)}€${'y'.repeat(20)}`,
  'Привет, мир',
  'a😀b',
  'ж'.repeat(70),
  'ж'.repeat(71),
  `${'ж'.repeat(66)}😀${'ж'.repeat(80)}`,
  'The quick brown fox jumps over the lazy dog. '.repeat(20),
];

/** Characters that show: gammu makes line ends of its own of some controls. */
const SHOWN = [...GSM7_ALPHABET, ...GSM7_EXTENSION.values()].filter((char) => !/\p{Cc}/u.test(char));
const sample = fc.oneof(
  fc.array(fc.constantFrom(...SHOWN), { minLength: 1, maxLength: 330 }).map((chars) => chars.join('')),
  fc.array(fc.constantFrom(...'aжñ한😀𝄞€{'), { minLength: 1, maxLength: 150 }).map((chars) => chars.join('')),
);
const SAMPLES = fc.sample(sample, { numRuns: 150, seed: 20_261_121 });

/** gammu 1.42 counts an escape as a character more and shows what lies behind its buffer. */
function withoutSpill(text: string, expected: string): string {
  return /[€[\]{}~\\^|]/.test(expected) ? text.slice(0, expected.length) : text;
}

t.test('gammu reads what we send', { skip }, async (t) => {
  const sent = [...TEXTS, ...SAMPLES].map((text) => {
    const { encoding, segments } = segmentText(text);
    const pdus = segments.map((segment, index) => {
      const concatenation = {
        reference: 200,
        referenceBits: 8 as const,
        total: segments.length,
        part: index + 1,
      };
      const fields = { to: '+15550001234', text: segment, encoding, statusReport: true, validityPeriod: 167 };
      return encodeSubmit({ ...fields, ...(segments.length > 1 ? { concatenation } : {}) }).pdu;
    });
    return { text, segments, pdus };
  });
  const answers = gammu(sent.flatMap(({ pdus }) => pdus.map((pdu) => ({ decode: pdu }))));
  for (const { text, segments, pdus } of sent) {
    const decoded = answers.splice(0, pdus.length);
    t.same(
      decoded.map((answer, index) => withoutSpill(answer.text ?? '', segments[index] ?? '')),
      segments,
      text.slice(0, 20),
    );
    t.ok(decoded.every((answer) => answer.number === '+15550001234'));
  }
});

t.test('we read what gammu delivers', { skip }, async (t) => {
  for (const wide of [false, true]) {
    const texts = [...TEXTS, ...SAMPLES];
    const requests = texts.map((text) => {
      const unicode = segmentText(text).encoding === 'ucs2';
      return { deliver: text, number: '+15550000012', unicode, wide };
    });
    gammu(requests).forEach(({ pdus = [] }, index) => {
      const parts = pdus.map((pdu): MessagePart => {
        const decoded = decodeReceived(pdu);
        if (decoded.kind !== 'deliver' || decoded.userData.content.kind !== 'text') throw new Error(pdu);
        const { from, sentAt, userData } = decoded;
        const whole = { reference: 0, referenceBits: 8 as const, total: 1, part: 1 };
        const { text } = decoded.userData.content;
        return { ...(userData.concatenation ?? whole), from, sentAt, text, receivedAt: '' };
      });
      const [first, ...others] = parts.reverse();
      if (first === undefined) throw new Error('no part');
      const message = joinParts([first, ...others]);
      t.equal(message.text, texts[index]);
      t.equal(message.from, '+15550000012');
      t.equal(message.partial, false);
      t.match(message.sentAt, /^2026-11-21T08:30:50/);
    });
  }
});
