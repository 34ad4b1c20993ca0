// Fleet files as spreadsheets write them, and as people break them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { csvCards } from '#control-plane/operator/fleet-file/csv-cards.ts';
import { readFleetFile } from '#control-plane/operator/fleet-file/read-fleet-file.ts';
import { OperatorError } from '#shared/operator/operator-error.ts';
import { validIccid } from '../../fixtures/nodes/valid-iccid.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

/** Well-known examples of ICCIDs; their check digits were reckoned by hand. */
const SIM_1 = '89014103211118510720';
const SIM_2 = '8991101200003204514';

const problemsOf = (text: string): string[] => {
  try {
    csvCards(text);
  } catch (error) {
    if (error instanceof OperatorError) return error.message.split('\n');
    throw error;
  }
  return [];
};

t.test('as Excel writes it: a byte order mark, CRLF, quoted commas and quotes', async (t) => {
  const text = `\uFEFFICCID,Number,Label,Monthly cost\r\n${SIM_1},+12065550123,"rack 7, ""top""",4.5\r\n`;
  t.strictSame(csvCards(text), [
    { line: 2, iccid: SIM_1, number: '+12065550123', label: 'rack 7, "top"', monthly_cost: '4.5' },
  ]);
  const german = `iccid;label\r\n${SIM_1};"a;b, c"\r\n\r\n# a remark\r\n${SIM_2};\r\n`;
  t.strictSame(csvCards(german), [
    { line: 2, iccid: SIM_1, label: 'a;b, c' },
    { line: 5, iccid: SIM_2, label: null },
  ]);
});

t.test(
  'a line that begins with # is a remark, unless it has an ICCID: a label may begin with it',
  async (t) => {
    t.strictSame(csvCards(`# fleet\nlabel,iccid\n#5 top,${SIM_1}\n# the others\n#,later\n"#6",${SIM_2}\n`), [
      { line: 3, label: '#5 top', iccid: SIM_1 },
      { line: 6, label: '#6', iccid: SIM_2 },
    ]);
    t.strictSame(csvCards(`iccid,label\n#${SIM_1},a\n${SIM_2},#b\n`), [
      { line: 3, iccid: SIM_2, label: '#b' },
    ]);
  },
);

t.test(
  'an empty field removes a value, a missing column leaves it, and the PIN keeps its zeros',
  async (t) => {
    t.strictSame(csvCards(`iccid,pin,number\n${SIM_1},0007,\n`), [
      { line: 2, iccid: SIM_1, pin: '0007', number: undefined },
    ]);
  },
);

t.test('every wrong line is named, all at once, and a PIN is never shown', async (t) => {
  const problems = problemsOf(
    [
      'iccid,number,pin,monthly_cost,plan_expires',
      `${SIM_1},+12065550123,123,4.50,2027-01-31`,
      `${SIM_2},+442071838750,1234,"4,50",2027-02-30`,
      `${SIM_1},+12065550123,123456789,4.50,31.1.2027`,
      '8901410321111851073,12065550124,1234,-1,2027-01-31',
      `890141032111185107x,+12065550125,,,`,
    ].join('\n'),
  );
  t.strictSame(problems, [
    'line 2: pin must be a PIN of 4 to 8 digits',
    'line 3: number "+442071838750" is not a US mobile number',
    'line 3: plan_expires "2027-02-30" must be a date, such as 2026-12-31',
    'line 3: monthly_cost "4,50" must be dollars, such as 12 or 4.50, with a point and at most two digits after it',
    'line 4: pin must be a PIN of 4 to 8 digits',
    'line 4: plan_expires "31.1.2027" must be a date, such as 2026-12-31',
    'line 4: iccid: is already in line 2',
    'line 4: number: is already in line 2',
    'line 5: iccid "8901410321111851073" has a wrong check digit: compare it with the card',
    'line 5: number "12065550124" must be an E.164 number, such as +12065550123',
    'line 5: monthly_cost "-1" must be dollars, such as 12 or 4.50, with a point and at most two digits after it',
    'line 6: iccid "890141032111185107x" must be an ICCID: the 18 to 22 digits that are printed on the card',
  ]);
});

t.test('columns', async (t) => {
  t.strictSame(problemsOf('number,lable\n'), [
    'line 1: unknown column "lable"; did you mean label?',
    'line 1: there is no column "iccid"',
  ]);
  t.strictSame(
    problemsOf(`iccid,montly_cost,pin,pin\n${SIM_1},4.50,123,1234\n${SIM_1},5,1234,\n`),
    [
      'line 1: unknown column "montly_cost"; did you mean monthly_cost?',
      'line 1: the column "pin" occurs twice',
      'line 2: pin must be a PIN of 4 to 8 digits',
      'line 3: iccid: is already in line 2',
    ],
    'a wrong column hides no wrong line',
  );
  t.strictSame(problemsOf(`icid,pin\n${SIM_1},123\n`), [
    'line 1: unknown column "icid"; did you mean iccid?',
    'line 1: there is no column "iccid"',
    'line 2: pin must be a PIN of 4 to 8 digits',
  ]);
  t.strictSame(problemsOf('iccid,iccid\n'), ['line 1: the column "iccid" occurs twice']);
  t.strictSame(problemsOf(''), ['it is empty']);
  t.strictSame(problemsOf(`iccid,label\n${SIM_1},a,b\n`), ['line 2: has 3 fields, the first line has 2']);
  t.match(problemsOf(`iccid,label\n${SIM_1},"open\n`), [/^line \d: a quote \("\) is not closed/]);
  t.match(problemsOf(`iccid,label\n${SIM_1},"${'x'.repeat(9_000)}\n`), [/^line \d: has more than 4096/]);
});

t.test('a label with control characters, and one that is too long', async (t) => {
  t.match(problemsOf(`iccid,label\n${SIM_1},a\u001b[31mb\n`), [
    /^line 2: label .* must be one line of text$/,
  ]);
  t.match(problemsOf(`iccid,label\n${SIM_1},${'x'.repeat(65)}\n`), [/must have at most 64 characters$/]);
});

const fileOf = (t: Test, name: string, contents: string | Buffer): string => {
  const path = join(temporaryFolder(t), name);
  writeFileSync(path, contents);
  return path;
};

t.test('ten thousand lines are read, one more is refused', async (t) => {
  const lines = (count: number) =>
    [
      'iccid,label',
      ...Array.from({ length: count }, (_, index) => `${validIccid(index)},card ${index}`),
    ].join('\n');
  t.equal(readFleetFile(fileOf(t, 'fleet.csv', lines(10_000))).length, 10_000);
  t.throws(() => readFleetFile(fileOf(t, 'more.csv', lines(10_001))), {
    message: /has 10001 cards: apply at most 10000 at once$/,
  });
  const yaml = [
    'cards:',
    ...Array.from({ length: 10_000 }, (_, index) => `- {iccid: ${validIccid(index)}}`),
  ].join('\n');
  t.equal(readFleetFile(fileOf(t, 'fleet.yaml', yaml)).length, 10_000);
});

t.test('files that are no fleet file', async (t) => {
  t.throws(() => readFleetFile(fileOf(t, 'fleet.xlsx', '')), {
    message: /ends with \.csv, \.yaml or \.yml$/,
  });
  t.throws(() => readFleetFile(fileOf(t, 'huge.csv', Buffer.alloc(100 * 1024 * 1024, 'a'))), {
    message: /huge\.csv has more than 8 MiB$/,
  });
  t.throws(() => readFleetFile('/dev/zero.csv'), { message: '/dev/zero.csv does not exist' });
  t.throws(() => readFleetFile(fileOf(t, 'utf16.csv', Buffer.from('\uFEFFiccid\n', 'utf16le'))), {
    message: /is not UTF-8 but UTF-16/,
  });
  t.throws(() => readFleetFile(fileOf(t, 'empty.yaml', '')), { message: /contains no cards$/ });
});

t.test('YAML: problems with line and column, duplicates, and a bomb of anchors', async (t) => {
  const wrong = `cards:\n- iccid: ${SIM_1}\n  pin: 12\n  colour: red\n- iccid: ${SIM_1}\n`;
  t.throws(() => readFleetFile(fileOf(t, 'fleet.yaml', wrong)), {
    message:
      /^\S+:3:8: cards\[0\]\.pin: must be a PIN of 4 to 8 digits\n\S+:4:3: cards\[0\]\.colour: unknown key; .*\n?/,
  });
  const both = `cards:\n- iccid: ${SIM_1}\n  pin: 12\n- iccid: ${SIM_1}\n- null\n- pin: 1234\n`;
  t.throws(() => readFleetFile(fileOf(t, 'fleet.yaml', both)), {
    message:
      /:3:8: cards\[0\]\.pin: .*\n\S+:4:10: cards\[1\]\.iccid: is already in cards\[0\]\n.*\n\S+: cards\[3\]\.iccid: is missing: every card needs its ICCID$/,
  });
  const twice = `cards:\n- iccid: ${SIM_1}\n- iccid: ${SIM_1}\n`;
  t.throws(() => readFleetFile(fileOf(t, 'fleet.yaml', twice)), {
    message: /^\S+:3:10: cards\[1\]\.iccid: is already in cards\[0\]$/,
  });
  const levels = Array.from({ length: 9 }, (_, level) => {
    const below = level === 0 ? '"x"' : `*a${level - 1}`;
    return `a${level}: &a${level} [${Array(10).fill(below).join(', ')}]`;
  });
  t.throws(() => readFleetFile(fileOf(t, 'bomb.yaml', levels.join('\n'))), {
    message: /bomb\.yaml: its aliases \(\*name\) cannot be used: write the values out$/,
  });
  t.throws(() => readFleetFile(fileOf(t, 'loop.yaml', 'cards: &a [*a]\n')), Error);
  t.match(readFleetFile(fileOf(t, 'fleet.yml', `cards:\n\n- iccid: ${SIM_1}\n  pin: 0007\n  label: ""\n`)), [
    { line: 3, iccid: SIM_1, pin: '0007', label: null },
  ]);
});
