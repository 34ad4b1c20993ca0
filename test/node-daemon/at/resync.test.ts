// Resynchronization after it is unclear to which command the next answer belongs.
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { AtTimeoutError } from '#node-daemon/at/at-error.ts';
import { PROMPT_TIMEOUT_MS } from '#node-daemon/at/channel.ts';
import { atCommand } from '#node-daemon/at/command.ts';
import { RESYNC_QUIET_MS } from '#node-daemon/at/resync.ts';
import { lines } from '../../fixtures/nodes/scripted-port.ts';
import { until } from '../../fixtures/until.ts';
import { csq, failure, setUp, submit } from './channel-rig.ts';

t.test('a lost prompt is left with ESC before the next command', async (t) => {
  const { port, clock, channel } = setUp();
  port.on(/^AT\+CMGS=15$/, () => undefined).on(/^AT\+CSQ$/, lines('+CSQ: 1,99', 'OK'));
  const lost = failure(channel.send(submit));
  const next = channel.send(csq);
  clock.advance(PROMPT_TIMEOUT_MS);
  t.match(await lost, { constructor: AtTimeoutError, bodyGiven: false });
  t.same(await next, [{ line: '+CSQ: 1,99' }]);
  t.same(port.received, ['AT+CMGS=15', '<ESC>', 'AT', 'AT+CMEE?', 'AT+CSQ']);
});

t.test('however late an answer comes, it is not taken for that of the next command', async (t) => {
  // The modem answers in order, each time later than the clock allows: first the old command, then the others.
  for (const slowness of [0, 1, 2]) {
    const { port, clock, channel } = setUp();
    port.on(/^AT\+OLD$/, () => undefined);
    port.on(/^AT$/, slowness === 0 ? lines('OK', 'OK') : lines('OK'));
    port.on(/^AT\+CMEE\?$/, lines(...Array(slowness).fill('OK'), '+CMEE: 1', 'OK'));
    port.on(/^AT\+NEW$/, lines('+CME ERROR: 3'));
    const old = failure(channel.send(atCommand('AT+OLD', { timeoutMs: 1_000 })));
    const next = failure(channel.send(atCommand('AT+NEW')));
    clock.advance(1_000);
    t.ok((await old) instanceof AtTimeoutError);
    t.match(await next, { code: 3 }, `${slowness} late answers`);
  }
});

t.test('without proof of the end, the line must be quiet', async (t) => {
  const { port, clock, channel, urcs } = setUp();
  port.on(/^AT\+OLD$/, () => undefined);
  port.on(/^AT\+CMEE\?$/, lines('ERROR'));
  port.on(/^AT\+NEW$/, lines('+CME ERROR: 3'));
  const old = failure(channel.send(atCommand('AT+OLD', { timeoutMs: 1_000 })));
  const next = failure(channel.send(atCommand('AT+NEW')));
  clock.advance(1_000);
  await old;
  await until('the marker', () => port.received.includes('AT+CMEE?'));
  await turn();
  port.say(lines('OK'));
  clock.advance(RESYNC_QUIET_MS - 1);
  await turn();
  t.equal(port.count(/^AT\+NEW$/), 0, 'not before the line is quiet');
  t.same(urcs, [{ line: 'OK' }]);
  clock.advance(RESYNC_QUIET_MS);
  t.match(await next, { code: 3 });
});

t.test('the late answer of a command is a URC', async (t) => {
  const { port, clock, channel, urcs } = setUp();
  port.on(/^AT\+CMGS=15$/, '\r\n> ').on(/^0011$/, () => undefined);
  port.on(/^AT$/, lines('+CMGS: 42', 'OK', 'OK'));
  const sent = failure(channel.send(submit));
  await until('the body', () => port.received.includes('0011'));
  clock.advance(submit.timeoutMs);
  t.match(await sent, { constructor: AtTimeoutError, bodyGiven: true });
  await until('the late answer', () => urcs.some(({ line }) => line === '+CMGS: 42'));
});

t.test('the late answer is a URC also while the next message is being sent', async (t) => {
  const { port, channel, urcs } = setUp();
  port.on(/^AT\+CMGS=15$/, '\r\n> ').on(/^0011$/, lines('+CMGS: 42', '+CMGS: 43', 'OK'));
  t.same(await channel.send(submit), [{ line: '+CMGS: 43' }]);
  t.same(urcs, [{ line: '+CMGS: 42' }]);
});

t.test('a prompt that comes while nothing is asked is left before the next command', async (t) => {
  const { port, channel } = setUp();
  port.on(/^AT\+CSQ$/, lines('+CSQ: 1,99', 'OK'));
  port.say('\r\n> ');
  t.same(await channel.send(csq), [{ line: '+CSQ: 1,99' }]);
  t.same(port.received, ['<ESC>', 'AT', 'AT+CMEE?', 'AT+CSQ']);
});

t.test(
  'a late prompt that swallows a command ends it as failed, whatever ESC is answered with',
  async (t) => {
    const { port, channel } = setUp();
    // The prompt of a message that was given up comes now; the OK is the answer to ESC.
    port.on(/^AT\+CMGD=3$/, '\r\n> ').on(/^AT\+CSQ$/, lines('+CSQ: 1,99', 'OK'));
    const deletion = failure(channel.send(atCommand('AT+CMGD=3')));
    t.match(await deletion, { name: 'AtError', bodyGiven: false });
    t.same(await channel.send(csq), [{ line: '+CSQ: 1,99' }]);
  },
);

t.test('an error while the body is on its way: its rest answers nothing', async (t) => {
  const { port, channel } = setUp();
  port.on(/^AT\+CMGS=15$/, '\r\n> ').on(/^0011$/, lines('+CMS ERROR: 304', 'ERROR'));
  port.on(/^AT\+CSQ$/, lines('+CSQ: 1,99', 'OK'));
  const sent = failure(channel.send(submit));
  const next = channel.send(csq);
  t.match(await sent, { code: 304, bodyGiven: true });
  t.same(await next, [{ line: '+CSQ: 1,99' }]);
});

t.test('waking leaves an old prompt first, and helps where result codes are off or numbers', async (t) => {
  const { port, clock, channel } = setUp();
  let verbose = false;
  port.on(/^AT$/, () => (verbose ? lines('OK') : '0\r'));
  port.on(/^ATQ0V1$/, () => {
    verbose = true;
    return lines('OK');
  });
  const waking = channel.wake(3, 1_000);
  await until('a sign of life', () => port.received.includes('AT'));
  await turn();
  clock.advance(1_000);
  await waking;
  t.same(port.received, ['<ESC>', 'AT', 'ATQ0V1', 'AT+CMEE?']);
});

t.test('waking fails when nothing answers', async (t) => {
  const { port, clock, channel } = setUp();
  port.on(/^AT/, () => undefined);
  const waking = failure(channel.wake(3, 1_000));
  for (const count of [1, 2, 3]) {
    await until('a try', () => port.received.length > count);
    clock.advance(1_000);
  }
  t.ok((await waking) instanceof AtTimeoutError);
});
