// Each make as a program that identifies modems sees it.
import t from 'tap';
import type { MakeName } from '#hardware-sim/makes/make.ts';
import { startModem, startRack } from './fixtures/rack.ts';

interface Expectation {
  make: MakeName;
  information: RegExp;
  maker: string;
  model: string;
  revision: RegExp;
  /** Command and answer for the card's number; `%` is that number. */
  iccid: [command: string, answer: string];
  /** Commands of other makes. */
  unknown: string[];
}

const EXPECTED: Expectation[] = [
  {
    make: 'quectel',
    information: /^\r\nQuectel\r\nEC25\r\nRevision: EC25\w+\r\n\r\nOK\r\n$/,
    maker: 'Quectel',
    model: 'EC25',
    revision: /^\r\nEC25\w+\r\n/,
    iccid: ['AT+QCCID', '+QCCID: %F'],
    unknown: ['AT+CICCID', 'AT^ICCID?', 'AT+SPIC', 'AT^CURC=0'],
  },
  {
    make: 'simcom',
    information:
      /Manufacturer: SIMCOM INCORPORATED\r\nModel: SIMCOM_SIM7600\S*\r\nRevision: \S+\r\nIMEI: \d{15}\r\n/,
    maker: 'SIMCOM INCORPORATED',
    model: 'SIMCOM_SIM7600',
    revision: /^\r\n\+CGMR: \w+\r\n/,
    iccid: ['AT+CICCID', '+ICCID: %'],
    unknown: ['AT+QCCID', 'AT^ICCID?', 'AT+QPINC?', 'AT+QINDCFG="csq",1,0'],
  },
  {
    make: 'huawei-e303',
    information: /Manufacturer: huawei\r\nModel: E303\r\nRevision: \S+\r\nIMEI: \d{15}\r\n/,
    maker: 'huawei',
    model: 'E303',
    revision: /^\r\n22\.\S+\r\n/,
    iccid: ['AT^ICCID?', '^ICCID: %F'],
    unknown: ['AT+QCCID', 'AT+CCID', 'AT+CICCID', 'AT+CRESET'],
  },
  {
    make: 'generic',
    information: /^\r\nGeneric\r\n/,
    maker: 'Generic',
    model: 'W14',
    revision: /^\r\nW14_\S+\r\n/,
    iccid: ['AT+CCID', '+CCID: %'],
    unknown: ['AT+QCCID', 'AT+CICCID', 'AT^ICCID?', 'AT^SYSINFO', 'AT+QCSQ'],
  },
];

for (const { make, information, maker, model, revision, iccid, unknown } of EXPECTED) {
  t.test(`${make} identifies itself, and does not know the others' commands`, async (t) => {
    const { modem, terminal } = await startModem(t, { makes: [make] });
    t.match(await terminal.command('ATI'), information);
    t.match(await terminal.command('AT+CGMI'), `\r\n${maker}`);
    t.match(await terminal.command('AT+CGMM'), `\r\n${model}`);
    t.match(await terminal.command('AT+CGMR'), revision);
    t.match(await terminal.command('AT+CGSN'), `\r\n${modem.imei}\r\n`);
    const [command, answer] = iccid;
    t.match(await terminal.command(command), `\r\n${answer.replace('%', modem.identity.iccid)}\r\n`);
    for (const other of unknown) t.equal(await terminal.command(other), '\r\nERROR\r\n', other);
  });
}

t.test('E1750 shows the number of the card with swapped digits', async (t) => {
  const { modem, terminal } = await startModem(t, { makes: ['huawei'] });
  const { iccid } = modem.identity;
  const shown = /\^ICCID: (\w{20})\r\n/.exec(await terminal.command('AT^ICCID?'))?.[1] ?? '';
  const digits = Array.from({ length: 20 }, (_, index) => shown[index ^ 1]).join('');
  t.equal(digits, `${iccid}F`);
});

t.test('the slots get the makes in turn', async (t) => {
  const rack = await startRack(t, { modems: 5, makes: ['quectel', 'simcom'] });
  t.same(
    rack.modems.map(({ make }) => make.name),
    ['quectel', 'simcom', 'quectel', 'simcom', 'quectel'],
  );
});

t.test('every make sends, receives and deletes', async (t) => {
  for (const make of ['quectel', 'simcom', 'huawei', 'huawei-e303', 'generic'] as const) {
    const { rack, modem, terminal } = await startModem(t, { makes: [make] });
    rack.carrier.send({ from: '12345', to: modem.number, body: 'Hi' });
    await terminal.expect('+CMTI: "SM",1');
    t.match(await terminal.command('AT+CMGR=1'), /\+CMGR: 0,,/);
    t.equal(await terminal.command('AT+CMGD=1'), '\r\nOK\r\n');
    const submit = '018111000B915155001032F40000000BC8329BFD06DDDF723619';
    t.match(await terminal.message('AT+CMGS=24', submit), /\+CMGS: 0/, make);
  }
});
