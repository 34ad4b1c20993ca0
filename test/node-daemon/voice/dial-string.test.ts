// Emergency numbers never reach a modem, in any form. Only "+", 7 to 15 digits and ";" is dialed. The forms are those that 3GPP TS 27.007
// §6.2 (ATD), V.250 §6.3.1, TS 22.030 (MMI) and RFC 3966 (tel:) give a number.
import fc from 'fast-check';
import t from 'tap';
import { dialString } from '#node-daemon/voice/dial-string.ts';
import { LineRig } from './line-rig.ts';

/** 911 and its kin of the world, 933 (the test of 911's address), and the service codes of North America. */
const EMERGENCY = [
  '911',
  '112',
  '933',
  '000',
  '999',
  '08',
  '110',
  '118',
  '119',
  '988',
  '211',
  '311',
  '411',
  '511',
  '611',
  '711',
  '811',
];
const ASCII_CONTROLS = ['\0', '\b', '\t', '\n', '\v', '\f', '\r', '\x1a', '\x1b', '\x7f', '\r\n'];
const BEFORE = [
  '',
  '+',
  '++',
  '1',
  '+1',
  '001',
  '011',
  '0111',
  '00',
  '0',
  '9',
  '9,',
  '*',
  '#',
  '*#',
  '**',
  '*31#',
  '#31#',
  '*67',
  '*82',
  '*31#+',
  '#31#+1',
  '*31#1',
  'tel:',
  'tel:+',
  'tel:+1',
  'sip:',
  'T',
  'P',
  'D',
  'ATD',
  'ATDT',
  ';',
  ';D',
  ',',
  'W',
  '!',
  '@',
  '>',
  '> ',
  '>SM',
  '"',
  "'",
  ' ',
  '(',
  '+1(',
  '+1-',
  '+1 ',
  '+44',
  '+61',
  '+81',
  '+49',
  '+46',
  '+41',
  '\u202a',
  '\u200b',
  '\ufeff',
  '＋',
  '＋1',
  '%2B',
  '&#43;',
  ...ASCII_CONTROLS,
];
const BEHIND = [
  '',
  ';',
  ';;',
  ';+CFUN=0',
  'G',
  'g',
  'I',
  'i',
  'G;',
  'I;',
  'iG;',
  '#',
  '*',
  '#*',
  ',',
  ',,,',
  'p',
  'P',
  'w',
  'W',
  'w1',
  'p1234567',
  '!',
  '@',
  '$',
  '>',
  'T',
  'A',
  'B',
  'C',
  'D',
  ' ',
  ')',
  '-',
  '"',
  ';ext=1',
  ';phone-context=+1',
  ';postd=1',
  ';isub=1',
  '@example.com',
  '\u200b',
  '\u202c',
  '\u0301',
  '\ufe0f',
  ...ASCII_CONTROLS,
];
const BETWEEN = [
  '',
  ' ',
  '-',
  '.',
  '/',
  '(',
  ')',
  'p',
  'w',
  'W',
  ',',
  '!',
  '@',
  'T',
  '\0',
  '\u200b',
  '\u00ad',
];

const inDigitsFrom = (zero: number) => (text: string) =>
  text.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
/** ASCII; Arabic, Persian, Devanagari, fullwidth, mathematical, and as keycaps and circled. */
const SCRIPTS = [
  (text: string) => text,
  ...[0x660, 0x6f0, 0x966, 0xff10, 0x1d7ce, 0x2460].map(inDigitsFrom),
  (text: string) => text.replace(/\d/g, (digit) => `${digit}\ufe0f\u20e3`),
];

/** Every form by itself; the mixtures of them are generated. */
function* everyForm(): Generator<string> {
  for (const number of EMERGENCY)
    for (const script of SCRIPTS)
      for (const between of BETWEEN) {
        const spelled = script([...number].join(between));
        for (const before of BEFORE) for (const behind of BEHIND) yield `${before}${spelled}${behind}`;
      }
}

const piece = fc.constantFrom(...EMERGENCY, ...BEFORE, ...BEHIND, ...BETWEEN);
const mixture = fc
  .tuple(fc.array(piece, { maxLength: 5 }), fc.constantFrom(...EMERGENCY), fc.array(piece, { maxLength: 5 }))
  .map(([before, number, behind]) => [...before, number, ...behind].join(''));
const repeated = fc
  .tuple(fc.constantFrom('', '+', '+1', '1', '00', '011'), fc.constantFrom(...EMERGENCY), fc.nat(6))
  .map(([before, number, times]) => before + number.repeat(times + 1));
const anything = fc.oneof(mixture, repeated, fc.string(), fc.string({ unit: 'binary' }));

const COUNTRY_CODES = /^(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/;

/** The fault of the string that would be dialed; undefined for none. */
function fault(number: string): string | undefined {
  const dialled = dialString(number);
  if (dialled === undefined) return undefined;
  const digits = /^\+([1-9][0-9]{6,14});$/.exec(dialled)?.[1];
  if (digits === undefined) return `${JSON.stringify(number)} is dialled as ${JSON.stringify(dialled)}`;
  if (dialled !== `${number};`) return `${JSON.stringify(number)} becomes ${dialled}`;
  const national = digits.replace(COUNTRY_CODES, '');
  for (const each of EMERGENCY) if (digits === each || national === each) return `${dialled} is ${each}`;
  // North America: the area code is no service code, as which a switch may take its first three digits.
  if (/^1(?:[01]|[2-9]11)/.test(digits)) return `${dialled} is no number of North America`;
  return undefined;
}

t.test('emergency numbers in each form are not dialled', async (t) => {
  let forms = 0;
  const faults: string[] = [];
  for (const number of everyForm()) {
    forms += 1;
    const found = fault(number) ?? (dialString(number) && `${number} is dialled`);
    if (found) faults.push(found);
  }
  t.same(faults.slice(0, 20), []);
  t.ok(forms > 1_000_000, `${forms} forms`);
});

t.test('mixtures of the forms, and anything', async (t) => {
  fc.assert(
    fc.property(anything, (number) => {
      const found = fault(number);
      if (found !== undefined) throw new Error(found);
    }),
    { numRuns: 20_000 },
  );
  t.pass();
});

t.test('a number of North America is eleven digits with an area code and an exchange', async (t) => {
  for (const number of ['+13105550188', '+18004117246', '+19332345678', '+12068911911'])
    t.equal(dialString(number), `${number};`);
  for (const number of [
    '+1911',
    '+19110000000',
    '+19112345678',
    '+11125550188',
    '+10005550188',
    '+19995550',
    '+1911911911',
    '+13101550188',
    '+13100550188',
    '+131055501880',
    '+1310555018',
    '+14115550188',
    '+15550',
    '+1112112112',
  ])
    t.equal(dialString(number), undefined, number);
});

t.test('other countries: 7 to 15 digits, first not 0', async (t) => {
  for (const number of ['+442071838750', '+911123456789', '+6834000', '+123456789012345'.replace('+1', '+2')])
    t.equal(dialString(number), `${number};`);
  for (const number of ['+44999', '+61000', '+0442071838750', '+4420718387500000', '442071838750', '+44112'])
    t.equal(dialString(number), undefined, number);
});

t.test('through the line: no ATD is written for any of them, and none of what they carry', async (t) => {
  const rig = new LineRig();
  const sample = [
    ...EMERGENCY.flatMap((number) =>
      BEFORE.flatMap((before) => BEHIND.map((behind) => `${before}${number}${behind}`)),
    ),
    ...fc.sample(anything, { numRuns: 2_000, seed: 7 }).filter((number) => dialString(number) === undefined),
  ];
  let refused = 0;
  for (const number of sample)
    await rig.line.dial(number).catch(({ code }) => {
      if (code === 'params_invalid') refused += 1;
    });
  t.equal(refused, sample.length);
  t.same(rig.port.received, []);
  void rig.line.dial('+13105550188');
  await rig.pass(0);
  t.same(rig.written, ['ATD+13105550188;'], 'and one that is dialled is dialled as it is');
});
