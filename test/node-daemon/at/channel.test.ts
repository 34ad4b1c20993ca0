// The channel over a scripted port: order, bounds, time-outs and finding the rhythm again.
import t from 'tap';
import {
  AtTimeoutError,
  CmeError,
  CmsError,
  PortClosedError,
  QueueFullError,
} from '#node-daemon/at/at-error.ts';
import { AtChannel, PROMPT_TIMEOUT_MS, QUEUE_LENGTH_MAX, RESYNC_QUIET_MS } from '#node-daemon/at/channel.ts';
import { atCommand, atQuery } from '#node-daemon/at/command.ts';
import type { Urc } from '#node-daemon/at/urc.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/manual-clock.ts';
import { lines, ScriptedPort } from '../../fixtures/scripted-port.ts';
import { until } from '../../fixtures/until.ts';

function setUp() {
  const port = new ScriptedPort();
  const clock = new ManualClock(0);
  const channel = new AtChannel(port, clock, silentLogger);
  const urcs: Urc[] = [];
  channel.onUrc((urc) => urcs.push(urc));
  return { port, clock, channel, urcs };
}

const csq = atQuery('AT+CSQ', '+CSQ:');
const submit = atQuery('AT+CMGS=15', '+CMGS:', { body: '0011', timeoutMs: 60_000 });

t.test('an answer comes back and a URC in its middle goes to the handlers', async (t) => {
  const { port, channel, urcs } = setUp();
  port.on(/^AT\+CSQ$/, lines('+CMTI: "SM",1', '+CSQ: 21,99', '+CREG: 1', 'OK'));
  t.same(await channel.send(csq), [{ line: '+CSQ: 21,99' }]);
  t.same(urcs, [{ line: '+CMTI: "SM",1' }, { line: '+CREG: 1' }]);
});

t.test('a +CDS whose PDU follows is one URC, also in the middle of an answer', async (t) => {
  const { port, channel, urcs } = setUp();
  port.on(/^AT\+CMGR=1$/, lines('+CDS: 25', '0791AA', '+CMGR: 0,,9', '0791BB', 'OK'));
  const answer = await channel.send(atCommand('AT+CMGR=1', { answer: /^\+CMGR:/, answerHasBody: true }));
  t.same(answer, [{ line: '+CMGR: 0,,9', body: '0791BB' }]);
  t.same(urcs, [{ line: '+CDS: 25', body: '0791AA' }]);
});

t.test('error answers are rejected with their class and code', async (t) => {
  const { port, channel } = setUp();
  port.on(/^AT\+A$/, lines('+CME ERROR: 10')).on(/^AT\+B$/, lines('+CMS ERROR: 321'));
  t.match(await channel.send(atCommand('AT+A')).catch((e) => e), { code: 10, constructor: CmeError });
  t.match(await channel.send(atCommand('AT+B')).catch((e) => e), { code: 321, constructor: CmsError });
  t.match(await channel.send(atCommand('AT+C')).catch((e) => e), { name: 'AtError' });
});

t.test('one command at a time, urgent ones first, each in its order', async (t) => {
  const { port, channel } = setUp();
  port.on(/^AT/, lines('OK'));
  await Promise.all([
    channel.send(atCommand('AT+1')),
    channel.send(atCommand('AT+4'), 'background'),
    channel.send(atCommand('AT+3')),
    channel.send(atCommand('AT+2'), 'urgent'),
  ]);
  t.same(port.received, ['AT+1', 'AT+2', 'AT+3', 'AT+4']);
});

t.test('the queue has a bound', async (t) => {
  const { port, channel } = setUp();
  port.on(/^AT/, () => undefined);
  const sent = Array.from({ length: QUEUE_LENGTH_MAX + 2 }, () => channel.send(atCommand('AT+X')));
  const last = await sent.at(-1)?.catch((error) => error);
  t.ok(last instanceof QueueFullError);
  port.hangUp();
  const outcomes = await Promise.allSettled(sent);
  t.ok(outcomes.every(({ status }) => status === 'rejected'));
});

t.test('a body is given at the prompt', async (t) => {
  const { port, channel } = setUp();
  port.on(/^AT\+CMGS=15$/, '\r\n> ').on(/^0011$/, lines('+CMGS: 7', 'OK'));
  t.same(await channel.send(submit), [{ line: '+CMGS: 7' }]);
});

t.test('a lost prompt is left with ESC and AT before the next command', async (t) => {
  const { port, clock, channel } = setUp();
  port.on(/^AT/, lines('OK')).on(/^AT\+CMGS=15$/, () => undefined);
  port.on(/^AT\+CSQ$/, lines('+CSQ: 1,99', 'OK'));
  const lost = channel.send(submit).catch((error) => error);
  const next = channel.send(csq);
  clock.advance(PROMPT_TIMEOUT_MS);
  const error = await lost;
  t.ok(error instanceof AtTimeoutError);
  t.equal(error.bodyGiven, false);
  await until('a sign of life', () => port.received.includes('AT'));
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(RESYNC_QUIET_MS);
  t.same(await next, [{ line: '+CSQ: 1,99' }]);
  t.same(port.received, ['AT+CMGS=15', '<ESC>', 'AT', 'AT+CSQ']);
});

t.test('the late answer of a command is not taken for the next one', async (t) => {
  const { port, clock, channel, urcs } = setUp();
  port.on(/^AT\+OLD$/, () => undefined);
  // The modem is still at the old command: its answer comes first, then that of AT.
  port.on(/^AT$/, lines('OLD ANSWER', 'OK', 'OK'));
  port.on(/^AT\+NEW$/, lines('+CME ERROR: 3'));
  const old = channel.send(atCommand('AT+OLD', { timeoutMs: 1_000 })).catch((error) => error);
  const next = channel.send(atCommand('AT+NEW')).catch((error) => error);
  clock.advance(1_000);
  t.ok((await old) instanceof AtTimeoutError);
  await until('the late answer', () => urcs.some(({ line }) => line === 'OK'));
  t.equal(port.count(/^AT\+NEW$/), 0, 'not before the line is quiet');
  clock.advance(RESYNC_QUIET_MS);
  t.match(await next, { code: 3 });
});

t.test('a modem that gives no sign of life is closed', async (t) => {
  const { port, clock, channel } = setUp();
  port.on(/^AT/, () => undefined);
  const first = channel.send(csq).catch((error) => error);
  const second = channel.send(csq).catch((error) => error);
  const closed = new Promise((resolve) => channel.onClose(resolve));
  const advancing = setInterval(() => clock.advance(1_000), 1);
  t.teardown(() => clearInterval(advancing));
  t.ok((await first) instanceof AtTimeoutError);
  t.ok((await second) instanceof PortClosedError);
  t.ok((await closed) instanceof PortClosedError);
  t.ok(port.closed);
});

t.test('a port that goes away says whether the body was given', async (t) => {
  for (const given of [false, true]) {
    const { port, channel } = setUp();
    port.on(/^AT\+CMGS=15$/, given ? '\r\n> ' : () => undefined).on(/^0011$/, () => undefined);
    const lost = channel.send(submit).catch((error) => error);
    await until('the command', () => port.received.includes(given ? '0011' : 'AT+CMGS=15'));
    port.hangUp();
    const error = await lost;
    t.ok(error instanceof PortClosedError);
    t.equal(error.bodyGiven, given);
    t.ok((await channel.send(csq).catch((e) => e)) instanceof PortClosedError);
  }
});

t.test('a prompt that comes while nothing is asked is left', async (t) => {
  const { port } = setUp();
  port.say('\r\n> ');
  await new Promise((resolve) => setImmediate(resolve));
  t.same(port.received, ['<ESC>']);
});

t.test('a handler that fails, or adds and commands, disturbs no other', async (t) => {
  const { port, channel, urcs } = setUp();
  port.on(/^AT/, lines('OK'));
  const second: string[] = [];
  const asked: Promise<unknown>[] = [];
  channel.onUrc(({ line }) => {
    asked.push(channel.send(atCommand('AT+FROM-HANDLER')));
    channel.onUrc((urc) => second.push(`${line}:${urc.line}`));
    throw new Error('a bug');
  });
  port.say(lines('A', 'B'));
  await Promise.all(asked);
  t.same(
    urcs.map(({ line }) => line),
    ['A', 'B'],
  );
  t.same(second, ['A:B']);
});

t.test('waking leaves an old prompt first and fails when nothing answers', async (t) => {
  const { port, clock, channel } = setUp();
  port.on(/^AT$/, lines('OK'));
  const waking = channel.wake(3, 1_000);
  await until('a sign of life', () => port.received.includes('AT'));
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(RESYNC_QUIET_MS);
  await waking;
  t.same(port.received, ['<ESC>', 'AT']);
});
