// The lines of each make about a call, in the order in which the parsers of other programs know them from real modems.
import t from 'tap';
import type { MakeName } from '#hardware-sim/makes/make.ts';
import { request } from '../../fixtures/network/json-request.ts';
import { putFarEnd } from '../fixtures/call-terminal.ts';
import { EventSource } from '../fixtures/event-source.ts';
import { post } from '../fixtures/http.ts';
import { startModem } from '../fixtures/rack.ts';

const FAR = '+15550001111';
const CALLER = '+15550002222';

interface Expectation {
  name: string;
  make: MakeName;
  setUp: string;
  /** Lines of a call that the modem makes, and that the other side ends 17 s after the answer. */
  made: (number: string) => string[];
  /** The last line that comes when the call is answered. */
  answered: string;
  /** Lines of a call that comes in: until ATA, from ATA to the end by the other side. */
  rings: (number: string) => string[];
  taken: (number: string) => string[];
}

const ccinfo = (direction: number, state: number, number: string): string =>
  `+QIND: "ccinfo",1,${direction},${state},0,0,"${number}",145`;
const dsci = (direction: number, state: number, number: string): string =>
  `^DSCI: 1,${direction},${state},0,${number},145`;
const clcc = (direction: number, stat: number, number: string): string =>
  `+CLCC: 1,${direction},${stat},0,0,"${number}",145`;
const clip = (number: string): string => `+CLIP: "${number}",145,,,,0`;

const EXPECTED: Expectation[] = [
  {
    name: 'quectel with ccinfo',
    make: 'quectel',
    setUp: 'AT+CLIP=1;+QINDCFG="ccinfo",1,0',
    made: (to) => ['OK', ...[2, 3, 0, -1].map((state) => ccinfo(0, state, to)), 'NO CARRIER'],
    answered: ',1,0,0,',
    rings: (from) => ['RING', clip(from), ccinfo(1, 4, from)],
    taken: (from) => ['OK', ccinfo(1, 0, from), ccinfo(1, -1, from), 'NO CARRIER'],
  },
  {
    name: 'quectel with DSCI',
    make: 'quectel',
    setUp: 'AT+CLIP=1;^DSCI=1',
    made: (to) => ['OK', ...[2, 7, 3, 6].map((state) => dsci(0, state, to)), 'NO CARRIER'],
    answered: '1,0,3,',
    rings: (from) => ['RING', clip(from), dsci(1, 4, from)],
    taken: (from) => ['OK', dsci(1, 3, from), dsci(1, 6, from), 'NO CARRIER'],
  },
  {
    name: 'simcom',
    make: 'simcom',
    setUp: 'AT+CLIP=1;+CLCC=1',
    made: (to) => [
      'OK',
      clcc(0, 2, to),
      clcc(0, 3, to),
      'VOICE CALL: BEGIN',
      clcc(0, 0, to),
      'VOICE CALL: END: 00000N',
      'NO CARRIER',
    ],
    answered: '1,0,0,',
    rings: (from) => ['RING', clip(from), clcc(1, 4, from)],
    taken: (from) => ['VOICE CALL: BEGIN', clcc(1, 0, from), 'OK', 'VOICE CALL: END: 00000N', 'NO CARRIER'],
  },
  {
    name: 'huawei',
    make: 'huawei',
    setUp: 'AT+CLIP=1',
    made: () => ['OK', '^ORIG:1,0', '^CONF:1', '^CONN:1,0', '^CEND:1,N,104,16', 'NO CARRIER'],
    answered: '^CONN',
    rings: (from) => ['RING', clip(from)],
    taken: () => ['OK', '^CONN:1,0', '^CEND:1,N,104,16', 'NO CARRIER'],
  },
  {
    name: 'generic',
    make: 'generic',
    setUp: 'AT+CLIP=1;+CRC=1',
    made: () => ['OK', 'NO CARRIER'],
    answered: 'OK',
    rings: (from) => ['+CRING: VOICE', clip(from)],
    taken: () => ['OK', 'NO CARRIER'],
  },
];

/** Lines of a text, with the seconds of a call left open. */
function linesOf(text: string): string[] {
  return text
    .split('\r\n')
    .filter((line) => line !== '')
    .map((line) => line.replace(/END: 00000\d$/, 'END: 00000N').replace(/^(\^CEND:1),\d+,/, '$1,N,'));
}

for (const { name, make, setUp, made, answered, rings, taken } of EXPECTED) {
  t.test(`${name}: a call out, ended by the other side`, async (t) => {
    const { rack, terminal } = await startModem(t, { makes: [make] });
    await putFarEnd(rack.url, FAR, { after_ms: 30 });
    await terminal.command(setUp);
    terminal.write(`ATD${FAR};\r`);
    let said = await terminal.expect(answered);
    const stat = async (): Promise<string> => {
      const listed = await terminal.command('AT+CLCC');
      said += listed.replace(/\r\n\+CLCC: 1,0,\d,0,0,"[^"]*",145\r\n\r\nOK\r\n$/, '');
      return listed;
    };
    while (!(await stat()).includes('+CLCC: 1,0,0')) await terminal.quietFor(10);
    await request(`${rack.url}/calls/1`, { method: 'DELETE' });
    said += await terminal.expect('NO CARRIER\r\n');
    t.same(linesOf(said), made(FAR));
    t.match(await terminal.command('AT+CLCC'), /^\r\nOK\r\n$/);
  });

  t.test(`${name}: a call in, answered, ended by the other side`, async (t) => {
    const { rack, modem, terminal } = await startModem(t, { makes: [make], ringIntervalMs: 60_000 });
    await terminal.command(setUp);
    await post(`${rack.url}/calls`, { from: CALLER, to: modem.number });
    t.same(linesOf(await terminal.command('AT+CLCC')), [...rings(CALLER), clcc(1, 4, CALLER), 'OK']);
    terminal.write('ATA\r');
    let said = await terminal.expect('OK\r\n');
    said += (await terminal.command('AT+CLCC')).replace(/\r\n\+CLCC: 1,1,0,[^\r]*\r\n\r\nOK\r\n$/, '');
    await request(`${rack.url}/calls/1`, { method: 'DELETE' });
    said += await terminal.expect('NO CARRIER\r\n');
    t.same(linesOf(said), taken(CALLER));
  });
}

t.test('RING comes again and again, and stops with the call', async (t) => {
  const { rack, modem, terminal } = await startModem(t, { ringIntervalMs: 100 });
  await post(`${rack.url}/calls`, { from: CALLER, to: modem.number });
  for (let count = 0; count < 3; count++) await terminal.expect('\r\nRING\r\n');
  await request(`${rack.url}/calls/1?cause=16`, { method: 'DELETE' });
  await terminal.expect('\r\nNO CARRIER\r\n');
  t.notMatch(await terminal.quietFor(250), 'RING');
});

t.test('a caller who hides the number is shown without one', async (t) => {
  const { rack, modem, terminal } = await startModem(t, { makes: ['simcom'] });
  await terminal.command('AT+CLIP=1;+CLCC=1');
  await post(`${rack.url}/calls`, { from: null, to: modem.number });
  await terminal.expect('\r\n+CLIP: "",128,,,,1\r\n\r\n+CLCC: 1,1,4,0,0,"",128\r\n');
  await terminal.command('AT+CHUP');
});

t.test('SIMCom announces a call that was not answered', async (t) => {
  const { rack, modem, terminal } = await startModem(t, { makes: ['simcom'] });
  await post(`${rack.url}/calls`, { from: CALLER, to: modem.number });
  await terminal.expect('RING');
  await request(`${rack.url}/calls/1`, { method: 'DELETE' });
  const said = await terminal.expect(/MISSED_CALL: \d\d:\d\d[AP]M \+15550002222\r\n/);
  t.match(said, /NO CARRIER\r\n\r\nMISSED_CALL/);
});

t.test(
  'keys of the far end: each make announces them in its own form, once it was set to listen',
  async (t) => {
    const cases: [make: MakeName, on: string, line: string][] = [
      ['quectel', 'AT+QTONEDET=1', '+QTONEDET: 53'],
      ['simcom', 'AT+DDET=1', '+RXDTMF: 5'],
      ['huawei', 'AT^DDTMFCFG=1', '^DDTMF:5'],
    ];
    for (const [make, on, line] of cases) {
      const { rack, modem, terminal } = await startModem(t, { makes: [make] });
      const events = await EventSource.open(t, rack.url);
      await post(`${rack.url}/calls`, { from: CALLER, to: modem.number });
      await terminal.command('ATA');
      t.equal((await post(`${rack.url}/calls/1/dtmf`, { digits: '9', tone_ms: 40, gap_ms: 40 })).status, 200);
      t.match((await events.next('dtmf')).data, { id: 1, by: 'origin', digit: '9' });
      await terminal.command(on);
      await post(`${rack.url}/calls/1/dtmf`, { digits: '5' });
      t.notMatch(await terminal.expect(`\r\n${line}\r\n`), /TONEDET: 57|DTMF: ?9/, make);
    }
  },
);
