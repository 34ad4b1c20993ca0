// Restarts and losses of the port: what goes, what comes back, under which name, with which lines.
import t from 'tap';
import { parseFault } from '#hardware-sim/faults/fault-set.ts';
import type { SimulatedModem } from '#hardware-sim/modem/modem.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { until } from '../../fixtures/until.ts';
import { quietTerminal, startModem } from '../fixtures/rack.ts';
import { Terminal } from '../fixtures/terminal.ts';

function ttyOf(modem: SimulatedModem): string | undefined {
  return modem.usb.ttys.find(({ role }) => role === 'at')?.tty;
}

t.test('restart commands re-enumerate the device after the time of a start', async (t) => {
  for (const [make, command] of [
    ['quectel', 'AT+CFUN=1,1'],
    ['simcom', 'AT+CRESET'],
    ['huawei', 'AT^RESET'],
    ['generic', 'AT+CFUN=1,1'],
  ] as const) {
    const { modem, terminal } = await startModem(t, { makes: [make], bootMs: 60 });
    const before = ttyOf(modem);
    await terminal.command('AT+CNMI=1,0,0,0,0');
    const start = Date.now();
    t.match(await terminal.command(command), /OK/);
    await terminal.expectHangUp();
    t.equal(modem.state, 'unplugged');
    await until('it is back', () => modem.state === 'registered');
    t.ok(Date.now() - start >= 40);
    t.not(ttyOf(modem), before, `${make} has another ttyUSB number`);
    const again = await quietTerminal(t, modem.portPaths.at);
    t.match(await again.command('AT+CNMI?'), /\+CNMI: 2,1,0,0,0/);
  }
});

t.test('a restart that was answered happens, whatever is done to the modem meanwhile', async (t) => {
  const { modem, terminal } = await startModem(t, { bootMs: 1 });
  t.match(await terminal.command('AT+CFUN=1,1'), /OK/);
  modem.clearFaults();
  await terminal.expectHangUp();
  await until('it is back', () => modem.state === 'registered');
});

t.test('makes without a restart command of their own know none', async (t) => {
  const { terminal } = await startModem(t);
  t.match(await terminal.command('AT+CRESET'), /ERROR/);
  t.match(await terminal.command('AT^RESET'), /ERROR/);
});

t.test('each make says in its own words that it has started', async (t) => {
  for (const [make, lines] of [
    ['quectel', ['RDY', '+CFUN: 1', '+CPIN: READY', '+QUSIM: 1', '+QIND: SMS DONE', '+QIND: PB DONE']],
    ['simcom', ['RDY', '+CPIN: READY', 'SMS DONE', 'PB DONE']],
    ['huawei', ['^SYSSTART', '^BOOT:20852263,0,0,0,75', '^SIMST:1', '^SRVST:2']],
  ] as const) {
    const { modem, terminal } = await startModem(t, { makes: [make], bootMs: 1 });
    t.equal(await terminal.quietFor(10), '', 'a rack that was there before says nothing');
    await terminal.command('AT+CFUN=1,1');
    await terminal.expectHangUp();
    await until('it is back', () => modem.state === 'registered');
    const again = new Terminal(modem.portPaths.at);
    t.teardown(() => again.close());
    const said = lines.map((line) => `\r\n${line}\r\n`).join('');
    t.equal(await again.expect(said), said);
  }
});

t.test('messages can be handled only some time after the start', async (t) => {
  const clock = new ManualClock();
  const { rack, modem, terminal } = await startModem(t, { clock, bootMs: 1, messagingAfterMs: 150 });
  await terminal.command('AT+CFUN=1,1');
  clock.advance(clock.untilNextMs);
  await terminal.expectHangUp();
  clock.advance(1);
  t.equal(modem.state, 'registered');
  const { iccid, number } = modem.identity;
  rack.carrier.send({ from: '12345', to: number, body: 'Hi' });
  const again = await quietTerminal(t, modem.portPaths.at);
  t.match(await again.command('AT+CPIN?'), /READY/);
  t.match(await again.command('AT+CMGL=4'), /\+CMS ERROR: 314/);
  t.equal(rack.carrier.waitingCount(iccid), 1);
  clock.advance(150);
  await again.expect('\r\n+QIND: SMS DONE\r\n');
  await again.expect('+CMTI: "SM",1');
  t.match(await again.command('AT+CMGL=4'), /\+CMGL: 1/);
});

t.test('port_gone: back under another number, as its driver disk first if asked', async (t) => {
  const { modem, terminal } = await startModem(t, { makes: ['huawei'] });
  const before = ttyOf(modem);
  modem.play(parseFault({ kind: 'port_gone', back_after_ms: 30, storage_ms: 30 }));
  await terminal.expectHangUp();
  t.equal(modem.state, 'unplugged');
  await until('the disk is there', () => modem.state === 'storage');
  await until('the modem is there', () => modem.state === 'registered');
  t.not(ttyOf(modem), before);
  t.same(modem.faults.list(), []);
});

t.test('storage: a disk as long as the fault lasts, also after a restart', async (t) => {
  const { modem } = await startModem(t);
  modem.play(parseFault({ kind: 'storage' }));
  modem.power.unplug();
  modem.power.plugIn();
  t.equal(modem.state, 'storage');
  modem.power.switchMode();
  t.equal(modem.state, 'registered');
  t.same(modem.faults.list(), []);
});

t.test('+CFUN=0 and 4 take the modem off the network, 1 brings it back', async (t) => {
  const { modem, terminal } = await startModem(t);
  await terminal.command('AT+CREG=1');
  for (const level of [0, 4]) {
    await terminal.command(`AT+CFUN=${level}`);
    t.match(await terminal.command('AT+CFUN?;+CREG?'), new RegExp(`CFUN: ${level}.*CREG: 1,0`, 's'));
    t.equal(modem.state, 'radio_off');
    await terminal.command('AT+CFUN=1');
    t.match(await terminal.command('AT+CREG?'), /\+CREG: 1,1/);
  }
});
