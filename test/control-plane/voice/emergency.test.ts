// Emergency, service, short and premium numbers, in every form that a dial string can take: none is ever dialed.
import t from 'tap';
import { checkDestination } from '#control-plane/domain/destination-policy.ts';
import { Refusal } from '#control-plane/domain/refusal.ts';
import { destinationListSchema } from '#shared/destination-list.ts';
import { telephone } from '../../fixtures/agents/telephone.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { someOf } from '../../fixtures/sweep.ts';

/** Emergency numbers of the world that a GSM modem may know by itself (3GPP TS 22.101 §10.1), US services, carriers' codes. */
const CODES = [
  '911',
  '112',
  '933',
  '988',
  '000',
  '08',
  '110',
  '118',
  '119',
  '999',
  '211',
  '311',
  '411',
  '511',
  '611',
  '711',
  '811',
  '9911',
  '1911',
  '0112',
  '*911',
  '#911',
  '*112',
  '123',
  '12345',
  '262966',
  '0',
];

const PREFIXES = [
  '',
  '+',
  '+1',
  '1',
  '001',
  '011',
  '+011',
  '00',
  '*67',
  '*67,',
  '*82',
  '#31#',
  '*31#',
  '+1*67',
  '9,',
  '9',
];
const PREFIXES_IN_URI = [
  'tel:',
  'tel:+1',
  'sip:',
  'T',
  'ATD',
  'p',
  ',',
  'W',
  '>',
  '"',
  "'",
  '%2B',
  '\\',
  '\u202e',
  '\ufeff',
];
const SUFFIXES = [
  '',
  ';',
  ';\r\nATD911;',
  '\r',
  '\n',
  ' ',
  ',',
  ',,1',
  '#',
  'w',
  '@x',
  '\u0000',
  '"',
  'p1',
  '5550100',
  '0000000',
];
const SUFFIXES_OF_DIGITS = ['1', '0', '00', '1234567', '12345678', '555', '5550', '1111111'];

const wide = (text: string): string =>
  text.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
const arabic = (text: string): string =>
  text.replace(/\d/g, (digit) => String.fromCodePoint(0x0660 + Number(digit)));
const bold = (text: string): string =>
  text.replace(/\d/g, (digit) => String.fromCodePoint(0x1d7ce + Number(digit)));
const spaced = (separator: string) => (text: string) => [...text].join(separator);
const WRITINGS = [
  (text: string) => text,
  ...[' ', '-', '.', '\u00a0', '\u200b', '\u2011', '/', '\t'].map(spaced),
  wide,
  arabic,
  bold,
  (text: string) => `(${text})`,
  (text: string) => `${text} `,
  (text: string) => ` ${text}`,
];

function* writings(codes: readonly string[]): Generator<string> {
  for (const code of codes)
    for (const prefix of [...PREFIXES, ...PREFIXES_IN_URI])
      for (const suffix of [...SUFFIXES, ...SUFFIXES_OF_DIGITS])
        for (const write of WRITINGS) {
          yield prefix + write(code) + suffix;
          yield write(prefix + code + suffix);
        }
}

/**
 * How a telephone network could read the number, found without the rules under test. Digits of any script count, and dialing prefixes are
 * removed repeatedly. An emergency or service code is at its beginning.
 */
function reachesService(dialled: string): boolean {
  const digits = [...dialled.normalize('NFKC')].map((each) => digitOf(each)).join('');
  for (let rest = digits; ; ) {
    if (/^(911|112|933|988|[2-9]11)/.test(rest)) return true;
    if (rest.length <= 6) return true;
    const shorter = rest.replace(/^(011|00|1)/, '');
    if (shorter === rest) return false;
    rest = shorter;
  }
}

const digitOf = (character: string): string => {
  if (!/\p{Nd}/u.test(character)) return '';
  let zero = character.codePointAt(0) ?? 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1)) && (character.codePointAt(0) ?? 0) - zero < 9)
    zero -= 1;
  return String((character.codePointAt(0) ?? 0) - zero);
};

/** "+1" alone is refused as a prefix. */
const NANP_PREFIXES = [2, 3, 4, 5, 6, 7, 8, 9].map((digit) => `+1${digit}`);
const ALL_OF_NANP = destinationListSchema.parse(NANP_PREFIXES);

t.test('of a hundred thousand spellings the few that pass reach no emergency service', async (t) => {
  let count = 0;
  const passed = new Set<string>();
  for (const to of writings(someOf(t, CODES, 6))) {
    count += 1;
    try {
      passed.add(checkDestination(to, ALL_OF_NANP));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  }
  t.ok(count > 100_000, `${count} writings`);
  t.same([...passed].filter(reachesService), []);
  for (const to of passed) t.match(to, /^\+1[2-9]\d{9}$/, 'a number that passes is a subscriber number');
});

t.test('other countries’ emergency numbers neither, where those countries are allowed', async (t) => {
  const emergency = {
    '+1': ['911', '112'],
    '+44': ['999', '112'],
    '+49': ['110', '112'],
    '+33': ['15', '17', '18', '112'],
    '+61': ['000', '112'],
    '+81': ['110', '119'],
    '+91': ['112', '100', '101', '102', '108'],
  };
  const allowed = destinationListSchema.parse([...NANP_PREFIXES, ...Object.keys(emergency).slice(1)]);
  for (const [country, codes] of Object.entries(emergency))
    for (const code of codes)
      for (const suffix of ['', '0', '00', '000', '0000', '00000'])
        t.throws(
          () => checkDestination(`${country}${code}${suffix}`, allowed),
          Refusal,
          country + code + suffix,
        );
});

const rig = await createRig();

t.test('over HTTP: refused with 400, and the node hears of none', async (t) => {
  const { dial, ask, node } = await telephone(t, rig);
  for (const to of [
    '911',
    '+1911',
    '112',
    '933',
    '988',
    '*67911',
    '+19115550100',
    '+19005550100',
    '+19885550100',
    '+11125550100',
  ]) {
    const { status, body } = await dial(to);
    t.equal(status, 400, to);
    t.match(body['error'], /^(destination_not_allowed|invalid_request)$/);
  }
  for (const to of ['911', '+1911', '112', '+19115550100', '+19005550100', '+19885550100', '+442079460000'])
    t.match((await dial(to)).body, { error: 'destination_not_allowed' }, to);
  let count = 0;
  const sample: string[] = [];
  for (const to of writings(CODES)) if (count++ % 499 === 0) sample.push(to);
  for (const to of sample) {
    if (/^\+1[2-9]\d{9}$/.test(to)) continue;
    t.equal((await dial(to)).status, 400, JSON.stringify(to));
  }
  t.equal((await ask('/voice/dial', { phone_number: '+12065550001', to: ['+13105550188'] })).status, 400);
  t.same(node.commands('dial'), []);
});
