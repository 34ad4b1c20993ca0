// Faults of the network and of the carrier: registration, time, references, status reports.
import t from 'tap';
import { parseFault } from '#hardware-sim/faults/fault-set.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { until } from '../../fixtures/until.ts';
import { startModem } from '../fixtures/rack.ts';

/** To +15550001234, with a status report wanted; first octet 31. */
const SUBMIT = '018131000B915155001032F40000000BC8329BFD06DDDF723619';
/** 3GPP TS 23.040 §9.2.2.3: SMSC, first octet, TP-MR, TP-RA, TP-SCTS, TP-DT, TP-ST. */
const REPORT =
  /\+CDS: \d+\r\n(?<smsc>07912160550500F0)06(?<mr>..)(?<ra>0B91\d{10}F\d|0A[8A]1\d{10}|0B81\d{10}F\d)(?<scts>.{14})(?<dt>.{14})(?<st>..)\r\n/;
const HELLO = { from: '+15550000012', to: '+12065550100', body: 'Hi' };

t.test('denied: with the reject cause for those who ask for it', async (t) => {
  const { modem, terminal } = await startModem(t);
  await terminal.command('AT+CREG=3;+CEREG=1');
  modem.play(parseFault({ kind: 'denied', cause: 11 }));
  await terminal.expect('\r\n+CREG: 3,,,,0,11\r\n');
  await terminal.expect('\r\n+CEREG: 3\r\n');
  t.match(await terminal.command('AT+CREG?'), /\r\n\+CREG: 3,3,,,,0,11\r\n/);
  t.equal(modem.state, 'denied');
  modem.clearFaults();
  await terminal.expect(/\r\n\+CREG: 1,"1A2B","01A2B3C4",7\r\n/);
});

t.test('roaming: another network, and everything works', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  modem.play(parseFault({ kind: 'roaming' }));
  t.match(await terminal.command('AT+CREG?;+COPS=3,2;+COPS?'), /\+CREG: 0,5.*\+COPS: 0,2,"00102",7/s);
  t.match(await terminal.message('AT+CMGS=24', SUBMIT), /\+CMGS: 0/);
  rack.carrier.send(HELLO);
  await terminal.expect('+CMTI: "SM",1');
});

t.test('flapping: the registration goes and comes until the fault is cleared', async (t) => {
  const { modem, terminal } = await startModem(t);
  await terminal.command('AT+CREG=1');
  modem.play(parseFault({ kind: 'flapping', period_ms: 40 }));
  for (const stat of [2, 1, 2, 1, 2]) await terminal.expect(`\r\n+CREG: ${stat}\r\n`);
  modem.clearFaults();
  // It may have come and gone once more before.
  t.match(await terminal.command('AT+CREG?'), /\+CREG: 1\r\n\r\n\+CREG: 1,1\r\n\r\nOK\r\n$/);
  t.equal(await terminal.quietFor(100), '');
});

t.test('slow_network: registering, sending and receiving take their time', async (t) => {
  const clock = new ManualClock();
  const { rack, modem, terminal } = await startModem(t, { clock });
  const delayMs = 80;
  modem.play(parseFault({ kind: 'slow_network', ms: delayMs }));
  /** An event that comes only when the time is over. */
  const comesInTime = async (wanted: string): Promise<void> => {
    await until('a wait', () => clock.untilNextMs <= delayMs);
    clock.advance(clock.untilNextMs - 1);
    t.notMatch(await terminal.quietFor(20), wanted);
    clock.advance(1);
    await terminal.expect(wanted);
  };
  terminal.write('AT+CMGS=24\r');
  await terminal.expect('\r\n> ');
  const sentAt = clock.now();
  terminal.write(`${SUBMIT}\u001a`);
  await comesInTime('+CMGS: 0');
  t.equal(clock.now() - sentAt, delayMs);
  rack.carrier.send(HELLO);
  rack.carrier.send(HELLO);
  await comesInTime('+CMTI: "SM",1');
  t.equal(clock.now() - sentAt, 2 * delayMs);
  await comesInTime('+CMTI: "SM",2');
  t.equal(clock.now() - sentAt, 3 * delayMs, 'one after the other');
  await terminal.command('AT+CFUN=0');
  await terminal.command('AT+CREG=1;+CFUN=1');
  await comesInTime('+CREG: 1');
  t.equal(clock.now() - sentAt, 4 * delayMs);
});

t.test('not_registered, volte_only and signal', async (t) => {
  const { modem, terminal } = await startModem(t, { makes: ['simcom'] });
  await terminal.command('AT+AUTOCSQ=1,1');
  modem.play(parseFault({ kind: 'signal', rssi: 3 }));
  await terminal.expect('\r\n+CSQ: 3,99\r\n');
  t.match(await terminal.command('AT+CSQ'), /\+CSQ: 3,99/);
  modem.clearFaults();
  modem.play(parseFault({ kind: 'not_registered' }));
  t.match(await terminal.command('AT+CSQ;+CREG?;+COPS?'), /\+CSQ: 99,99.*\+CREG: 0,2.*\+COPS: 0\r\n/s);
  modem.clearFaults();
  modem.play(parseFault({ kind: 'volte_only' }));
  t.match(await terminal.command('AT+CREG?;+CEREG?'), /\+CREG: 0,3.*\+CEREG: 0,1/s);
});

t.test('clock: years off, or octets that are no time', async (t) => {
  // Noon: the modem's time zone has the same year.
  const clock = new ManualClock(Date.UTC(2026, 6, 1, 12));
  const { rack, modem, terminal } = await startModem(t, { clock });
  const year = (offset: number): string => String((2026 + offset) % 100).padStart(2, '0');
  modem.play(parseFault({ kind: 'clock', years: -24 }));
  rack.carrier.send(HELLO);
  const [tens, units] = year(-24);
  // From +15550000012: time stamp behind PID and DCS, digits swapped (3GPP TS 23.040 §9.2.3.11).
  t.match(await terminal.command('AT+CMGL=4'), new RegExp(`915155000010F20000${units}${tens}`));
  t.match(await terminal.command('AT+CCLK?'), `+CCLK: "${year(-24)}/`);
  modem.play(parseFault({ kind: 'clock', scts: 'FF00FFAB99ffFF' }));
  rack.carrier.send(HELLO);
  t.match(await terminal.command('AT+CMGR=2'), /915155000010F20000FF00FFAB99FFFF02/);
  modem.clearFaults();
  t.match(await terminal.command('AT+CCLK?'), `+CCLK: "${year(0)}/`);
});

t.test('message_reference: all messages get the same one', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  await terminal.command('AT+CNMI=2,1,0,1,0');
  modem.play(parseFault({ kind: 'message_reference' }));
  for (let count = 0; count < 2; count++) {
    t.match(await terminal.message('AT+CMGS=24', SUBMIT), /\+CMGS: 0\r\n/);
    t.equal(REPORT.exec(await terminal.expect(REPORT))?.groups?.['mr'], '00');
  }
  t.match([...rack.carrier.heard()], [{ message_reference: 0 }, { message_reference: 0 }]);
});

t.test('status_report: reference, recipient and service centre are others', async (t) => {
  const { modem, terminal } = await startModem(t);
  await terminal.command('AT+CNMI=2,1,0,1,0');
  const reported = async (fields: object): Promise<string> => {
    modem.play(parseFault({ kind: 'status_report', ...fields }));
    await terminal.message('AT+CMGS=24', SUBMIT);
    return terminal.expect(/\+CDS: \d+\r\n[0-9A-F]+\r\n/);
  };
  t.equal(REPORT.exec(await reported({}))?.groups?.['ra'], '0B915155001032F4');
  t.equal(REPORT.exec(await reported({ message_reference: 200 }))?.groups?.['mr'], 'C8');
  t.equal(REPORT.exec(await reported({ recipient: 'national' }))?.groups?.['ra'], '0AA15505002143');
  t.equal(REPORT.exec(await reported({ recipient: 'digits' }))?.groups?.['ra'], '0B815155001032F4');
  t.match(await reported({ service_centre: '+15550000000' }), /\r\n07915155000000F006/);
});

t.test("status_report: yesterday's comes first and says something else", async (t) => {
  const { modem, terminal } = await startModem(t);
  await terminal.command('AT+CNMI=2,1,0,1,0');
  modem.play(parseFault({ kind: 'status_report', yesterday: true }));
  await terminal.message('AT+CMGS=24', SUBMIT);
  const old = REPORT.exec(await terminal.expect(REPORT))?.groups;
  const own = REPORT.exec(await terminal.expect(REPORT))?.groups;
  t.equal(old?.['mr'], own?.['mr']);
  t.equal(old?.['ra'], own?.['ra']);
  t.not(old?.['scts']?.slice(0, 6), own?.['scts']?.slice(0, 6), 'another day');
  t.same([old?.['st'], own?.['st']], ['46', '00']);
});

t.test('status_report: before the result of its message', async (t) => {
  const { modem, terminal } = await startModem(t);
  await terminal.command('AT+CNMI=2,1,0,1,0');
  modem.play(parseFault({ kind: 'status_report', before_result: true }));
  t.match(await terminal.message('AT+CMGS=24', SUBMIT), /\+CDS: 25\r\n.*\+CMGS: 0\r\n\r\nOK/s);
  await terminal.command('AT+CNMI=2,1,0,2,0');
  t.match(await terminal.message('AT+CMGS=24', SUBMIT), /\+CDSI: "SR",1\r\n.*\+CMGS: 1\r\n\r\nOK/s);
});
