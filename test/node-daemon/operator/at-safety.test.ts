// Which AT command lines are given to a modem, and which lines belong to an answer.
import fc from 'fast-check';
import t from 'tap';
import { operatorCommand } from '#node-daemon/operator/procedures/at-answer.ts';
import { commandsOf, judge } from '#node-daemon/operator/procedures/at-safety.ts';

const SAFE = [
  'AT',
  'at',
  'ATI',
  'ATI9',
  'AT&V',
  'ATS0?',
  'AT+CSQ',
  'AT+CSQ;+CREG?',
  'at + csq ; +creg?',
  'AT+CMGS=?',
  'AT+COPS?',
  'AT^HCSQ?',
  'AT+CPMS?',
  'AT+CRSM=176,12258,0,0,10',
  'AT+QENG="servingcell"',
  'AT+CSQ;',
  'AT+QCFG="usbcfg"',
  'AT+CMGF?',
  'AT+CMGF=?',
];
const UNSAFE = [
  'AT&D2',
  'ATZ',
  'AT&F',
  'ATE0',
  'ATH',
  'ATA',
  'AT+CFUN=1,1',
  'AT+CMGD=1',
  'AT+CSQ;+CMGD=1',
  'AT+CMGL=4',
  'AT+CMGR=1',
  'AT+CPMS="ME"',
  'AT+COPS=?',
  'AT+COPS=0',
  'ATS0=1',
  'AT&Q1',
  'ATV1',
  'AT+CPIN="1234"',
  'AT+CRSM=214,28486,0,0,17,"00"',
  'AT+CUSD=1,"*100#"',
  'ATD+12065550123;',
  'ATI+CMGD=1',
  'AT+CSQ;;+CMGD=1',
  'AT+QCFG="usbcfg",1',
  'AT^RESET',
  'AT+CMGF=0',
  'AT+CNMI=0',
  'AT"+CMGD=1"',
  'AT+QPOWD',
  'AT+CGAUTO=?',
  'ATI;D123;',
  'AT+CSCS="x;y";+CMGD=1',
];
const NEVER = [
  'AT+CMGS=10',
  'at+cmgs="+1206"',
  'AT+CSQ;+CMGW',
  'AT+CNMA=1,20',
  'AT+QFUPL="a",1',
  'ATD*99#',
  'ATDT123',
  'ATO',
  'AT+CGDATA="PPP",1',
  'AT+CMUX=0',
  'AT+CSQ="',
  'AT + C M G S = 10',
  'AT+CIPSEND',
  'ATE0+CMGS=5',
  'ATE0D*99#',
  'ATX4O',
  'AT+CMGF=1',
  'at+cmgf=1',
  'AT + CMGF = 1',
  'AT+CSQ;+CMGF=1',
  'ATE0+CMGF=01',
  'AT+CMGF',
  'AT+CMGF="1"',
  'ATQ1',
  'ATV0',
  'ATE0V',
  'ATS3=10',
  'ATE0Q1S4=13',
  'ATV0;+CSQ',
];

t.test('read-only commands are safe; a line is as unsafe as its worst command', async (t) => {
  for (const line of SAFE) t.equal(judge(line).kind, 'safe', line);
  for (const line of UNSAFE) t.equal(judge(line).kind, 'unsafe', line);
  for (const line of NEVER) t.equal(judge(line).kind, 'never', line);
});

t.test('nothing smuggles a deletion or a body through', async (t) => {
  const harmless = fc.constantFrom('+CSQ', '+CREG?', 'I', '+CSCS="a;b"', '+CRSM=176,1', ' ', '');
  const worst = fc.constantFrom('+CMGD=1', '+cmgd=1,4', ' + CMGD = 1', '+CMGS=5', '+cmgw', '+cmgf=1');
  const lines = fc.tuple(fc.array(harmless, { maxLength: 4 }), worst, fc.array(harmless, { maxLength: 4 }));
  fc.assert(
    fc.property(lines, ([before, bad, after]) => {
      const line = `AT${[...before, bad, ...after].join(';')}`;
      return judge(line).kind !== 'safe';
    }),
  );
  t.same(commandsOf('at+csq;d123;+cscs="a;b"'), ['+CSQ', 'D123;', '+CSCS="a;b"']);
});

t.test("lines with the command's name, or without one, are its answer; other lines are URCs", async (t) => {
  const belongs = (command: string, line: string): boolean =>
    operatorCommand(command, undefined).answer?.test(line) === true;
  t.ok(belongs('AT+CSQ', '+CSQ: 21,99'));
  t.notOk(belongs('AT+CSQ', '+CSQN: 21,99'));
  t.notOk(belongs('AT+CSQ', '+CMTI: "SM",3'));
  t.notOk(belongs('ATI', 'RING'));
  t.notOk(belongs('ATI', 'RDY'));
  t.notOk(belongs('ATI', '^BOOT:1,0,0'));
  t.ok(belongs('ATI', 'Quectel'));
  t.ok(belongs('ATI', '+GCAP: +CGSM'));
  t.ok(belongs('AT+CIMI', '001010000000001'));
  t.ok(belongs('AT^HCSQ?', '^HCSQ:"LTE",50'));
  t.ok(belongs('at+creg?;+csq', '+CREG: 2,1'));
});
