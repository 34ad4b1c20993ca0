// The channel over a scripted port: order, bounds, time-outs, and what each command gets as its answer.
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import {
  AtTimeoutError,
  CallFailedError,
  CmeError,
  CmsError,
  PortClosedError,
  QueueFullError,
} from '#node-daemon/at/at-error.ts';
import { HURRY_TIMEOUT_MS, PROMPT_TIMEOUT_MS } from '#node-daemon/at/channel.ts';
import { atCommand } from '#node-daemon/at/command.ts';
import type { CommandEnd } from '#node-daemon/at/command-end.ts';
import { QUEUE_LENGTH_MAX } from '#node-daemon/at/command-queue.ts';
import { lines } from '../../fixtures/nodes/scripted-port.ts';
import { until } from '../../fixtures/until.ts';
import { csq, failure, setUp, submit } from './channel-rig.ts';

const read = atCommand('AT+CMGR=1', { answer: /^\+CMGR:/, bodyAfter: /^\+CMGR:/ });

t.test('an answer comes back and a URC in its middle goes to the handlers', async (t) => {
  const { port, channel, urcs } = setUp();
  port.on(/^AT\+CSQ$/, lines('+CMTI: "SM",1', '+CSQ: 21,99', '+CREG: 1', 'OK'));
  t.same(await channel.send(csq), [{ line: '+CSQ: 21,99' }]);
  t.same(urcs, [{ line: '+CMTI: "SM",1' }, { line: '+CREG: 1' }]);
});

t.test('a +CDS whose PDU follows is one URC, also in the middle of an answer', async (t) => {
  const { port, channel, urcs } = setUp();
  port.on(/^AT\+CMGR=1$/, lines('+CDS: 2', '0791AA', '+CMGR: 0,,9', '0791BB', 'OK'));
  t.same(await channel.send(read), [{ line: '+CMGR: 0,,9', body: '0791BB' }]);
  t.same(urcs, [{ line: '+CDS: 2', body: '0791AA' }]);
});

t.test('a +CDS whose PDU was lost takes no line of the answer', async (t) => {
  const { port, channel, urcs } = setUp();
  port.on(/^AT\+CMGR=1$/, lines('+CDS: 25', '+CMGR: 0,,9', '0791BB', 'OK'));
  t.same(await channel.send(read), [{ line: '+CMGR: 0,,9', body: '0791BB' }]);
  t.same(urcs, [{ line: '+CDS: 25' }]);
  port.on(/^AT\+CGSN$/, lines('+CDS: 25', '350000000000017', 'OK'));
  const imei = await channel.send(atCommand('AT+CGSN', { answer: /^\d{15}$/ }));
  t.same(imei, [{ line: '350000000000017' }], 'digits are no PDU of 25 octets');
});

t.test('error answers are rejected with their class and code', async (t) => {
  const { port, channel } = setUp();
  port.on(/^AT\+A$/, lines('+CME ERROR: 10')).on(/^AT\+B$/, lines('+CMS ERROR: 321'));
  port.on(/^ATD/, lines('NO CARRIER'));
  t.match(await failure(channel.send(atCommand('AT+A'))), { code: 10, constructor: CmeError });
  t.match(await failure(channel.send(atCommand('AT+B'))), { code: 321, constructor: CmsError });
  t.match(await failure(channel.send(atCommand('AT+C'))), { name: 'AtError' });
  const call = atCommand('ATD+12065550100;', { endsLikeCall: true });
  t.match(await failure(channel.send(call)), { result: 'NO CARRIER', constructor: CallFailedError });
});

t.test('a secret is in no error', async (t) => {
  const { port, channel } = setUp();
  port.on(/^AT\+CPIN="/, lines('+CME ERROR: 16'));
  const error = await failure(channel.send(atCommand('AT+CPIN="4711"', { shownAs: 'AT+CPIN=…' })));
  t.notMatch(String(error), /4711/);
  t.match(String(error), /AT\+CPIN=….*16/);
  t.ok(port.received.includes('AT+CPIN="4711"'));
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

t.test('the queue has a bound for each priority', async (t) => {
  const { port, channel } = setUp();
  port.on(/^AT\+X/, () => undefined);
  const sent = Array.from({ length: QUEUE_LENGTH_MAX + 2 }, () => channel.send(atCommand('AT+X')));
  t.ok((await failure(sent.at(-1) ?? Promise.resolve())) instanceof QueueFullError);
  const urgent = channel.send(atCommand('AT+X'), 'urgent');
  port.hangUp();
  const outcomes = await Promise.allSettled([...sent, urgent]);
  const refusals = outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.name);
  t.equal(refusals.filter((name) => name === 'QueueFullError').length, 1);
  t.equal(refusals.filter((name) => name === 'PortClosedError').length, QUEUE_LENGTH_MAX + 2);
});

t.test('a body is given at the prompt', async (t) => {
  const { port, channel } = setUp();
  port.on(/^AT\+CMGS=15$/, '\r\n> ').on(/^0011$/, lines('+CMGS: 7', 'OK'));
  t.same(await channel.send(submit), [{ line: '+CMGS: 7' }]);
});

t.test('an OK without the answer that belongs to it ends the command, and the line is proved', async (t) => {
  const { port, clock, channel } = setUp();
  port.on(/^AT\+CSQ$/, lines('OK'));
  const mute = channel.send(csq);
  await until('the command', () => port.received.includes('AT+CSQ'));
  await turn();
  clock.advance(HURRY_TIMEOUT_MS);
  t.same(await mute, []);
  port.on(/^AT\+NEXT$/, lines('OK'));
  await channel.send(atCommand('AT+NEXT'));
  t.same(port.received, ['AT+CSQ', 'AT', 'AT+CMEE?', 'AT+NEXT']);
});

t.test('a modem that gives no sign of life is closed', async (t) => {
  const { port, clock, channel } = setUp();
  port.on(/^AT/, () => undefined);
  const first = failure(channel.send(csq));
  const second = failure(channel.send(csq));
  const closed = new Promise((resolve) => channel.onClose(resolve));
  const advancing = setInterval(() => clock.advance(1_000), 1);
  t.teardown(() => clearInterval(advancing));
  const error = await first;
  t.ok(error instanceof AtTimeoutError);
  t.ok((await second) instanceof PortClosedError);
  t.match(await closed, { name: 'PortClosedError', cause: { name: 'AtTimeoutError' } });
  t.ok(port.closed);
});

t.test('a port that goes away says whether the body was given', async (t) => {
  for (const given of [false, true]) {
    const { port, channel } = setUp();
    port.on(/^AT\+CMGS=15$/, given ? '\r\n> ' : () => undefined).on(/^0011$/, () => undefined);
    const lost = failure(channel.send(submit));
    await until('the command', () => port.received.includes(given ? '0011' : 'AT+CMGS=15'));
    port.hangUp();
    const error = await lost;
    t.ok(error instanceof PortClosedError);
    t.match(error, { bodyGiven: given });
    t.ok((await failure(channel.send(csq))) instanceof PortClosedError);
  }
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

t.test('a prompt that does not come is a time-out of its own', async (t) => {
  const { port, clock, channel } = setUp();
  port.on(/^AT\+CMGS=15$/, () => undefined);
  const lost = failure(channel.send(submit));
  clock.advance(PROMPT_TIMEOUT_MS);
  t.match(await lost, { constructor: AtTimeoutError, bodyGiven: false });
});

t.test(
  'each command that was on the line is reported when it has ended, by name, result and time',
  async (t) => {
    const { port, clock, channel } = setUp();
    const ends: CommandEnd[] = [];
    channel.onCommandEnd((end) => ends.push(end));
    port.on(/^AT\+CSQ$/, lines('+CSQ: 21,99', 'OK')).on(/^AT\+CMGR=1$/, lines('+CMS ERROR: 321'));
    port.on(/^AT\+CFUN=1$/, () => undefined).on(/^ATD/, lines('NO CARRIER'));
    await channel.send(csq);
    await failure(channel.send(read));
    await failure(channel.send(atCommand('ATD+12065550100;', { endsLikeCall: true })));
    const silent = failure(channel.send(atCommand('AT+CFUN=1')));
    await turn();
    clock.advance(15_000);
    await silent;
    await until('the resynchronization', () => port.count(/^AT\+CMEE\?$/) > 0);
    t.same(ends, [
      { name: '+CSQ', result: 'ok', tookMs: 0 },
      { name: '+CMGR', result: 'cms_error', tookMs: 0 },
      { name: 'D', result: 'call_failed', tookMs: 0 },
      { name: '+CFUN', result: 'timeout', tookMs: 15_000 },
    ]);
    const waits = failure(channel.send(atCommand('AT+CFUN=1')));
    await turn();
    port.hangUp();
    await waits;
    t.match(ends[4], { name: '+CFUN', result: 'port_gone' });
  },
);
