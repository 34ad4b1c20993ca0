// Faults of the dialogue as a client at the terminal sees them, octet for octet.
import t from 'tap';
import { parseFault } from '#hardware-sim/faults/fault-set.ts';
import { until } from '../../fixtures/until.ts';
import { quietTerminal, startModem } from '../fixtures/rack.ts';
import { Terminal } from '../fixtures/terminal.ts';

const SUBMIT = '018131000B915155001032F40000000BC8329BFD06DDDF723619';
const HELLO = { from: '+15550000012', to: '+12065550100', body: 'Hi' };

t.test('late_answer: it comes with the next command, in front of that answer', async (t) => {
  const { modem, terminal } = await startModem(t);
  modem.play(parseFault({ kind: 'late_answer' }));
  terminal.write('AT+CGSN\r');
  t.equal(await terminal.quietFor(50), '');
  terminal.write('AT+CSQ\r');
  const wanted = `\r\n${modem.imei}\r\n\r\nOK\r\n\r\n+CSQ: 21,99\r\n\r\nOK\r\n`;
  t.equal(await terminal.expect(wanted), wanted);
});

t.test('late_answer: or when its time is over', async (t) => {
  const { modem, terminal } = await startModem(t);
  modem.play(parseFault({ kind: 'late_answer', ms: 60 }));
  const start = Date.now();
  t.match(await terminal.command('AT+CGSN'), modem.imei);
  t.ok(Date.now() - start >= 40);
  t.equal(await terminal.command('AT'), '\r\nOK\r\n');
});

t.test('late_answer: the result of a message, after its prompt', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  modem.play(parseFault({ kind: 'late_answer' }));
  terminal.write('AT+CMGS=24\r');
  await terminal.expect('> ');
  terminal.write(`${SUBMIT}\u001a`);
  await until('it is out', () => [...rack.carrier.heard()].length === 1);
  t.equal(await terminal.quietFor(50), '');
  t.equal(await terminal.command('AT'), '\r\n+CMGS: 0\r\n\r\nOK\r\n');
  await terminal.expect('\r\nOK\r\n');
});

t.test('echo: it comes back by itself, and goes', async (t) => {
  const { modem, terminal } = await startModem(t);
  modem.play(parseFault({ kind: 'echo', to: 'on' }));
  t.equal(await terminal.command('AT'), 'AT\r\r\nOK\r\n');
  modem.play(parseFault({ kind: 'echo', to: 'off' }));
  t.equal(await terminal.command('AT'), '\r\nOK\r\n');
});

t.test('error_after_prompt: the rest of the PDU is noise in front of the next command', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  modem.play(parseFault({ kind: 'error_after_prompt', code: 41, after_characters: 20 }));
  terminal.write('AT+CMGS=24\r');
  await terminal.expect('\r\n> ');
  terminal.write(`${SUBMIT}\u001a`);
  await terminal.expect('\r\n+CMS ERROR: 41\r\n');
  t.equal(await terminal.quietFor(30), '', 'the rest gets no answer');
  t.equal(await terminal.command('AT'), '\r\nOK\r\n');
  t.same([...rack.carrier.heard()], []);
  t.match(await terminal.message('AT+CMGS=24', SUBMIT), /\+CMGS: 0/);
});

t.test('glued_urcs: two lines with one line end, or nothing, between them', async (t) => {
  for (const [apart_by, between] of [
    ['line_end', '\r\n'],
    ['nothing', ''],
  ]) {
    const { rack, modem, terminal } = await startModem(t);
    modem.play(parseFault({ kind: 'glued_urcs', apart_by }));
    rack.carrier.send(HELLO);
    t.equal(await terminal.quietFor(30), '');
    rack.carrier.send(HELLO);
    const wanted = `\r\n+CMTI: "SM",1${between}+CMTI: "SM",2\r\n`;
    t.equal(await terminal.expect(wanted), wanted);
    rack.carrier.send(HELLO);
    t.equal(await terminal.expect('\r\n+CMTI: "SM",3\r\n'), '\r\n+CMTI: "SM",3\r\n');
  }
});

t.test('glued_urcs: a line that stays alone comes all the same', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  modem.play(parseFault({ kind: 'glued_urcs' }));
  rack.carrier.send(HELLO);
  await terminal.expect('\r\n+CMTI: "SM",1\r\n');
});

t.test('urc_port: announcements come on the other port, or on none', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  const other = await quietTerminal(t, modem.portPaths.at2);
  modem.play(parseFault({ kind: 'urc_port', port: 'at2' }));
  rack.carrier.send(HELLO);
  await other.expect('+CMTI: "SM",1');
  t.equal(await terminal.quietFor(30), '');
  modem.play(parseFault({ kind: 'urc_port', port: 'none' }));
  rack.carrier.send(HELLO);
  t.equal(await terminal.quietFor(30), '');
  modem.clearFaults();
  rack.carrier.send(HELLO);
  await terminal.expect('+CMTI: "SM",3');
});

t.test('not_reading: the port fills up, and what is in it is read when the fault ends', async (t) => {
  const { modem, terminal } = await startModem(t);
  modem.play(parseFault({ kind: 'not_reading' }));
  let written = 0;
  let refusal = '';
  while (written < 100_000 && refusal === '') {
    try {
      terminal.write('AT\r');
      written += 1;
    } catch (error) {
      refusal = String((error as NodeJS.ErrnoException).code);
    }
  }
  t.equal(refusal, 'EAGAIN', 'a client that writes without waiting for room would block');
  t.equal(await terminal.quietFor(30), '');
  modem.clearFaults();
  for (let answered = 0; answered < 100; answered++) await terminal.expect('\r\nOK\r\n');
  // A modem that is plugged in again does not read either, as long as the fault lasts.
  modem.play(parseFault({ kind: 'not_reading' }));
  modem.power.unplug();
  modem.power.plugIn();
  const again = new Terminal(modem.portPaths.at);
  t.teardown(() => again.close());
  again.write('AT\r');
  t.equal((await again.quietFor(50)).includes('OK'), false);
  modem.clearFaults();
  await again.expect('OK');
});
