// Sending over a scripted port: each message once, in its turn, within its deadline and the limits.
import t from 'tap';
import type { AtChannel } from '#node-daemon/at/channel.ts';
import { OUTBOX_LENGTH_MAX, SmsOutbox } from '#node-daemon/modem/sms/sms-outbox.ts';
import { silentLogger } from '#shared/log.ts';
import { PARAMS, PDU, setUpOutbox } from '../../../fixtures/nodes/scripted-outbox.ts';
import { lines, TEST_ICCID } from '../../../fixtures/nodes/scripted-port.ts';
import { until } from '../../../fixtures/until.ts';

t.test('a message is accepted with its reference, and the outcome is a fact', async (t) => {
  const { modem, start } = await setUpOutbox(t);
  const { journal, send } = await start();
  const at = '2026-11-21T08:00:00.000Z';
  const outcome = { status: 'accepted', message_references: [1], at };
  t.same(await send('c1'), { ok: true, result: outcome });
  t.same([...journal.state.facts.values()], [{ kind: 'sms_outcome', command_id: 'c1', outcome }]);
  t.same(modem.port.received, ['AT+CMGS=16', '0031000B913101550581F80000A702C834']);
});

t.test('the intent is durable before the modem sees the message', async (t) => {
  const { modem, start } = await setUpOutbox(t);
  const { journal, send } = await start();
  let known = false;
  modem.port.on(/^AT\+CMGS/, () => {
    known = journal.state.commands.has('c1');
    return '\r\n> ';
  });
  await send('c1');
  t.ok(known);
});

t.test(
  'a repeated id never reaches the modem again: while it is sent, after it, and after a restart',
  async (t) => {
    const { modem, start } = await setUpOutbox(t);
    const first = await start();
    const [one, two] = await Promise.all([first.send('c1'), first.send('c1')]);
    t.same(one, two);
    t.same(await first.send('c1', { body: 'other' }), one);
    t.equal(modem.port.count(PDU), 1);
    const second = await start();
    t.same(await second.send('c1'), one);
    t.same(await second.send('c1', {}, 0), one, 'also when only the outcome is asked for');
    t.equal(modem.port.count(PDU), 0);
  },
);

t.test('an intent without outcome is unknown after a restart, and is not sent again', async (t) => {
  const { modem, start } = await setUpOutbox(t);
  const first = await start();
  modem.port.on(PDU, () => undefined);
  void first.send('c1');
  await until('the message', () => modem.port.count(PDU) === 1);
  const second = await start();
  t.match(await second.send('c1'), { ok: true, result: { status: 'unknown' } });
  t.match([...second.journal.state.facts.values()], [{ command_id: 'c1', outcome: { status: 'unknown' } }]);
  t.equal(modem.port.count(/./), 0);
});

t.test('long texts go in parts, when they are allowed', async (t) => {
  const { modem, start } = await setUpOutbox(t);
  const { send } = await start();
  const body = 'x'.repeat(161);
  t.match(await send('c1', { body }), { ok: false, code: 'params_invalid' });
  t.match(await send('c2', { body, segments_max: 2 }), { result: { message_references: [1, 2] } });
  t.equal(modem.port.count(PDU), 2);
});

t.test('bad parameters and unknown commands are refused', async (t) => {
  const { modem, start } = await setUpOutbox(t);
  const { handler, send } = await start();
  for (const change of [{ to: '5550001234' }, { body: '' }, { iccid: 'x' }, { segments_max: 0 }]) {
    t.match(await send('c1', change), { ok: false, code: 'params_invalid' }, JSON.stringify(change));
  }
  const unknown = await handler.handle({ id: 'c2', name: 'fly', params: {}, timeLeftMs: 1_000 });
  t.match(unknown, { ok: false, code: 'command_unknown' });
  t.equal(modem.port.received.length, 0);
});

t.test('bind_sim is confirmed for a SIM in service only', async (t) => {
  const { slot, start } = await setUpOutbox(t);
  const bind = async (iccid: string) =>
    (await start()).handler.handle({ id: 'b1', name: 'bind_sim', params: { iccid }, timeLeftMs: 1_000 });
  t.same(await bind(TEST_ICCID), { ok: true, result: {} });
  t.match(await bind('8901000000000000025'), { ok: false, code: 'sim_absent' });
  slot.registered = false;
  t.match(await bind(TEST_ICCID), {
    ok: false,
    code: 'slot_unavailable',
    message: 'The modem is searching for a network.',
  });
});

t.test('a refused command was not tried and may come again', async (t) => {
  const { slot, start } = await setUpOutbox(t);
  const { send } = await start();
  slot.registered = false;
  t.match(await send('c1'), { ok: false, code: 'slot_unavailable' });
  slot.registered = true;
  t.match(await send('c1'), { ok: true, result: { status: 'accepted' } });
  t.match(await send('c2', { iccid: '8901000000000000025' }), { ok: false, code: 'sim_absent' });
});

t.test(
  'an unexpected failure of the channel leaves one message unknown and the outbox at work',
  async (t) => {
    const { clock, start } = await setUpOutbox(t);
    const { journal } = await start();
    let calls = 0;
    const channel = {
      onUrc: () => undefined,
      send() {
        calls += 1;
        // An assertion that fails inside behaves so: it throws, and rejects nothing.
        if (calls === 1) throw new TypeError('a mistake of ours');
        return Promise.resolve([{ line: '+CMGS: 4' }]);
      },
    } as unknown as AtChannel;
    const outbox = new SmsOutbox({
      random: Math.random,
      channel,
      journal,
      clock,
      log: silentLogger,
      isRegistered: () => true,
      confirmSim: async () => undefined,
    });
    const give = (commandId: string) =>
      outbox.send({ commandId, params: PARAMS, deadlineAt: Number.POSITIVE_INFINITY });
    const [failed, next] = await Promise.all([give('c1'), give('c2')]);
    t.match(failed, { status: 'unknown', message: 'a mistake of ours' });
    t.match(next, { status: 'accepted', message_references: [4] });
  },
);

t.test('a deadline that is over is refused, also in the queue', async (t) => {
  const { clock, modem, start } = await setUpOutbox(t);
  const { send } = await start();
  t.match(await send('c0', {}, 0), { ok: false, code: 'deadline_passed' });
  modem.port.on(PDU, () => undefined);
  const first = send('c1', {}, 1_000);
  await until('the message', () => modem.port.count(PDU) === 1);
  const second = send('c2', {}, 1_000);
  clock.advance(1_000);
  t.match(await second, { ok: false, code: 'deadline_passed' });
  modem.port.say(lines('+CMGS: 9', 'OK'));
  t.match(
    await first,
    { result: { status: 'accepted', message_references: [9] } },
    'a send that has begun goes on',
  );
});

t.test('the queue has a bound', async (t) => {
  const { modem, start } = await setUpOutbox(t);
  const { send } = await start();
  modem.port.on(/^AT\+CMGS/, () => undefined);
  void send('first');
  await until('the command', () => modem.port.count(/^AT\+CMGS/) === 1);
  const sent = Array.from({ length: OUTBOX_LENGTH_MAX + 1 }, (_, index) => send(`c${index}`));
  t.match(await sent.at(-1), { ok: false, code: 'slot_busy' });
});

t.test(
  'without a journal nothing is sent; a lost disk after the message does not hide its outcome',
  async (t) => {
    const { disk, modem, start } = await setUpOutbox(t);
    const { send } = await start();
    disk.full = true;
    t.match(await send('c1'), { ok: false, code: 'journal_unavailable' });
    t.equal(modem.port.count(/./), 0);
    disk.full = false;
    modem.port.on(PDU, () => {
      disk.full = true;
      return lines('+CMGS: 3', 'OK');
    });
    t.match(await send('c2'), { ok: true, result: { status: 'accepted' } });
  },
);

t.test('intents are durable before their turn, and taken back when their deadline passes', async (t) => {
  const { clock, modem, start } = await setUpOutbox(t);
  const { journal, send } = await start();
  modem.port.on(PDU, () => undefined);
  const first = send('c1');
  await until('the message', () => modem.port.count(PDU) === 1);
  const second = send('c2', {}, 1_000);
  await until('the intent', () => journal.state.commands.has('c2'));
  clock.advance(1_000);
  t.match(await second, { ok: false, code: 'deadline_passed' });
  t.notOk(journal.state.commands.has('c2'), 'it was not tried and may come again');
  modem.port.say(lines('+CMGS: 9', 'OK'));
  await first;
  modem.port.on(PDU, lines('+CMGS: 10', 'OK'));
  t.match(await send('c2'), { result: { status: 'accepted', message_references: [10] } });
});

t.test(
  'the limits of the operator, counted over a restart; a repeated id is no second message',
  async (t) => {
    const { clock, modem, start } = await setUpOutbox(t);
    const limits = { perSim: { perMinute: 2 }, perDestination: {} };
    const first = await start(limits);
    const one = await first.send('c1');
    await first.send('c2');
    t.match(await first.send('c3'), { ok: false, code: 'rate_limited', retryAfterMs: 60_000 });
    t.same(await first.send('c1'), one);
    const second = await start(limits);
    t.match(await second.send('c3'), { ok: false, code: 'rate_limited' });
    t.equal(modem.port.count(PDU), 0);
    clock.advance(60_000);
    t.match(await second.send('c3'), { result: { status: 'accepted' } });
  },
);

t.test('a send that was refused without a try does not count', async (t) => {
  const { slot, start } = await setUpOutbox(t);
  const { send } = await start({ perSim: { perMinute: 1 }, perDestination: {} });
  slot.registered = false;
  t.match(await send('c1'), { ok: false, code: 'slot_unavailable' });
  slot.registered = true;
  t.match(await send('c2'), { result: { status: 'accepted' } });
});

t.test(
  'an id that was asked for and not known is never tried, though it comes late over an older link',
  async (t) => {
    const { modem, start } = await setUpOutbox(t);
    const { send } = await start();
    t.match(await send('c1', {}, 0), { ok: false, code: 'deadline_passed' });
    t.match(await send('c1'), { ok: false, code: 'deadline_passed' });
    t.equal(modem.port.count(PDU), 0);
    t.match(await send('c2'), { ok: true });
  },
);
