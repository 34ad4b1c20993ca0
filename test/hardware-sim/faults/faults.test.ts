// Every fault as a client at the terminal sees it.
import { existsSync } from 'node:fs';
import t from 'tap';
import { FaultError, parseFault } from '#hardware-sim/faults/fault-set.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { until } from '../../fixtures/until.ts';
import { quietTerminal, startModem } from '../fixtures/rack.ts';

const SUBMIT = '018131000B915155001032F40000000BC8329BFD06DDDF723619';
const HELLO = { from: '+15550000012', to: '+12065550100', body: 'Hi' };

t.test('silent: nothing is answered, messages wait, and then all goes on', async (t) => {
  const clock = new ManualClock();
  const { rack, modem, terminal } = await startModem(t, { clock });
  modem.play(parseFault({ kind: 'silent', duration_ms: 150 }));
  t.equal(modem.state, 'silent');
  terminal.write('AT\r');
  rack.carrier.send(HELLO);
  t.equal(await terminal.quietFor(80), '');
  clock.advance(150);
  await terminal.expect('\r\n+CMTI: "SM",1\r\n');
  t.equal(await terminal.command('AT'), '\r\nOK\r\n');
});

t.test('unplug: the port hangs up, the links go, and the modem comes back under another name', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  const paths = modem.portPaths;
  await terminal.command('AT+CNMI=2,0,0,0,0');
  modem.play(parseFault({ kind: 'unplug', as: 'late' }));
  await terminal.expectHangUp();
  t.equal(existsSync(paths.at) || existsSync(paths.at2) || existsSync(paths.pcm), false);
  rack.carrier.send(HELLO);
  modem.clearFaults();
  t.equal(existsSync(paths.at), false);
  const again = await quietTerminal(t, modem.portPaths.at);
  t.match(modem.portPaths.at, /late-at$/);
  t.match(await again.command('AT+CNMI?'), /\+CNMI: 2,1,0,0,0/, 'settings are volatile');
  t.match(await again.command('AT+CPMS?'), /"SM",1,50/, 'the message came as soon as the modem was back');
});

t.test('unplug: comes back by itself on the same link', async (t) => {
  const { modem, terminal } = await startModem(t);
  const back = new Promise<void>((resolve) => {
    const check = setInterval(() => {
      if (modem.state !== 'registered') return;
      clearInterval(check);
      resolve();
    }, 5);
  });
  modem.play(parseFault({ kind: 'unplug', back_after_ms: 50 }));
  t.equal(modem.state, 'unplugged');
  await terminal.expectHangUp();
  await back;
  t.equal(await (await quietTerminal(t, modem.portPaths.at)).command('AT'), '\r\nOK\r\n');
  t.same(modem.faults.list(), []);
});

t.test('unplug: refuses the name of another modem', async (t) => {
  const { modem } = await startModem(t);
  t.throws(() => modem.play(parseFault({ kind: 'unplug', as: 'm1' })), FaultError);
  t.equal(modem.state, 'registered');
});

t.test('reset: the boot lines come and settings are the defaults', async (t) => {
  const { modem, terminal } = await startModem(t);
  await terminal.command('AT+CMGF=1;+CPMS="ME","ME","ME"');
  modem.play(parseFault({ kind: 'reset' }));
  await terminal.expect('\r\nRDY\r\n');
  await terminal.expect('\r\n+CPIN: READY\r\n');
  t.match(await terminal.command('AT+CMGF?;+CPMS?'), /AT\+CMGF\?;\+CPMS\?\r\r\n\+CMGF: 0\r\n.*"SM",.*"SM",/s);
});

t.test('cms_error: sending fails as often as set, then works', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  modem.play(parseFault({ kind: 'cms_error', code: 38, count: 2 }));
  t.match(await terminal.message('AT+CMGS=24', SUBMIT), /\+CMS ERROR: 38/);
  t.match(modem.faults.list(), [{ kind: 'cms_error', count: 1 }]);
  t.match(await terminal.message('AT+CMGS=24', SUBMIT), /\+CMS ERROR: 38/);
  t.match(await terminal.message('AT+CMGS=24', SUBMIT), /\+CMGS: 0/);
  t.equal([...rack.carrier.heard()].length, 1);
});

t.test('cms_error and cme_error hit the command that they name', async (t) => {
  const { modem, terminal } = await startModem(t);
  await terminal.command('AT+CMEE=1');
  modem.play(parseFault({ kind: 'cms_error', code: 500, command: '+CMGL' }));
  modem.play(parseFault({ kind: 'cme_error', code: 14, command: '+CPIN' }));
  t.match(await terminal.command('AT+CSQ'), /OK/);
  t.match(await terminal.command('AT+CMGL=4'), /\+CMS ERROR: 500/);
  t.match(await terminal.command('AT+CPIN?'), /\+CME ERROR: 14/);
  t.match(await terminal.command('AT+CPIN?;+CMGL=4'), /READY.*OK/s);
});

t.test('slow_answer and send_delay take their time', async (t) => {
  const { modem, terminal } = await startModem(t);
  modem.play(parseFault({ kind: 'slow_answer', ms: 100 }));
  let start = Date.now();
  await terminal.command('AT+CSQ');
  t.ok(Date.now() - start >= 80);
  modem.play(parseFault({ kind: 'send_delay', ms: 100 }));
  start = Date.now();
  await terminal.message('AT+CMGS=24', SUBMIT);
  t.ok(Date.now() - start >= 80);
});

t.test('lose_prompt: the modem is stuck until an escape', async (t) => {
  const { modem, terminal } = await startModem(t);
  modem.play(parseFault({ kind: 'lose_prompt' }));
  terminal.write('AT+CMGS=24\r');
  terminal.write('AT\r');
  t.equal((await terminal.quietFor(50)).includes('>'), false);
  terminal.write('\u001b');
  await terminal.expect('\r\nOK\r\n');
  t.match(await terminal.message('AT+CMGS=24', SUBMIT), /\+CMGS: 0/);
});

t.test('lose_result: the message is out and no result says so', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  modem.play(parseFault({ kind: 'lose_result' }));
  terminal.write('AT+CMGS=24\r');
  await terminal.expect('> ');
  terminal.write(`${SUBMIT}\u001a`);
  await until('it is out', () => [...rack.carrier.heard()].length === 1);
  t.equal(await terminal.quietFor(50), '');
  t.equal(await terminal.command('AT'), '\r\nOK\r\n');
});

t.test('urc_lost: the message is there and was never announced', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  modem.play(parseFault({ kind: 'urc_lost' }));
  rack.carrier.send(HELLO);
  t.equal(await terminal.quietFor(50), '');
  t.match(await terminal.command('AT+CMGL=4'), /\+CMGL: 1,/);
  rack.carrier.send(HELLO);
  await terminal.expect('+CMTI: "SM",2');
});

t.test('garbage and urc_mid_answer come where they hurt', async (t) => {
  const { modem, terminal } = await startModem(t);
  modem.play(parseFault({ kind: 'garbage', hex: '00ff410d' }));
  t.equal(await terminal.command('AT'), '\u0000\u00ffA\r\r\nOK\r\n');
  modem.play(parseFault({ kind: 'urc_mid_answer', line: 'RING' }));
  t.match(
    await terminal.command('ATI'),
    /^\r\nQuectel\r\n\r\nRING\r\n\r\nEC25\r\nRevision: \S+\r\n\r\nOK\r\n$/,
  );
});

t.test('delete_fails: refused, or confirmed and not done', async (t) => {
  const { rack, modem, terminal } = await startModem(t);
  rack.carrier.send(HELLO);
  await terminal.expect('+CMTI');
  modem.play(parseFault({ kind: 'delete_fails' }));
  t.match(await terminal.command('AT+CMGD=1'), /\+CMS ERROR: 500/);
  modem.play(parseFault({ kind: 'delete_fails', answer: 'ok' }));
  t.match(await terminal.command('AT+CMGD=1'), /OK/);
  t.equal(modem.stores.used('SM'), 1);
  await terminal.command('AT+CMGD=1');
  t.equal(modem.stores.used('SM'), 0);
});

t.test('store_full and not_registered keep messages at the carrier', async (t) => {
  for (const kind of ['store_full', 'not_registered', 'denied']) {
    const { rack, modem, terminal } = await startModem(t);
    modem.play(parseFault({ kind }));
    rack.carrier.send(HELLO);
    t.equal(rack.carrier.waitingCount(modem.identity.iccid), 1, kind);
    if (kind !== 'store_full') t.match(await terminal.message('AT+CMGS=24', SUBMIT), /\+CMS ERROR: 331/);
    modem.clearFaults();
    await terminal.expect('+CMTI: "SM",1');
    t.equal(rack.carrier.waitingCount(modem.identity.iccid), 0);
  }
});

t.test('status_report: another status, none, or twice', async (t) => {
  const { modem, terminal } = await startModem(t);
  await terminal.command('AT+CNMI=2,1,0,1,0');
  modem.play(parseFault({ kind: 'status_report', tp_status: 0x46 }));
  await terminal.message('AT+CMGS=24', SUBMIT);
  await terminal.expect(/\+CDS: 25\r\n[0-9A-F]+46\r\n/);
  modem.play(parseFault({ kind: 'status_report', duplicated: true }));
  await terminal.message('AT+CMGS=24', SUBMIT);
  await terminal.expect(/\+CDS: 25\r\n[0-9A-F]+00\r\n\r\n\+CDS: 25\r\n[0-9A-F]+00\r\n/);
  modem.play(parseFault({ kind: 'status_report', withheld: true }));
  await terminal.message('AT+CMGS=24', SUBMIT);
  t.equal(await terminal.quietFor(50), '');
});

t.test('bad descriptions are refused and say what is allowed', async (t) => {
  const bad: [value: unknown, message: RegExp][] = [
    [null, /kind must be one of silent, stuck, unplug/],
    [{}, /kind must be one of/],
    [{ kind: 'toString' }, /kind must be one of/],
    [{ kind: 'silent', duration_ms: 0 }, /duration_ms.*Fields of silent: kind, duration_ms/],
    [{ kind: 'silent', duration: 5 }, /duration.*Fields of silent/],
    [{ kind: 'cms_error' }, /code/],
    [{ kind: 'cms_error', code: '38' }, /code/],
    [{ kind: 'lose_result', count: 1.5 }, /count/],
    [{ kind: 'garbage', hex: 'abc' }, /hex/],
    [{ kind: 'urc_mid_answer', line: 'a\r\nOK' }, /line/],
    [{ kind: 'unplug', as: '../x' }, /as/],
  ];
  for (const [value, message] of bad) {
    t.throws(() => parseFault(value), { name: 'FaultError', message }, JSON.stringify(value));
  }
});

t.test('tests can watch commands and override answers', async (t) => {
  const { modem, terminal } = await startModem(t);
  const seen = modem.expectCommand(/\+CSQ/, { timeoutMs: 10_000 });
  modem.define({
    name: 'weak signal',
    answer: (command) => (command.name === '+CSQ' ? { kind: 'ok', lines: ['+CSQ: 1,99'] } : undefined),
  });
  t.match(await terminal.command('AT+CSQ'), /\+CSQ: 1,99/);
  t.equal(await seen, 'AT+CSQ');
  t.same(modem.commandLines, ['ATE0', 'AT+CSQ']);
  modem.clearCommandLines();
  await t.rejects(modem.expectCommand('AT+CSQ', { timeoutMs: 20 }), /no command AT\+CSQ within 20 ms/);
});
