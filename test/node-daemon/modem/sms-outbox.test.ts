// Sending over a scripted port: each message once, its outcome durable, and certain or unknown as it is.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { AtChannel, PROMPT_TIMEOUT_MS } from '#node-daemon/at/channel.ts';
import { Journal } from '#node-daemon/journal/journal.ts';
import { openJournalDisk } from '#node-daemon/journal/journal-disk.ts';
import { CommandHandler, type LinkCommand } from '#node-daemon/link/command-handler.ts';
import type { Modem } from '#node-daemon/modem/modem.ts';
import { settleIntents } from '#node-daemon/modem/sms-left-behind.ts';
import { OUTBOX_LENGTH_MAX, SmsOutbox } from '#node-daemon/modem/sms-outbox.ts';
import { SUBMIT_TIMEOUT_MS } from '#node-daemon/modem/sms-submission.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/manual-clock.ts';
import { lines, ScriptedModem, TEST_ICCID } from '../../fixtures/scripted-port.ts';
import { until } from '../../fixtures/until.ts';

const PDU = /^00[0-9A-F]{20,}$/;

async function setUp(t: Test) {
  const folder = await mkdtemp(join(tmpdir(), 'outbox-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const clock = new ManualClock(Date.parse('2026-11-21T08:00:00Z'));
  const disk = { full: false };
  const modem = new ScriptedModem();
  const slot = { registered: true };
  const log = silentLogger;
  const start = async () => {
    const journal = await Journal.open({
      ...{ folder, clock, log },
      openDisk: async (path) => {
        const file = await openJournalDisk(path);
        return {
          ...file,
          write: (bytes, position) =>
            disk.full ? Promise.reject(new Error('ENOSPC')) : file.write(bytes, position),
        };
      },
    });
    t.teardown(() => journal.close());
    await settleIntents({ journal, clock, log });
    const channel = new AtChannel(modem.plug(), clock, log);
    const outbox = new SmsOutbox({ channel, journal, clock, log, isRegistered: () => slot.registered });
    channel.onClose(() => outbox.close());
    const held = { slot: { state: slot.registered ? 'registered' : 'searching' }, outbox } as Modem;
    const rack = { find: (iccid: string) => (iccid === TEST_ICCID ? held : undefined) };
    const handler = new CommandHandler({ rack, journal, clock, log });
    const send = (id: string, change: object = {}, timeLeftMs = 30_000) =>
      handler.handle({
        id,
        name: 'send_sms',
        params: { ...PARAMS, ...change },
        timeLeftMs,
      } satisfies LinkCommand);
    return { journal, handler, outbox, send };
  };
  return { clock, disk, modem, slot, start };
}

const PARAMS = { iccid: TEST_ICCID, to: '+15550001234', body: 'Hi', segments_max: 1 };

t.test('a message is accepted with its reference, and the outcome is a fact', async (t) => {
  const { modem, start } = await setUp(t);
  const { journal, send } = await start();
  const at = '2026-11-21T08:00:00.000Z';
  const outcome = { status: 'accepted', message_references: [1], at };
  t.same(await send('c1'), { ok: true, result: outcome });
  t.same([...journal.state.facts.values()], [{ kind: 'sms_outcome', command_id: 'c1', outcome }]);
  t.same(modem.port.received, ['AT+CMGS=16', '0031000B915155001032F40000A702C834']);
});

t.test('the intent is durable before the modem sees the message', async (t) => {
  const { modem, start } = await setUp(t);
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
    const { modem, start } = await setUp(t);
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
  const { modem, start } = await setUp(t);
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
  const { modem, start } = await setUp(t);
  const { send } = await start();
  const body = 'x'.repeat(161);
  t.match(await send('c1', { body }), { ok: false, code: 'params_invalid' });
  t.match(await send('c2', { body, segments_max: 2 }), { result: { message_references: [1, 2] } });
  t.equal(modem.port.count(PDU), 2);
});

t.test('bad parameters and unknown commands are refused', async (t) => {
  const { modem, start } = await setUp(t);
  const { handler, send } = await start();
  for (const change of [{ to: '5550001234' }, { body: '' }, { iccid: 'x' }, { segments_max: 0 }]) {
    t.match(await send('c1', change), { ok: false, code: 'params_invalid' }, JSON.stringify(change));
  }
  const unknown = await handler.handle({ id: 'c2', name: 'fly', params: {}, timeLeftMs: 1_000 });
  t.match(unknown, { ok: false, code: 'command_unknown' });
  t.equal(modem.port.received.length, 0);
});

t.test('bind_sim is confirmed for a SIM in service only', async (t) => {
  const { slot, start } = await setUp(t);
  const bind = async (iccid: string) =>
    (await start()).handler.handle({ id: 'b1', name: 'bind_sim', params: { iccid }, timeLeftMs: 1_000 });
  t.same(await bind(TEST_ICCID), { ok: true, result: {} });
  t.match(await bind('8901000000000000025'), { ok: false, code: 'sim_absent' });
  slot.registered = false;
  t.match(await bind(TEST_ICCID), { ok: false, code: 'slot_unavailable' });
});

t.test('certain failures are rejected with their code', async (t) => {
  for (const [code, body] of [
    ['cms_38', lines('+CMS ERROR: 38')],
    ['cms_21', lines('+CMS ERROR: 21')],
    ['cms_513', lines('+CMS ERROR: 513')],
    ['cme_30', lines('+CME ERROR: 30')],
  ] as const) {
    const { modem, start } = await setUp(t);
    const { send } = await start();
    modem.port.on(PDU, body);
    t.match(await send('c1'), { result: { status: 'rejected', code } }, code);
  }
});

t.test('failures after the PDU that say nothing are unknown', async (t) => {
  for (const answer of ['+CMS ERROR: 332', '+CMS ERROR: 500', 'ERROR', '+CME ERROR: 100']) {
    const { modem, start } = await setUp(t);
    const { send } = await start();
    modem.port.on(PDU, lines(answer));
    t.match(await send('c1'), { result: { status: 'unknown' } }, answer);
  }
});

t.test('any failure before the PDU is certain', async (t) => {
  for (const [code, answer] of [
    ['cms_500', '+CMS ERROR: 500'],
    ['modem_refused', 'ERROR'],
    ['cme_100', '+CME ERROR: 100'],
  ] as const) {
    const { modem, start } = await setUp(t);
    const { send } = await start();
    modem.port.on(/^AT\+CMGS/, lines(answer));
    t.match(await send('c1'), { result: { status: 'rejected', code } }, answer);
    t.equal(modem.port.count(PDU), 0);
  }
});

t.test(
  'a prompt that does not come is a certain failure, an answer that does not come is none',
  async (t) => {
    const { clock, modem, start } = await setUp(t);
    const { send } = await start();
    modem.port.on(/^AT\+CMGS/, () => undefined);
    const promptless = send('c1');
    await until('the command', () => modem.port.count(/^AT\+CMGS/) === 1);
    clock.advance(PROMPT_TIMEOUT_MS);
    t.match(await promptless, {
      result: { status: 'rejected', code: 'modem_silent', message: /^the modem did not answer/ },
    });
    const other = await start();
    modem.port.on(PDU, () => undefined);
    const answerless = other.send('c2');
    await until('the message', () => modem.port.count(PDU) === 1);
    clock.advance(SUBMIT_TIMEOUT_MS);
    t.match(await answerless, { result: { status: 'unknown' } });
  },
);

t.test('a port that is lost after the PDU leaves it unknown, and what waits is refused', async (t) => {
  const { modem, start } = await setUp(t);
  const { send } = await start();
  modem.port.on(PDU, () => undefined);
  const sent = send('c1');
  const waiting = send('c2');
  await until('the message', () => modem.port.count(PDU) === 1);
  modem.port.hangUp();
  t.match(await sent, { result: { status: 'unknown' } });
  t.match(await waiting, { ok: false, code: 'slot_unavailable' });
});

t.test('a refused command was not tried and may come again', async (t) => {
  const { slot, start } = await setUp(t);
  const { send } = await start();
  slot.registered = false;
  t.match(await send('c1'), { ok: false, code: 'slot_unavailable' });
  slot.registered = true;
  t.match(await send('c1'), { ok: true, result: { status: 'accepted' } });
  t.match(await send('c2', { iccid: '8901000000000000025' }), { ok: false, code: 'sim_absent' });
});

t.test(
  'a message that cannot be encoded is rejected, given to nobody, and the next one goes out',
  async (t) => {
    const { modem, start } = await setUp(t);
    const { journal, outbox, send } = await start();
    const params = { ...PARAMS, to: '+1555000123456789012345' };
    const failed = outbox.send({ commandId: 'bad', params, deadlineAt: Number.POSITIVE_INFINITY });
    const next = send('c1');
    t.match(await failed, { status: 'rejected', code: 'not_encodable' });
    t.match(await next, { result: { status: 'accepted' } });
    t.equal(modem.port.count(PDU), 1);
    t.equal(journal.state.commands.get('bad')?.outcome?.status, 'rejected');
  },
);

t.test(
  'an unexpected failure of the channel leaves one message unknown and the outbox at work',
  async (t) => {
    const { clock, start } = await setUp(t);
    const { journal } = await start();
    let calls = 0;
    const channel = {
      onUrc: () => undefined,
      send() {
        calls += 1;
        // What an assertion that fails inside does: it throws, and rejects nothing.
        if (calls === 1) throw new TypeError('a mistake of ours');
        return Promise.resolve([{ line: '+CMGS: 4' }]);
      },
    } as unknown as AtChannel;
    const outbox = new SmsOutbox({ channel, journal, clock, log: silentLogger, isRegistered: () => true });
    const give = (commandId: string) =>
      outbox.send({ commandId, params: PARAMS, deadlineAt: Number.POSITIVE_INFINITY });
    const [failed, next] = await Promise.all([give('c1'), give('c2')]);
    t.match(failed, { status: 'unknown', message: 'a mistake of ours' });
    t.match(next, { status: 'accepted', message_references: [4] });
  },
);

t.test('a deadline that is over is refused, also in the queue', async (t) => {
  const { clock, modem, start } = await setUp(t);
  const { send } = await start();
  t.match(await send('c0', {}, 0), { ok: false, code: 'deadline_passed' });
  modem.port.on(PDU, () => undefined);
  const first = send('c1', {}, 1_000);
  await until('the message', () => modem.port.count(PDU) === 1);
  const second = send('c2', {}, 1_000);
  clock.advance(1_000);
  t.match(await second, { ok: false, code: 'deadline_passed' });
  modem.port.say(lines('+CMGS: 9', 'OK'));
  t.match(await first, { result: { status: 'accepted', message_references: [9] } }, 'what has begun goes on');
});

t.test('the queue has a bound', async (t) => {
  const { modem, start } = await setUp(t);
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
    const { disk, modem, start } = await setUp(t);
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
