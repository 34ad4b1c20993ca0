// Messages over a real terminal: stores, listing, reading, deleting, writing, sending, announcements, reports.
import t from 'tap';
import { quietTerminal, startModem } from '../fixtures/rack.ts';

/** python3-gammu: "Hello world" to +15550001234. 24 octets behind the service center address. */
const SUBMIT = '018111000B915155001032F40000000BC8329BFD06DDDF723619';
const SUBMIT_LENGTH = 24;
/** The same, to the second modem of the rack, with a status report wanted. */
const TO_SECOND = '0031000B912160550501F10000000BC8329BFD06DDDF723619';

function sms(body: string, from = '+15550000012') {
  return { from, to: '+12065550100', body };
}

t.test('a message is stored, announced, listed, read and deleted', async (t) => {
  const { rack, terminal } = await startModem(t);
  rack.carrier.send(sms('Hi', 'GOOGLE'));
  await terminal.expect('\r\n+CMTI: "SM",1\r\n');
  t.match(await terminal.command('AT+CPMS?'), /\+CPMS: "SM",1,50,"SM",1,50,"SM",1,50/);
  const pdu =
    /^\r\n\+CMGL: 1,0,,21\r\n(07912160550500F0040BD0C7E7F3C82C020000\d{12}2B02C834)\r\n\r\nOK\r\n$/.exec(
      await terminal.command('AT+CMGL=4'),
    )?.[1];
  t.ok(pdu);
  t.equal(await terminal.command('AT+CMGL=0'), '\r\nOK\r\n', 'listing marks as read');
  t.equal(await terminal.command('AT+CMGR=1'), `\r\n+CMGR: 1,,21\r\n${pdu}\r\n\r\nOK\r\n`);
  t.equal(await terminal.command('AT+CMGD=1'), '\r\nOK\r\n');
  t.equal(await terminal.command('AT+CMGR=1'), '\r\n+CMS ERROR: 321\r\n');
  t.equal(await terminal.command('AT+CMGD=1'), '\r\nOK\r\n', 'an empty slot can be deleted');
  t.equal(await terminal.command('AT+CMGD=51'), '\r\n+CMS ERROR: 321\r\n');
});

t.test('SIM and modem are two stores', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  rack.carrier.send(sms('one'));
  await terminal.expect('+CMTI: "SM",1');
  await terminal.command('AT+CPMS="ME","ME","ME"');
  rack.carrier.send(sms('two'));
  await terminal.expect('+CMTI: "ME",1');
  t.match(await terminal.command('AT+CPMS="SM"'), /\+CPMS: 1,50,1,255,1,255/);
  t.equal(modem.stores.used('SM'), 1);
  t.equal(modem.stores.used('ME'), 1);
  t.match(await terminal.command('AT+CPMS="XX"'), /CMS ERROR: 302/);
});

t.test('delete flags of +CMGD', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  const slots = () => modem.stores.entries('SM').map(([index]) => index);
  const fill = async () => {
    await terminal.command('AT+CMGD=1,4');
    await terminal.message(`AT+CMGW=${SUBMIT_LENGTH}`, SUBMIT);
    await terminal.message(`AT+CMGW=${SUBMIT_LENGTH},3`, SUBMIT);
    rack.carrier.send(sms('read'));
    await terminal.command('AT+CMGR=3');
    rack.carrier.send(sms('unread'));
    t.same(slots(), [1, 2, 3, 4]);
  };
  for (const [flag, left] of [
    [1, [1, 2, 4]],
    [2, [1, 4]],
    [3, [4]],
    [4, []],
  ] as const) {
    await fill();
    await terminal.command(`AT+CMGD=1,${flag}`);
    t.same(slots(), left, `flag ${flag}`);
  }
});

t.test('a full store announces nothing, and the carrier delivers as soon as there is room', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  for (let count = 1; count <= 52; count++) rack.carrier.send(sms(`message ${count}`));
  await terminal.expect('+CMTI: "SM",50');
  t.equal(rack.carrier.waitingCount(modem.identity.iccid), 2);
  t.equal(await terminal.quietFor(50), '\r\n');
  await terminal.command('AT+CMGD=7');
  await terminal.expect('\r\n+CMTI: "SM",7\r\n');
  t.match(await terminal.command('AT+CPMS?'), /"SM",50,50/);
  await terminal.command('AT+CMGD=1,4');
  await terminal.expect('\r\n+CMTI: "SM",1\r\n');
  t.equal(rack.carrier.waitingCount(modem.identity.iccid), 0);
});

t.test('mt=2 delivers the message directly; with +CSMS=1 it must be acknowledged', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  await terminal.command('AT+CNMI=2,2,0,0,0');
  rack.carrier.send(sms('Hi'));
  await terminal.expect(/\r\n\+CMT: ,21\r\n07912160550500F0040B915155000010F20000\d{12}2B02C834\r\n/);
  t.equal(rack.carrier.waitingCount(modem.identity.iccid), 0);
  t.equal(await terminal.command('AT+CNMA'), '\r\n+CMS ERROR: 340\r\n');
  await terminal.command('AT+CSMS=1');
  rack.carrier.send(sms('one'));
  rack.carrier.send(sms('two'));
  await terminal.expect('+CMT: ,22\r\n');
  t.equal(rack.carrier.waitingCount(modem.identity.iccid), 2);
  await terminal.command('AT+CNMA=1');
  t.equal(rack.carrier.waitingCount(modem.identity.iccid), 1);
  await terminal.expect('+CMT: ,22\r\n');
  await terminal.command('AT+CNMA=0');
  t.equal(rack.carrier.waitingCount(modem.identity.iccid), 0);
  t.equal(modem.stores.used('SM'), 0);
});

t.test('mode 0 keeps announcements back until the terminal wants them', async (t) => {
  const { rack, terminal } = await startModem(t);
  await terminal.command('AT+CNMI=0,1');
  rack.carrier.send(sms('Hi'));
  t.equal(await terminal.quietFor(50), '');
  await terminal.command('AT+CNMI=2,1,0,0,0');
  await terminal.expect('\r\n+CMTI: "SM",1\r\n');
});

t.test('a message of modem 0 reaches modem 1 with the same user data, and is reported', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  const second = await quietTerminal(t, rack.modems[1]?.portPaths.at ?? '');
  await terminal.command('AT+CNMI=2,1,0,1,0');
  t.equal(await terminal.message('AT+CMGS=24', TO_SECOND), '\r\n+CMGS: 0\r\n\r\nOK\r\n');
  await second.expect('+CMTI: "SM",1');
  t.match(
    await second.command('AT+CMGR=1'),
    /\+CMGR: 0,,29\r\n07912160550500F0040B912160550501F00000\d{12}2B0BC8329BFD06DDDF723619\r\n/,
  );
  await terminal.expect(/\r\n\+CDS: 25\r\n07912160550500F006000B912160550501F1\d{12}2B\d{12}2B00\r\n/);
  t.match(
    [...rack.carrier.heard()],
    [{ from: modem.number, to: '+12065550101', body: 'Hello world', pdu: TO_SECOND, message_reference: 0 }],
  );
});

t.test('reports are stored with ds=2, and every message has the next reference', async (t) => {
  const { terminal } = await startModem(t);
  await terminal.command('AT+CNMI=2,1,0,2,0');
  const outside = SUBMIT.replace('018111', '018131');
  t.match(await terminal.message('AT+CMGS=24', outside), /\+CMGS: 0/);
  await terminal.expect('+CDSI: "SR",1');
  t.match(await terminal.message('AT+CMGS=24', outside), /\+CMGS: 1/);
  await terminal.expect('+CDSI: "SR",2');
  await terminal.command('AT+CPMS="SR"');
  t.match(await terminal.command('AT+CMGR=2'), /\+CMGR: 0,,25\r\n07912160550500F006010B915155001032F4/);
});

const REFUSED: [name: string, length: number, pdu: string, answer: string][] = [
  ['a wrong length', 23, SUBMIT, '304'],
  ['no hex', 24, 'XYZ', '304'],
  ['an odd count of digits', 24, `${SUBMIT}0`, '304'],
  ['nothing', 24, '', '304'],
  ['a wrong user data length', 24, SUBMIT.replace('0BC8', '0FC8'), '96'],
  ['a DELIVER', 24, SUBMIT.replace('018111', '018110'), '96'],
  ['a name as destination', 24, SUBMIT.replace('0B91', '0BD1'), '96'],
];

for (const [name, length, pdu, code] of REFUSED) {
  t.test(`refuses to send ${name}`, async (t) => {
    const { rack, terminal } = await startModem(t);
    t.equal(await terminal.message(`AT+CMGS=${length}`, pdu), `\r\n+CMS ERROR: ${code}\r\n`);
    t.same([...rack.carrier.heard()], []);
    t.equal(await terminal.command('AT'), '\r\nOK\r\n');
  });
}

t.test('written messages are sent from the store', async (t) => {
  const { rack, terminal } = await startModem(t);
  t.match(await terminal.message('AT+CMGW=24', SUBMIT), /\+CMGW: 1/);
  t.match(await terminal.command('AT+CMSS=1'), /\+CMSS: 0/);
  t.match(await terminal.command('AT+CMSS=1,"+12065550101"'), /\+CMSS: 1/);
  t.match(
    [...rack.carrier.heard()],
    [
      { to: '+15550001234', body: 'Hello world' },
      { to: '+12065550101', body: 'Hello world' },
    ],
  );
  t.match(await terminal.command('AT+CMGL=3'), /\+CMGL: 1,3,,24\r\n/);
});

t.test('people at a terminal can list, read and send in text mode', async (t) => {
  const { rack, terminal } = await startModem(t);
  rack.carrier.send(sms('How are you?'));
  rack.carrier.send(sms('Привет'));
  await terminal.expect('+CMTI: "SM",2');
  await terminal.command('AT+CMGF=1');
  t.match(
    await terminal.command('AT+CMGL="ALL"'),
    /\+CMGL: 1,"REC UNREAD","\+15550000012",,"\d\d\/\d\d\/\d\d,\d\d:\d\d:\d\d-32"\r\nHow are you\?\r\n\+CMGL: 2.*\r\n041F04400438043204350442\r\n/s,
  );
  t.match(
    await terminal.command('AT+CMGR=1'),
    /\+CMGR: "REC READ","\+15550000012",,"[^"]+"\r\nHow are you\?\r\n/,
  );
  t.match(await terminal.message('AT+CMGS="+15550001234"', 'Fine, thanks'), /\+CMGS: 0/);
  t.match([...rack.carrier.heard()], [{ to: '+15550001234', body: 'Fine, thanks', encoding: 'gsm7' }]);
  t.equal(await terminal.message('AT+CMGS="+15550001234"', 'x'.repeat(161)), '\r\n+CMS ERROR: 305\r\n');
});

t.test('messages go out one after another, as long as each takes', async (t) => {
  const { rack, modem, terminal } = await startModem(t, { sendDelayMs: 120 });
  const second = await quietTerminal(t, modem.portPaths.at2);
  const start = Date.now();
  await Promise.all([terminal.message('AT+CMGS=24', SUBMIT), second.message('AT+CMGS=24', SUBMIT)]);
  t.ok(Date.now() - start >= 200, 'two ports share one radio');
  t.equal([...rack.carrier.heard()].length, 2);
});
