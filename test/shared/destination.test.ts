// Where may be texted and called, by the facts of the numbering plan; the list of an operator.
import { getCountries } from 'libphonenumber-js/max';
import metadata from 'libphonenumber-js/metadata.max.json';
import t from 'tap';
import { likelyNumber, problemOfDestination } from '#shared/destination.ts';
import { DEFAULT_DESTINATIONS, destinationListSchema, destinationsOption } from '#shared/destination-list.ts';

/** Area codes by country (nanpa.com, 2026). */
const ELSEWHERE: Readonly<Record<string, readonly number[]>> = {
  AG: [268],
  AI: [264],
  BB: [246],
  BM: [441],
  BS: [242],
  CA: [204, 226, 236, 250, 306, 343, 403, 416, 437, 514, 604, 613, 647, 778, 867, 902],
  DM: [767],
  DO: [809, 829, 849],
  GD: [473],
  JM: [658, 876],
  KN: [869],
  KY: [345],
  LC: [758],
  MS: [664],
  SX: [721],
  TC: [649],
  TT: [868],
  VC: [784],
  VG: [284],
};
const TERRITORIES = { AS: [684], GU: [671], MP: [670], PR: [787, 939], VI: [340] };
const STATES = [205, 206, 212, 213, 310, 415, 503, 520, 534, 540, 541, 551, 559, 808, 907, 940, 970, 983];
const TOLL_FREE = [800, 833, 844, 855, 866, 877, 888];
/** Numbers without a place: their cost is unknown, and so is the person they reach. */
const PERSONAL = [
  500, 521, 522, 523, 524, 525, 526, 527, 528, 529, 532, 533, 535, 538, 542, 543, 544, 545, 546, 547, 549,
  550, 552, 553, 554, 556, 558, 566, 569, 577, 578, 588, 589, 600, 622, 633, 644, 655, 677, 688, 700,
];
const UNASSIGNED = [200, 300, 400, 555, 710, 800 - 1, 990, 999];
const SERVICES = [211, 311, 411, 511, 611, 711, 811, 911, 933, 988];

/** Numbers of places in the United States and Canada, as the library's data has them. */
const PLACES = (['US', 'CA'] as const).map((country) => {
  const { [country]: data = [] } = metadata.countries;
  return new RegExp(`^(?:${(data[11] as string[][])[0]?.[0]})$`);
});

const verdictOf = (to: string, destinations = DEFAULT_DESTINATIONS): string =>
  problemOfDestination(to, destinations)?.kind ?? 'allowed';
/** "+1" alone is refused: it is more than an operator may think. */
const NORTH_AMERICAN_PREFIXES = [2, 3, 4, 5, 6, 7, 8, 9].map((digit) => `+1${digit}`);

const listOf = (text: string) => destinationListSchema.parse(text.split(','));

t.test('the United States and their territories, and no other country of +1', async (t) => {
  for (const code of [...STATES, ...Object.values(TERRITORIES).flat(), ...TOLL_FREE])
    t.equal(verdictOf(`+1${code}2345678`), 'allowed', `+1 ${code}`);
  for (const code of [...Object.values(ELSEWHERE).flat(), ...PERSONAL, ...UNASSIGNED, ...SERVICES])
    for (const rest of ['2345678', '5551234', '5550100', '5550199'])
      t.equal(verdictOf(`+1${code}${rest}`), 'not_allowed', `+1 ${code} ${rest}`);
});

t.test('fictional numbers of the United States are as others there', async (t) => {
  for (const code of [...STATES, 787])
    for (const last of ['00', '50', '99']) t.equal(verdictOf(`+1${code}55501${last}`), 'allowed');
});

const NORTH_AMERICA = destinationListSchema.parse(NORTH_AMERICAN_PREFIXES);

t.test('premium and emergency numbers are never reached, whatever the list says', async (t) => {
  const everything = destinationListSchema.parse([
    ...NORTH_AMERICAN_PREFIXES,
    '+44',
    '+8',
    '+9',
    ...getCountries(),
  ]);
  const never = [
    ...PERSONAL.map((code) => `+1${code}2345678`),
    ...SERVICES.map((code) => `+1${code}2345678`),
    '+19002345678',
    '+19005550100',
    '+19765551234',
    '+12129765551',
    '+16139765551',
    '+12125551212',
    '911',
    '112',
    '+911',
    '+1911',
    '+1112',
    '262966',
    '12345',
    '+11125550188',
    '+10115550188',
    // Premium and personal numbers of Britain and Germany, international premium rate service.
    '+449012345678',
    '+447012345678',
    '+499001234567',
    '+979123456789',
  ];
  for (const to of never) t.equal(verdictOf(to, everything), 'not_allowed', to);
  for (const to of ['+18005551212', '+18009762345', '+12068911911', '+18762345678', '+442079460000'])
    t.equal(verdictOf(to, everything), 'allowed', to);
});

t.test('the premium exchange 976 of every area code but the toll-free ones', async (t) => {
  for (const code of [...STATES, ...Object.values(TERRITORIES).flat(), ...Object.values(ELSEWHERE).flat()])
    for (const line of ['0000', '0123', '9999'])
      t.equal(verdictOf(`+1${code}976${line}`, NORTH_AMERICA), 'not_allowed', `+1 ${code} 976 ${line}`);
  for (const to of ['+12069750123', '+12062976012', '+18009760123', '+19762345678'])
    t.equal(verdictOf(to, NORTH_AMERICA), to.startsWith('+1976') ? 'not_allowed' : 'allowed', to);
});

t.test('no personal code is one of a place', async (t) => {
  for (let code = 200; code < 1000; code += 1) {
    const isOfPlace = PLACES.some((place) => place.test(`${code}2345678`));
    if (isOfPlace) t.equal(verdictOf(`+1${code}2345678`, listOf('US,CA')), 'allowed', String(code));
  }
});

t.test('regions and prefixes of an operator', async (t) => {
  const [canada, britain] = [listOf('US,CA'), listOf('us, +44')];
  t.equal(verdictOf('+16132345678', canada), 'allowed');
  t.equal(verdictOf('+12065550123', canada), 'allowed');
  t.equal(verdictOf('+17872345678', canada), 'allowed', 'US has its territories');
  t.equal(verdictOf('+18762345678', canada), 'not_allowed');
  t.equal(verdictOf('+442079460000', britain), 'allowed');
  t.equal(verdictOf('+442079460000', canada), 'not_allowed');
  t.equal(verdictOf('+12065550123', listOf('CA')), 'not_allowed', 'the list is all of it');
  t.equal(verdictOf('+18762345678', listOf('US,+1876')), 'allowed');
  t.equal(verdictOf('+17872345678', listOf('PR')), 'allowed');
  t.equal(verdictOf('+12065550123', listOf('PR')), 'not_allowed');
  t.equal(String(britain), 'the US and its territories, +44');
});

t.test('numbers that their country does not have', async (t) => {
  const britain = listOf('GB');
  t.match(problemOfDestination('+447700900123', britain), { kind: 'malformed', message: /no such numbers/ });
  t.match(problemOfDestination('+12060550123', britain), { kind: 'malformed', message: /no such numbers/ });
  t.equal(verdictOf('+447700900123'), 'not_allowed', 'as all of a country that is not reached');
  t.match(problemOfDestination('2065550123', britain), { message: /must be an E\.164 number/ });
  for (const [to, count] of [
    ['+12345', 4],
    ['+1310555', 6],
    ['+131055501', 8],
    ['+131055501888', 11],
    ['+191155501888', 11],
  ] as const)
    t.match(problemOfDestination(to, britain), {
      kind: 'malformed',
      message: `must have 10 digits after +1. It has ${count}`,
    });
});

t.test('a number that was probably meant', async (t) => {
  for (const text of ['(206) 555-0123', '206-555-0123', '1 206 555 0123'])
    t.equal(likelyNumber(text), '+12065550123', text);
  for (const text of ['+12065550123', '+12060550123', '+447700900123', '911', 'x'])
    t.equal(likelyNumber(text), undefined, text);
});

t.test('malformed numbers', async (t) => {
  for (const to of ['', '2065550123', '+1206555012', '+120655501234', '+12060550123', '+1 2065550123', 'x'])
    t.equal(verdictOf(to), 'malformed', to);
});

t.test('a list that means nothing is refused with what is wrong', async (t) => {
  const problemOf = (text: string) => destinationsOption.schema.safeParse(text).error?.issues[0]?.message;
  t.match(problemOf('UK'), 'did you mean GB');
  t.match(problemOf('US,XX'), '"XX" is no region such as US and no prefix such as +44');
  for (const text of ['', ',', 'US,', '44', '+', '+0', '+4a', '*', 'UM'])
    t.match(problemOf(text), /is no region/);
  for (const region of getCountries()) t.equal(problemOf(region), undefined, region);
  t.equal(problemOf('+1206,+44'), undefined);
  t.match(problemOf('US,+1'), '25 countries');
});
