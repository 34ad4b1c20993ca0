// The dialogue on one port, byte for byte, without a terminal (ITU-T V.250 §5 and §6.2).
import t from 'tap';
import { type Answer, cme, cms, ok } from '#hardware-sim/at/answer.ts';
import { CommandPort } from '#hardware-sim/at/command-port.ts';
import { commandFamily } from '#hardware-sim/behaviors/behavior.ts';
import { general } from '#hardware-sim/behaviors/general.ts';
import type { MobileEquipment } from '#hardware-sim/equipment/mobile-equipment.ts';
import { systemClock } from '#shared/clock.ts';

interface Port {
  port: CommandPort;
  lines: string[];
  /** Sends text in pieces of `size` and returns what came back. */
  say: (text: string, size?: number) => string;
  taken: () => string;
}

function openPort(extra: Record<string, () => Answer | Promise<Answer>> = {}): Port {
  const commands = commandFamily('test', {
    '+ONE': () => ok('+ONE: 1'),
    '+TWO': () => ok('first', 'second'),
    '+BAD': () => cme(50),
    '+SMS': () => cms(304),
    '+ASK': () => ({
      kind: 'prompt',
      isShown: true,
      repeatsPrompt: false,
      complete: (body) => ok(`+ASK: ${body}`),
    }),
    ...extra,
  });
  let output = '';
  const lines: string[] = [];
  const taken = (): string => {
    const all = output;
    output = '';
    return all;
  };
  const port = new CommandPort({
    write: (bytes) => {
      output += bytes.toString('latin1');
    },
    answer: (command, settings) => {
      // The families under test do not use the equipment.
      const context = { equipment: {} as MobileEquipment, port: settings };
      return general.answer(command, context) ?? commands.answer(command, context) ?? { kind: 'error' };
    },
    onLine: (line) => lines.push(line),
    noiseBeforeAnswer: () => undefined,
    lineInAnswer: () => undefined,
    latenessMs: () => undefined,
    clock: systemClock,
  });
  const say = (text: string, size = text.length): string => {
    for (let start = 0; start < text.length; start += size) {
      port.receive(Buffer.from(text.slice(start, start + size), 'latin1'));
    }
    return taken();
  };
  return { port, lines, say, taken };
}

const DIALOGUES: [name: string, sent: string, received: string][] = [
  ['echo is on', 'AT\r', 'AT\r\r\nOK\r\n'],
  ['echo off', 'ATE0\rAT\r', 'ATE0\r\r\nOK\r\n\r\nOK\r\n'],
  ['a line feed is ignored', 'AT\r\n\nAT\r\n', 'AT\r\r\nOK\r\nAT\r\r\nOK\r\n'],
  ['information', 'AT+TWO\r', 'AT+TWO\r\r\nfirst\r\nsecond\r\n\r\nOK\r\n'],
  ['several commands, one result', 'AT+ONE;+ONE\r', 'AT+ONE;+ONE\r\r\n+ONE: 1\r\n\r\n+ONE: 1\r\n\r\nOK\r\n'],
  ['the first error ends the line', 'AT+ONE;+NO;+ONE\r', 'AT+ONE;+NO;+ONE\r\r\n+ONE: 1\r\n\r\nERROR\r\n'],
  ['a broken line carries out nothing', 'AT+ONE;?\r', 'AT+ONE;?\r\r\nERROR\r\n'],
  ['backspace', 'ATX\b\r', 'ATX\b \b\r\r\nOK\r\n'],
  ['noise in front', '\u0000\u001bxxAT\r', 'xxAT\r\r\nOK\r\n'],
  ['a line without AT', 'hello\rAT\r', 'hello\rAT\r\r\nOK\r\n'],
  ['repetition', 'ATE0+ONE\rA/', 'ATE0+ONE\r\r\n+ONE: 1\r\n\r\nOK\r\n\r\n+ONE: 1\r\n\r\nOK\r\n'],
  ['numeric results', 'ATE0V0\rAT+ONE\rAT+NO\r', 'ATE0V0\r0\r+ONE: 1\r\n0\r4\r'],
  ['quiet', 'ATE0Q1\rAT+ONE\rAT\r', 'ATE0Q1\r\r\n+ONE: 1\r\n'],
  ['defaults again', 'ATE0Q1V0\rATZ\rAT\r', 'ATE0Q1V0\r\r\nOK\r\nAT\r\r\nOK\r\n'],
  ['another end of line', 'ATE0S3=36\rAT$', 'ATE0S3=36\r$\nOK$\n$\nOK$\n'],
  ['errors plain', 'ATE0\rAT+BAD\r', 'ATE0\r\r\nOK\r\n\r\nERROR\r\n'],
  ['errors by number', 'ATE0+CMEE=1\rAT+BAD\r', 'ATE0+CMEE=1\r\r\nOK\r\n\r\n+CME ERROR: 50\r\n'],
  [
    'errors in words',
    'ATE0+CMEE=2\rAT+SMS\r',
    'ATE0+CMEE=2\r\r\nOK\r\n\r\n+CMS ERROR: invalid PDU mode parameter\r\n',
  ],
  ['message errors always have a number', 'ATE0\rAT+SMS\r', 'ATE0\r\r\nOK\r\n\r\n+CMS ERROR: 304\r\n'],
  ['a body', 'ATE0\rAT+ASK\rtext\u001a', 'ATE0\r\r\nOK\r\n\r\n> \r\n+ASK: text\r\n\r\nOK\r\n'],
  ['a body behind CR LF', 'ATE0\rAT+ASK\r\ntext\u001a', 'ATE0\r\r\nOK\r\n\r\n> \r\n+ASK: text\r\n\r\nOK\r\n'],
  ['a cancelled body', 'ATE0\rAT+ASK\rtext\u001bAT\r', 'ATE0\r\r\nOK\r\n\r\n> \r\nOK\r\n\r\nOK\r\n'],
];

for (const [name, sent, received] of DIALOGUES) {
  t.test(name, async (t) => {
    t.equal(openPort().say(sent), received);
    t.equal(openPort().say(sent, 1), received, 'byte by byte');
    t.equal(openPort().say(sent, 3), received, 'in threes');
  });
}

t.test('an unsolicited line waits for the end of the prompt', async (t) => {
  const { port, say } = openPort();
  say('ATE0\rAT+ASK\r');
  port.sendUrc('+CMTI: "SM",1');
  t.equal(say('x\u001a'), '\r\n+ASK: x\r\n\r\nOK\r\n\r\n+CMTI: "SM",1\r\n');
  port.sendUrc('RING');
  t.equal(say(''), '\r\nRING\r\n');
});

t.test('commands wait while one takes its time, unsolicited lines do not', async (t) => {
  let answer: (value: Answer) => void = () => undefined;
  const pending = new Promise<Answer>((resolve) => {
    answer = resolve;
  });
  const { port, say, taken } = openPort({ '+SLOW': () => pending });
  say('ATE0\r');
  t.equal(say('AT+SLOW;+ONE\rAT+TWO\r'), '');
  port.sendUrc('RING');
  t.equal(taken(), '\r\nRING\r\n');
  answer(ok('+SLOW: 1'));
  await pending.then(() => undefined);
  t.equal(taken(), '\r\n+SLOW: 1\r\n\r\n+ONE: 1\r\n\r\nOK\r\n\r\nfirst\r\nsecond\r\n\r\nOK\r\n');
});

t.test('a closed port says nothing more', async (t) => {
  let answer: (value: Answer) => void = () => undefined;
  const pending = new Promise<Answer>((resolve) => {
    answer = resolve;
  });
  const { port, say, taken } = openPort({ '+SLOW': () => pending });
  say('ATE0\rAT+SLOW\r');
  port.close();
  answer(ok());
  await pending.then(() => undefined);
  port.sendUrc('RING');
  t.equal(taken() + say('AT\r'), '');
});

t.test('lines and bodies without end are cut off, and the port goes on', async (t) => {
  const { say, lines } = openPort();
  say('ATE0\r');
  t.equal(say(`AT${'x'.repeat(5000)}\r`), '\r\nERROR\r\n');
  t.ok((lines.at(-1)?.length ?? 0) < 3000);
  t.match(say(`AT+ASK\r${'x'.repeat(4097)}`), /ERROR\r\n$/);
  t.match(say('\rAT\r'), /OK\r\n$/);
});
