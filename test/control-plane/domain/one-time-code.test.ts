// The one-time code of a received text, judged on messages after those of known services. `set-aside.tsv` was first judged when the rules were written.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { oneTimeCodeOf } from '#control-plane/domain/one-time-code.ts';

interface Sample {
  language: string;
  expected: string | null;
  text: string;
}

const samplesOf = (name: string): Sample[] =>
  readFileSync(`test/fixtures/agents/one-time-codes/${name}.tsv`, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [language = '', expected = '', text = ''] = line.split('\t');
      return { language, expected: expected === '-' ? null : expected, text: text.replaceAll('\\n', '\n') };
    });

/** The longest text that a node can report. */
const LONGEST = 40_000;

t.test('of 300 messages in ten languages 98 % are right, and no code is wrong', async (t) => {
  const samples = [...samplesOf('tuned'), ...samplesOf('set-aside')];
  const wrong = samples.filter(({ expected, text }) => {
    const { code } = oneTimeCodeOf(text);
    return code !== null && code !== expected;
  });
  const right = samples.filter(({ expected, text }) => oneTimeCodeOf(text).code === expected);
  t.ok(samples.length >= 300);
  t.equal(new Set(samples.map(({ language }) => language)).size, 10);
  t.same(wrong, []);
  t.ok(right.length / samples.length >= 0.98, `${right.length} of ${samples.length}`);
});

t.test('amounts, dates, telephone numbers, two codes: null', async (t) => {
  for (const { expected, text } of samplesOf('hostile')) t.equal(oneTimeCodeOf(text).code, expected, text);
});

t.test('origin-bound codes, with the examples of the specification', async (t) => {
  const text = '747723 is your ExampleCo authentication code.\n\n';
  const origin = 'https://example.com';
  const plain = { code: '747723', origin, embeddedOrigin: null };
  const embedded = { code: '747723', origin, embeddedOrigin: 'https://ecommerce.example' };
  t.same(oneTimeCodeOf(`${text}@example.com #747723`), plain);
  t.same(oneTimeCodeOf('@example.com #747723'), plain);
  t.same(oneTimeCodeOf(`${text}@example.com #747723 %ecommerce.example`), embedded);
  t.same(oneTimeCodeOf(`${text}@example.com #747723 @ecommerce.example`), embedded, 'the later sigil');
  t.same(oneTimeCodeOf('@example.com #747723 %ecommerce.example $future'), embedded);
  t.same(oneTimeCodeOf('x\r\n@example.com #747723'), plain);
  for (const not of [
    'something @example.com #747723',
    '#747723 %ecommerce.example @example.com',
    '@example.com code #747723',
    '@example.com  #747723',
    '@example.com #747723\n',
    '@ #747723',
    '@example.com #',
    '@bank.example@evil.example #747723',
    '@bank.example/login #747723',
    '@bank.example:8443 #747723',
  ])
    t.equal(oneTimeCodeOf(not).origin, null, not);
});

t.test('the longest texts take no time', async (t) => {
  const hostile = [
    '1',
    '1 ',
    '1-',
    'code ',
    'code1234 ',
    'A1',
    '@',
    '@a #',
    ' ',
    '\n',
    'c\u00f3digo',
    '验证码',
  ];
  for (const unit of hostile) {
    for (const length of [1_000, LONGEST]) {
      const text = unit.repeat(length / unit.length);
      const begun = process.cpuUsage();
      oneTimeCodeOf(text);
      const { user } = process.cpuUsage(begun);
      t.ok(user < 250_000, `${JSON.stringify(unit)} × ${length}: ${user} µs`);
    }
  }
});

/** Processor time in microseconds of 400 texts of that many characters, the least of some rounds. Some kernels count it in steps of 4 ms. */
function costOf(unit: string, length: number): number {
  const text = unit.repeat(length / unit.length);
  const rounds = Array.from({ length: 5 }, () => {
    const begun = process.cpuUsage();
    for (let count = 0; count < 400; count += 1) oneTimeCodeOf(text);
    return process.cpuUsage(begun).user;
  });
  return Math.min(...rounds);
}

t.test('ten times the length takes ten times the time, whatever is repeated', async (t) => {
  const letters = [
    '-',
    'a-',
    'A-Z-',
    'pay-',
    'code-',
    'kod',
    'kod-',
    'pin-',
    'tan',
    'passwort',
    'promo',
    'ma ',
  ];
  const numbers = [
    '1234 ',
    'code1234 ',
    '\uCF54\uB4DC1234 ',
    'A1B2C3 ',
    'AB1-CD2 ',
    '\u0663',
    '1234, ',
    '1234\n\n',
  ];
  const bound = ['@', '@a #', '@a #1 %', ' #', '\r'];
  for (const unit of [...letters, ...numbers, ...bound]) {
    const [short, long] = [costOf(unit, 100), costOf(unit, 1_000)];
    // Quadratic: a hundred times.
    t.ok(long < 30 * Math.max(short, 4_000), `${JSON.stringify(unit)}: ${short} µs, then ${long} µs`);
  }
});
