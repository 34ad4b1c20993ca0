// Dialogues as they lie on the wire, byte for byte: what modems of each make are known to say.
import t from 'tap';
import { AtChannel } from '#node-daemon/at/channel.ts';
import { type AtCommand, atCommand, atQuery } from '#node-daemon/at/command.ts';
import { REGISTRATION_ANSWER } from '#node-daemon/modem/network/network.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { ScriptedPort } from '../../fixtures/nodes/scripted-port.ts';

interface Dialogue {
  readonly name: string;
  readonly command: AtCommand;
  /** All that the modem says from the command's CR on. */
  readonly wire: string;
  readonly answer: readonly string[];
  readonly urcs?: readonly string[];
}

const creg = atCommand('AT+CREG?', { answer: REGISTRATION_ANSWER, answerRequired: true, answerSingle: true });

const DIALOGUES: readonly Dialogue[] = [
  {
    name: 'echo on, as after a reset',
    command: atQuery('AT+CSQ', '+CSQ:'),
    wire: 'AT+CSQ\r\r\n+CSQ: 21,99\r\n\r\nOK\r\n',
    answer: ['+CSQ: 21,99'],
  },
  {
    name: 'echo that lost its first characters is an unknown URC',
    command: atQuery('AT+CSQ', '+CSQ:'),
    wire: 'CSQ\r\r\n+CSQ: 21,99\r\n\r\nOK\r\n',
    answer: ['+CSQ: 21,99'],
    urcs: ['CSQ'],
  },
  {
    name: 'a leading NUL, \\r\\r\\n and more blank lines than needed (Huawei E1752)',
    command: atQuery('AT+CSQ', '+CSQ:'),
    wire: '\0\r\r\n\r\n \r\n+CSQ: 21,99\r\r\n\r\n\r\n\r\nOK\r\r\n\r\n',
    answer: ['+CSQ: 21,99'],
  },
  {
    name: '+CREG as URC and as answer',
    command: creg,
    wire: '\r\n+CREG: 5\r\n\r\n+CREG: 2,"00A1","0001",7\r\n\r\n+CREG: 2,1,"00A1","0001",7\r\n\r\n+CREG: 3\r\n\r\nOK\r\n',
    answer: ['+CREG: 2,1,"00A1","0001",7'],
    urcs: ['+CREG: 5', '+CREG: 2,"00A1","0001",7', '+CREG: 3'],
  },
  {
    name: '+CREG as URC with a reject cause (3GPP TS 27.007 §7.2, <n>=3)',
    command: creg,
    wire: '\r\n+CREG: 3,,,,0,11\r\n\r\n+CREG: 3,3,,,,0,11\r\n\r\nOK\r\n',
    answer: ['+CREG: 3,3,,,,0,11'],
    urcs: ['+CREG: 3,,,,0,11'],
  },
  {
    name: '+CPIN as URC and as answer: the last one before the OK is the answer',
    command: atQuery('AT+CPIN?', '+CPIN:'),
    wire: '\r\n+CPIN: NOT READY\r\n\r\n+CPIN: READY\r\n\r\nOK\r\n',
    answer: ['+CPIN: READY'],
    urcs: ['+CPIN: NOT READY'],
  },
  {
    name: '+CSQ as URC (SIMCom AT+AUTOCSQ=1,1) and as answer',
    command: atQuery('AT+CSQ', '+CSQ:'),
    wire: '\r\n+CSQ: 20,99\r\n\r\n+CSQ: 21,99\r\n\r\nOK\r\n',
    answer: ['+CSQ: 21,99'],
    urcs: ['+CSQ: 20,99'],
  },
  {
    name: '+CSQ as URC in the middle of another answer',
    command: atQuery('AT+COPS?', '+COPS:'),
    wire: '\r\n+COPS: 0,2,"00101",7\r\n\r\n+CSQ: 20,99\r\n\r\nOK\r\n',
    answer: ['+COPS: 0,2,"00101",7'],
    urcs: ['+CSQ: 20,99'],
  },
  {
    name: '+CLCC as URC (SIMCom AT+CLCC=1) in the middle of a command that has no answer',
    command: atCommand('AT+CHUP'),
    wire: '\r\n+CLCC: 1,0,6,0,0,"+12065550100",145\r\n\r\nVOICE CALL: END: 000004\r\n\r\nOK\r\n',
    answer: [],
    urcs: ['+CLCC: 1,0,6,0,0,"+12065550100",145', 'VOICE CALL: END: 000004'],
  },
  {
    name: '+CLCC as answer of several lines',
    command: atCommand('AT+CLCC', { answer: /^\+CLCC:/ }),
    wire: '\r\n+CLCC: 1,0,0,0,0,"+12065550100",145\r\n+CLCC: 2,1,5,0,0,"",128\r\n\r\nOK\r\n',
    answer: ['+CLCC: 1,0,0,0,0,"+12065550100",145', '+CLCC: 2,1,5,0,0,"",128'],
  },
  {
    name: '+CUSD is never an answer: the network speaks when it likes',
    command: atCommand('AT+CUSD=1,"*100#",15'),
    wire: '\r\n+CUSD: 0,"> 5 EUR, ""OK""",15\r\n\r\nOK\r\n',
    answer: [],
    urcs: ['+CUSD: 0,"> 5 EUR, ""OK""",15'],
  },
  {
    name: '+QPCMV as flow control (Quectel) and as answer',
    command: atCommand('AT+QPCMV?', { answer: /^\+QPCMV: \d,\d$/, answerRequired: true, answerSingle: true }),
    wire: '\r\n+QPCMV: 0,0\r\n\r\n+QPCMV: 1,2\r\n\r\nOK\r\n',
    answer: ['+QPCMV: 1,2'],
    urcs: ['+QPCMV: 0,0'],
  },
  {
    name: 'call codes in the middle of another command',
    command: atQuery('AT+CSQ', '+CSQ:'),
    wire: '\r\nNO CARRIER\r\n\r\n+CSQ: 21,99\r\n\r\nBUSY\r\n\r\nOK\r\n',
    answer: ['+CSQ: 21,99'],
    urcs: ['NO CARRIER', 'BUSY'],
  },
  {
    name: 'half a line, then a whole one',
    command: atQuery('AT+CSQ', '+CSQ:'),
    wire: '\r\n+CMT\r\n+CSQ: 21,99\r\n\r\nOK\r\n',
    answer: ['+CSQ: 21,99'],
    urcs: ['+CMT'],
  },
  {
    name: 'the number on the line of the error (Huawei E17x)',
    command: atCommand('AT+CNUM', { answer: /^\+CNUM:/, answerMayTrail: true }),
    wire: '\r\nERROR+CNUM: "","+33671651907",145\r\n',
    answer: ['+CNUM: "","+33671651907",145'],
  },
];

for (const { name, command, wire, answer, urcs = [] } of DIALOGUES) {
  t.test(name, async (t) => {
    const port = new ScriptedPort();
    port.on(/^/, () => undefined);
    const channel = new AtChannel(port, new ManualClock(0), silentLogger);
    const heard: string[] = [];
    channel.onUrc(({ line }) => heard.push(line));
    const answered = channel.send(command);
    port.say(wire);
    t.same(
      (await answered).map(({ line }) => line),
      answer,
    );
    t.same(heard, urcs);
  });
}

t.test('refusals of each make end the command', async (t) => {
  const refusals: [string, string][] = [
    ['\r\nCOMMAND NOT SUPPORT\r\n', 'AtError'],
    ['\r\nERROR+CNUM:\r\n', 'AtError'],
    ['\r\n+CMS ERROR: SIM busy\r\n', 'CmsError'],
    ['\r\n+CME ERROR: SIM not inserted\r\n', 'CmeError'],
    ['AT+QINDCFG="csq",1,0\r\r\nERROR\r\n', 'AtError'],
  ];
  for (const [wire, errorName] of refusals) {
    const port = new ScriptedPort();
    port.on(/^/, () => undefined);
    const channel = new AtChannel(port, new ManualClock(0), silentLogger);
    const refused = channel.send(atCommand('AT+QINDCFG="csq",1,0')).catch((error: Error) => error.name);
    port.say(wire);
    t.equal(await refused, errorName, wire.trim());
  }
});
