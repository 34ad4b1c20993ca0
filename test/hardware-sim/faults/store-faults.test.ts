// Faults of the stores: what is announced, where messages lie, how many fit.
import t from 'tap';
import { parseFault } from '#hardware-sim/faults/fault-set.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { startModem } from '../fixtures/rack.ts';

const SUBMIT = '018131000B915155001032F40000000BC8329BFD06DDDF723619';
const HELLO = { from: '+15550000012', to: '+12065550100', body: 'Hi' };

t.test('cmti no_memory: announced without a place, not stored, and brought again', async (t) => {
  const clock = new ManualClock();
  const { rack, modem, terminal } = await startModem(t, { clock });
  modem.play(parseFault({ kind: 'cmti', form: 'no_memory', retry_ms: 40 }));
  rack.carrier.send(HELLO);
  await terminal.expect('\r\n+CMTI: ,-1\r\n');
  t.equal(modem.stores.used('SM') + modem.stores.used('ME'), 0);
  clock.advance(40);
  await terminal.expect('\r\n+CMTI: "SM",1\r\n');
  t.equal(modem.stores.used('SM'), 1);
});

t.test('cmti other_memory: stored and announced where +CPMS did not say', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  modem.play(parseFault({ kind: 'cmti', form: 'other_memory' }));
  rack.carrier.send(HELLO);
  await terminal.expect('\r\n+CMTI: "ME",1\r\n');
  t.match(await terminal.command('AT+CMGR=1'), /\+CMS ERROR: 321/);
  t.match(await terminal.command('AT+CPMS="ME";+CMGR=1'), /\+CMGR: 0,,/);
  rack.carrier.send(HELLO);
  await terminal.expect('+CMTI: "SM",1');
});

t.test('cmti empty_slot and mms_push', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  modem.play(parseFault({ kind: 'cmti', form: 'empty_slot' }));
  rack.carrier.send(HELLO);
  await terminal.expect('\r\n+CMTI: "SM",2\r\n');
  t.match(await terminal.command('AT+CMGR=2'), /\+CMS ERROR: 321/);
  t.match(await terminal.command('AT+CMGR=1'), /\+CMGR: 0,,/);
  modem.play(parseFault({ kind: 'cmti', form: 'mms_push' }));
  rack.carrier.send(HELLO);
  await terminal.expect('\r\n+CMTI: "SM",2,"MMS PUSH",2,1\r\n');
});

t.test('stores have the size of the rack, or that of the fault', async (t) => {
  const { rack, modem, terminal } = await startModem(t, { capacities: { SM: 10, ME: 23 } });
  t.match(await terminal.command('AT+CPMS="SM","ME","SM"'), /\+CPMS: 0,10,0,23,0,10/);
  modem.play(parseFault({ kind: 'capacity', SM: 2, SR: 1 }));
  for (let count = 0; count < 4; count++) rack.carrier.send(HELLO);
  t.match(await terminal.command('AT+CPMS?'), /\+CPMS: "SM",2,2,"ME",0,23,"SM",2,2/);
  t.equal(rack.carrier.waitingCount(modem.identity.iccid), 2);
  await terminal.command('AT+CMGD=1');
  await terminal.expect('+CMTI: "SM",1');
  modem.clearFaults();
  t.match(await terminal.command('AT+CPMS?'), /\+CPMS: "SM",3,10/);
});

t.test('a full store is announced once, in the words of the make', async (t) => {
  for (const [make, line] of [
    ['quectel', '+QIND: "smsfull","SM"'],
    ['simcom', '+SMS FULL'],
    ['huawei', '^SMMEMFULL:"SM"'],
  ] as const) {
    const { rack, modem, terminal } = await startModem(t, { makes: [make] });
    if (make === 'quectel') await terminal.command('AT+QINDCFG="smsfull",1');
    modem.play(parseFault({ kind: 'capacity', SM: 1 }));
    rack.carrier.send(HELLO);
    await terminal.expect('+CMTI: "SM",1');
    rack.carrier.send(HELLO);
    await terminal.expect(`\r\n${line}\r\n`);
    rack.carrier.send(HELLO);
    t.notMatch(await terminal.quietFor(30), 'FULL');
    await terminal.command('AT+CMGD=1');
    t.match(await terminal.expect(`\r\n${line}\r\n`), '+CMTI: "SM",1', 'full again, announced again');
  }
});

t.test('a store full of reports takes no messages', async (t) => {
  const { rack, modem, terminal } = await startModem(t, { capacities: { SM: 2 } });
  await terminal.command('AT+CNMI=2,1,0,2,0');
  modem.play(parseFault({ kind: 'status_report', memory: 'SM' }));
  for (const index of [1, 2]) {
    await terminal.message('AT+CMGS=24', SUBMIT);
    await terminal.expect(`\r\n+CDSI: "SM",${index}\r\n`);
  }
  rack.carrier.send(HELLO);
  t.equal(rack.carrier.waitingCount(modem.identity.iccid), 1);
  t.match(await terminal.command('AT+CMGL=4'), /\+CMGL: 1,0,,25\r\n.*\+CMGL: 2,0,,25\r\n/s);
  await terminal.command('AT+CMGD=1');
  await terminal.expect('+CMTI: "SM",1');
});
