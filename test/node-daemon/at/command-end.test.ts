// Names under which commands are counted: a closed list, whatever is on the line, and nothing of its arguments.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { COMMAND_NAMES, commandNameOf } from '#node-daemon/at/command-end.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';

const CASES: [line: string, name: string][] = [
  ['AT', 'AT'],
  ['AT+CSQ', '+CSQ'],
  ['AT+CREG?', '+CREG'],
  ['AT+CMGS=25', '+CMGS'],
  ['AT+CPMS="SM";+CMGR=3', '+CMGR'],
  ['AT+CPMS="SM","SM","SM"', '+CPMS'],
  ['ATD+12065550100;', 'D'],
  ['ATA', 'A'],
  ['ATI', 'I'],
  ['AT&F', '&F'],
  ['AT^DTMF=1,5', '^DTMF'],
  ['AT+CUSD=1,"*100;+SECRET#",15', '+CUSD'],
  ['AT+XSECRET', 'other'],
  ['AT$QCRMCALL', 'other'],
  ['AT;;', 'AT'],
  ['AT+', 'other'],
];

t.test('a line is counted by its last command', async (t) => {
  for (const [text, name] of CASES) t.equal(commandNameOf({ text }), name, text);
});

t.test('no line creates a new name', async (t) => {
  const characters = 'ATDHZ+^&$;"=?,0123456789CMGSRx ';
  let seed = 7;
  const next = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  for (let round = 0; round < 20_000; round += 1) {
    const text = `AT${Array.from({ length: next(12) }, () => characters[next(characters.length)]).join('')}`;
    if (!COMMAND_NAMES.includes(commandNameOf({ text }))) t.fail(text);
  }
});

t.test('every command that the daemon gives has a name', async (t) => {
  const folder = join(PROJECT_FOLDER, 'node-daemon');
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /^(modem|voice|at|sms)\/.*\.ts$/.test(file),
  );
  for (const file of sources) {
    const text = readFileSync(join(folder, file), 'utf8');
    for (const [, line = ''] of text.matchAll(/['`](AT(?!&T\b)[+^&]?[A-Z]+)\d?\b/g))
      t.not(commandNameOf({ text: line }), 'other', `${file}: ${line}`);
  }
});
