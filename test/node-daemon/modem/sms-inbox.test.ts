// Receiving over a scripted port: every message a fact once, whatever is lost, repeated or refused.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { AtChannel } from '#node-daemon/at/channel.ts';
import { Journal } from '#node-daemon/journal/journal.ts';
import { openAppendFile } from '#node-daemon/journal/journal-file.ts';
import { LateParts, PARTS_WAIT_MS } from '#node-daemon/modem/late-parts.ts';
import { SmsInbox, SWEEP_AFTER_URC_MS } from '#node-daemon/modem/sms-inbox.ts';
import type { Fact } from '#shared/link/messages.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/manual-clock.ts';
import { lines, ScriptedModem, TEST_ICCID } from '../../fixtures/scripted-port.ts';
import { until } from '../../fixtures/until.ts';

const SENDER = '07915155000000F0';
/** "Hi" from +15550000012. */
const HI = `${SENDER}040B915155000010F200005211211100000002C834`;
/** "Hi" from 12345. */
const CODE = `${SENDER}0405812143F500005211211100000002C834`;
/** Parts of a message with the reference 42: "AB" and "AB". */
const PART_1 = `${SENDER}440B915155000010F2000052112111000000090500032A02018242`;
const PART_2 = `${SENDER}440B915155000010F2000052112111000000090500032A02028242`;
const REPORT = `${SENDER}06070B91515500002143F15211211100000052112111000000`.replace('2143F1', '10F2');
const DELIVERED_7 = `${REPORT}00`;

async function setUp(t: Test) {
  const folder = await mkdtemp(join(tmpdir(), 'inbox-'));
  const clock = new ManualClock(Date.parse('2026-11-21T08:00:00Z'));
  const disk = { full: false };
  const openJournal = (): Promise<Journal> =>
    Journal.open({
      ...{ folder, clock, log: silentLogger },
      openFile: async (path) => {
        const file = await openAppendFile(path);
        return {
          ...file,
          append: (bytes) => (disk.full ? Promise.reject(new Error('ENOSPC')) : file.append(bytes)),
        };
      },
    });
  const modem = new ScriptedModem();
  let sending = Promise.resolve();
  const start = async () => {
    const journal = await openJournal();
    const channel = new AtChannel(modem.plug(), clock, silentLogger);
    const inbox = new SmsInbox({
      ...{ iccid: TEST_ICCID, channel, journal, clock, log: silentLogger, storages: ['SM', 'ME'] },
      sendingDone: () => sending,
    });
    const facts = (): Fact[] => [...journal.state.facts.values()];
    const bodies = (): string[] =>
      facts().map((fact) => (fact.kind === 'sms_received' ? fact.body : fact.kind));
    /** What a kill leaves: nothing is closed, the port is gone. */
    const crash = (): void => {
      inbox.stop();
      modem.port.hangUp();
    };
    t.teardown(() => journal.close());
    return { journal, inbox, facts, bodies, crash };
  };
  t.teardown(() => rm(folder, { recursive: true }));
  const setSending = (promise: Promise<void>): void => {
    sending = promise;
  };
  return { clock, disk, modem, setSending, start };
}

const isEmpty = (modem: ScriptedModem): boolean =>
  Object.values(modem.stores).every((store) => store.size === 0);

t.test('an announced message is a fact, and then deleted', async (t) => {
  const { modem, start } = await setUp(t);
  const { facts } = await start();
  modem.deliver(HI);
  await until('the deletion', () => isEmpty(modem));
  t.same(facts(), [
    {
      ...{ kind: 'sms_received', iccid: TEST_ICCID, from: '+15550000012', body: 'Hi', partial: false },
      ...{ sent_at: '2025-11-12T11:00:00+00:00', received_at: '2026-11-21T08:00:00.000Z' },
    },
  ]);
});

t.test('the fact is durable before the deletion', async (t) => {
  const { modem, start } = await setUp(t);
  const { journal } = await start();
  let factsAtDeletion = -1;
  modem.port.on(/^AT\+CMGD/, () => {
    factsAtDeletion = journal.state.facts.size;
    return lines('OK');
  });
  modem.deliver(HI);
  await until('the deletion', () => factsAtDeletion >= 0);
  t.equal(factsAtDeletion, 1);
});

t.test('a burst is read before it is deleted, and every message is there once', async (t) => {
  const { modem, start } = await setUp(t);
  const { bodies } = await start();
  for (let index = 1; index <= 20; index += 1) modem.deliver(index % 2 === 0 ? HI : CODE, { index });
  await until('an empty store', () => isEmpty(modem));
  t.equal(bodies().length, 20);
});

t.test('a sweep finds what was not announced, in every storage', async (t) => {
  const { modem, start } = await setUp(t);
  const { inbox, bodies } = await start();
  modem.deliver(HI, { storage: 'SM', announce: false });
  modem.deliver(CODE, { storage: 'ME', announce: false });
  await inbox.sweep();
  t.same(bodies(), ['Hi', 'Hi']);
  t.ok(isEmpty(modem));
});

t.test('after an announcement the storages are swept: others may have been lost', async (t) => {
  const { clock, modem, start } = await setUp(t);
  const { bodies } = await start();
  modem.deliver(HI, { index: 1 });
  modem.deliver(CODE, { index: 2, announce: false });
  await until('the first', () => bodies().length === 1);
  clock.advance(SWEEP_AFTER_URC_MS);
  await until('the second', () => bodies().length === 2);
});

t.test('killed between journal and deletion, the message is not told twice', async (t) => {
  const { modem, start } = await setUp(t);
  const first = await start();
  modem.port.on(/^AT\+CMGD/, () => undefined);
  modem.deliver(HI);
  await until('the fact', () => first.bodies().length === 1);
  first.crash();
  const second = await start();
  await second.inbox.sweep();
  t.same(second.bodies(), ['Hi']);
  t.ok(isEmpty(modem), 'but deleted');
});

t.test('a deletion that fails is tried again and the message is not told twice', async (t) => {
  const { modem, start } = await setUp(t);
  const { inbox, bodies } = await start();
  let failures = 2;
  const { stores } = modem;
  modem.port.on(/^AT\+CMGD=(\d+)$/, ([, index]) => {
    failures -= 1;
    if (failures >= 0) return lines('+CMS ERROR: 500');
    stores['ME']?.delete(Number(index));
    return lines('OK');
  });
  modem.deliver(HI);
  for (let sweep = 0; sweep < 3; sweep += 1) await inbox.sweep();
  t.same(bodies(), ['Hi']);
  t.ok(isEmpty(modem));
});

t.test('a deletion that is confirmed and does not happen repeats nothing', async (t) => {
  const { modem, start } = await setUp(t);
  const { inbox, bodies, journal } = await start();
  modem.port.on(/^AT\+CMGD/, lines('OK'));
  modem.deliver(HI);
  for (let sweep = 0; sweep < 3; sweep += 1) await inbox.sweep();
  await until('the record', () => [...journal.state.entries.values()][0]?.deleted);
  await inbox.sweep();
  t.same(bodies(), ['Hi']);
});

t.test('two equal texts are two messages: in two places, and one after the other in one', async (t) => {
  const { modem, start } = await setUp(t);
  const { bodies } = await start();
  modem.deliver(HI, { index: 1 });
  modem.deliver(HI, { index: 2 });
  await until('both', () => isEmpty(modem));
  t.equal(bodies().length, 2);
  modem.deliver(HI, { index: 1 });
  await until('the third', () => bodies().length === 3);
});

t.test('another SIM in the same modem has entries of its own', async (t) => {
  const { modem, start } = await setUp(t);
  const { journal, inbox, bodies } = await start();
  const digest = 'x';
  const foreign = { iccid: '8901000000000000025', storage: 'ME', index: 1, digest };
  await journal.append({ kind: 'read', entry: foreign });
  modem.deliver(HI);
  await until('the message', () => bodies().length === 1);
  await inbox.sweep();
  t.ok([...journal.state.entries.values()].some(({ entry }) => entry.iccid === foreign.iccid));
});

t.test(
  'announcements of nothing, without index, of an unknown storage and of an MMS are survived',
  async (t) => {
    const { modem, start } = await setUp(t);
    const { bodies } = await start();
    const odd = [
      '+CMTI: "ME",9',
      '+CMTI: ,-1',
      '+CMTI: "XX",1',
      '+CMTI: "SM",1,"MMS PUSH",2,1',
      '+CMTI: ""',
      '+CMTI:',
    ];
    modem.port.say(lines(...odd));
    modem.port.on(/^AT\+CMGR=9$/, lines('OK'));
    modem.deliver(HI);
    await until('the message', () => bodies().length > 0);
    t.same(bodies(), ['Hi']);
  },
);

t.test('what cannot be decoded is told as it is, and deleted', async (t) => {
  const { modem, start } = await setUp(t);
  const { facts } = await start();
  modem.deliver(`${HI.slice(0, -2)}`, { index: 1 });
  modem.deliver(HI.replace('0000521121', '0004521121').replace('02C834', '020134'), { index: 2 });
  await until('an empty store', () => isEmpty(modem));
  t.match(facts(), [
    { kind: 'sms_unreadable', pdu: HI.slice(0, -2) },
    { kind: 'sms_unreadable', reason: '8 bit data' },
  ]);
});

t.test('parts are one message, in any order, repeated, and over a crash', async (t) => {
  const { modem, start } = await setUp(t);
  const first = await start();
  modem.deliver(PART_2, { index: 1 });
  modem.deliver(PART_2, { index: 2 });
  await until('an empty store', () => isEmpty(modem));
  t.same(first.bodies(), []);
  first.crash();
  const second = await start();
  modem.deliver(PART_1, { index: 1 });
  await until('the message', () => second.bodies().length === 1);
  t.match(second.facts(), [{ body: 'ABAB', partial: false }]);
  t.equal(second.journal.state.groups.size, 0);
});

t.test('parts that come at once are one message', async (t) => {
  const { modem, start } = await setUp(t);
  const { bodies } = await start();
  modem.deliver(PART_1, { index: 1 });
  modem.deliver(PART_2, { index: 2 });
  await until('an empty store', () => isEmpty(modem));
  t.same(bodies(), ['ABAB']);
});

t.test('a part that never comes: the others are told as they are', async (t) => {
  const { clock, modem, start } = await setUp(t);
  const { facts, journal } = await start();
  modem.deliver(PART_2);
  await until('an empty store', () => isEmpty(modem));
  const late = new LateParts({ journal, clock, log: silentLogger });
  clock.advance(PARTS_WAIT_MS - 1);
  await late.deliver();
  t.same(facts(), []);
  clock.advance(1);
  await late.deliver();
  t.match(facts(), [{ body: 'AB', partial: true }]);
  await late.deliver();
  t.equal(facts().length, 1);
});

t.test('on a full disk messages stay on the modem until there is room', async (t) => {
  const { disk, modem, start } = await setUp(t);
  const { inbox, bodies } = await start();
  disk.full = true;
  modem.deliver(HI);
  await inbox.sweep();
  t.same(bodies(), []);
  t.equal(modem.stores['ME']?.size, 1);
  t.equal(modem.port.count(/^AT\+CMGD/), 0);
  disk.full = false;
  await inbox.sweep();
  t.same(bodies(), ['Hi']);
  t.ok(isEmpty(modem));
});

t.test('a message given directly is a fact', async (t) => {
  const { modem, start } = await setUp(t);
  const { bodies } = await start();
  modem.port.say(lines('+CMT: ,22', HI));
  await until('the message', () => bodies().length > 0);
  t.same(bodies(), ['Hi']);
});

const accepted = (command_id: string) => ({
  ...{ kind: 'sms_outcome' as const, command_id },
  outcome: { status: 'accepted' as const, message_references: [7], at: '2026-11-21T08:00:00.000Z' },
});

t.test('a report is matched to the newest command by SIM, reference and last digits', async (t) => {
  const { modem, start } = await setUp(t);
  const { facts, journal } = await start();
  const at = '2026-11-21T07:00:00.000Z';
  for (const [commandId, iccid, to] of [
    ['old', TEST_ICCID, '+15550000012'],
    ['newest', TEST_ICCID, '+445550000012'],
    ['other number', TEST_ICCID, '+15550000013'],
    ['other SIM', '8901000000000000025', '+15550000012'],
  ] as const) {
    await journal.append(
      { kind: 'intent', commandId, iccid, to, at },
      { kind: 'fact', fact: accepted(commandId) },
    );
  }
  modem.port.say(lines('+CDS: 25', DELIVERED_7));
  await until('the report', () => facts().length === 5);
  t.match(facts().at(-1), {
    ...{ kind: 'sms_report', command_id: 'newest', message_reference: 7, status: 'delivered', tp_status: 0 },
    recipient: '+15550000012',
  });
});

t.test('a report in a storage is read, and one that nobody asked for has no command', async (t) => {
  const { modem, start } = await setUp(t);
  const { facts } = await start();
  modem.stores['SR'] = new Map();
  modem.deliver(`${REPORT}46`, { storage: 'SR', announce: false });
  modem.port.say(lines('+CDSI: "SR",1'));
  await until('an empty store', () => isEmpty(modem));
  t.match(facts(), [{ kind: 'sms_report', command_id: null, status: 'expired', tp_status: 0x46 }]);
});

t.test('a report that is quicker than the result of its message waits for it', async (t) => {
  const { modem, setSending, start } = await setUp(t);
  const { facts, journal } = await start();
  let done: () => void = () => undefined;
  setSending(new Promise((resolve) => (done = resolve)));
  const at = '2026-11-21T07:00:00.000Z';
  await journal.append({ kind: 'intent', commandId: 'c1', iccid: TEST_ICCID, to: '+15550000012', at });
  modem.port.say(lines('+CDS: 25', DELIVERED_7));
  await journal.append({ kind: 'fact', fact: accepted('c1') });
  done();
  await until('the report', () => facts().length === 2);
  t.match(facts()[1], { kind: 'sms_report', command_id: 'c1' });
});
