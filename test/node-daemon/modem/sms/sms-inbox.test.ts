// Receiving over a scripted port: every message a fact once, whatever is lost, repeated or refused.
import t from 'tap';
import { LAZY_SYNC_MS } from '#node-daemon/journal/journal-writer.ts';
import { LateParts, PARTS_WAIT_MS } from '#node-daemon/modem/sms/late-parts.ts';
import { SWEEP_AFTER_URC_MS } from '#node-daemon/modem/sms/sms-inbox.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../../fixtures/clocks/manual-clock.ts';
import { isEmpty, setUpInbox } from '../../../fixtures/nodes/scripted-inbox.ts';
import { lines, TEST_ICCID } from '../../../fixtures/nodes/scripted-port.ts';
import { until } from '../../../fixtures/until.ts';

const SENDER = '07915155000000F0';
/** "Hi" from +15550000012. */
const HI = `${SENDER}040B915155000010F200005211211100000002C834`;
/** "Ho", of the same second. */
const HO = `${SENDER}040B915155000010F200005211211100000002C837`;
/** "Hi" from 12345. */
const CODE = `${SENDER}0405812143F500005211211100000002C834`;
/** Parts of a message with the reference 42: "AB" and "AB". */
const PART_1 = `${SENDER}440B915155000010F2000052112111000000090500032A02018242`;
const PART_2 = `${SENDER}440B915155000010F2000052112111000000090500032A02028242`;

t.test('an announced message is a fact, and then deleted', async (t) => {
  const { modem, start } = await setUpInbox(t);
  const { facts } = await start();
  modem.deliver(HI);
  await until('the deletion', () => isEmpty(modem));
  t.same(facts(), [
    {
      kind: 'sms_received',
      iccid: TEST_ICCID,
      from: '+15550000012',
      body: 'Hi',
      partial: false,
      sent_at: '2025-11-12T11:00:00+00:00',
      received_at: '2026-11-21T08:00:00.000Z',
      arrived_after: '2026-11-21T08:00:00.000Z',
    },
  ]);
});

t.test('the fact is durable before the deletion', async (t) => {
  const { modem, start } = await setUpInbox(t);
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
  const { modem, start } = await setUpInbox(t);
  const { bodies } = await start();
  for (let index = 1; index <= 20; index += 1) modem.deliver(index % 2 === 0 ? HI : CODE, { index });
  await until('an empty store', () => isEmpty(modem));
  t.equal(bodies().length, 20);
});

t.test('a sweep finds what was not announced, in every storage', async (t) => {
  const { modem, start } = await setUpInbox(t);
  const { inbox, bodies } = await start();
  modem.deliver(HI, { storage: 'SM', announce: false });
  modem.deliver(CODE, { storage: 'ME', announce: false });
  await inbox.sweep();
  t.same(bodies(), ['Hi', 'Hi']);
  t.ok(isEmpty(modem));
});

t.test('after an announcement the storages are swept: others may have been lost', async (t) => {
  const { clock, modem, start } = await setUpInbox(t);
  const { bodies } = await start();
  modem.deliver(HI, { index: 1 });
  modem.deliver(CODE, { index: 2, announce: false });
  await until('the first', () => bodies().length === 1);
  clock.advance(SWEEP_AFTER_URC_MS);
  await until('the second', () => bodies().length === 2);
});

t.test('messages that lay there at the start are reported before those announced meanwhile', async (t) => {
  const { modem, start } = await setUpInbox(t);
  const anHourEarlier = HI.replace('52112111', '52112101');
  modem.deliver(anHourEarlier, { index: 9, announce: false });
  const { facts } = await start(['SM', 'ME'], false);
  modem.deliver(CODE, { index: 1 });
  await until('both', () => facts().length === 2);
  t.match(facts(), [{ from: '+15550000012' }, { from: '12345' }]);
});

t.test('a message of the same second in a later place is reported first if it was there first', async (t) => {
  const { modem, start } = await setUpInbox(t);
  modem.deliver(HI, { index: 9, announce: false });
  const { bodies } = await start(['SM', 'ME'], false);
  modem.deliver(HO, { index: 4 });
  await until('both', () => bodies().length === 2);
  t.same(bodies(), ['Hi', 'Ho']);
});

t.test('killed between journal and deletion, the message is not reported twice', async (t) => {
  const { modem, start } = await setUpInbox(t);
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

t.test('a deletion that fails is tried again and the message is not reported twice', async (t) => {
  const { modem, start } = await setUpInbox(t);
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
  const { clock, modem, start } = await setUpInbox(t);
  const { inbox, bodies, journal } = await start();
  modem.port.on(/^AT\+CMGD/, lines('OK'));
  modem.deliver(HI);
  for (let sweep = 0; sweep < 3; sweep += 1) await inbox.sweep();
  await until('the record', () => {
    clock.advance(LAZY_SYNC_MS);
    return [...journal.state.entries.values()][0]?.deleted;
  });
  await inbox.sweep();
  t.same(bodies(), ['Hi']);
});

t.test(
  'a sweep that meets a read on its way to the disk deletes it once, and never what comes next',
  async (t) => {
    const { holdDisk, modem, start } = await setUpInbox(t);
    const { bodies, inbox } = await start(['ME']);
    const stores = modem.stores;
    let deletions = 0;
    modem.port.on(/^AT\+CMGD=1$/, () => {
      deletions += 1;
      // The network had a message waiting for the place; its announcement is late.
      if (deletions === 1) stores['ME']?.set(1, { status: 0, pdu: CODE });
      else stores['ME']?.delete(1);
      return lines('OK');
    });
    const release = holdDisk();
    modem.deliver(HI);
    await until('the read', () => modem.port.count(/^AT\+CMGR=1$/) === 1);
    const swept = inbox.sweep();
    release();
    await swept;
    t.equal(deletions, 1);
    t.equal(stores['ME']?.get(1)?.pdu, CODE, 'the next message is still there');
    modem.port.say(lines('+CMTI: "ME",1'));
    await until('the next message', () => stores['ME']?.size === 0);
    t.equal(bodies().length, 2);
  },
);

t.test('announced twice, a message is deleted once', async (t) => {
  const { holdDisk, modem, start } = await setUpInbox(t);
  const { bodies, inbox } = await start();
  const release = holdDisk();
  modem.deliver(HI);
  modem.port.say(lines('+CMTI: "ME",1'));
  await until('both reads', () => modem.port.count(/^AT\+CMGR=1$/) === 2);
  release();
  await until('the deletion', () => isEmpty(modem));
  await inbox.sweep();
  t.equal(modem.port.count(/^AT\+CMGD=1$/), 1);
  t.same(bodies(), ['Hi']);
});

t.test('a deletion that is confirmed and does not happen is tried again', async (t) => {
  const { modem, start } = await setUpInbox(t);
  const { inbox, bodies } = await start();
  const { stores } = modem;
  let deletions = 0;
  modem.port.on(/^AT\+CMGD=1$/, () => {
    deletions += 1;
    if (deletions === 3) stores['ME']?.delete(1);
    return lines('OK');
  });
  modem.deliver(HI);
  for (let sweep = 0; sweep < 4; sweep += 1) await inbox.sweep();
  t.equal(deletions, 3);
  t.ok(isEmpty(modem));
  t.same(bodies(), ['Hi']);
});

t.test('two equal texts are two messages: in two places, and one after the other in one', async (t) => {
  const { modem, start } = await setUpInbox(t);
  const { bodies } = await start();
  modem.deliver(HI, { index: 1 });
  modem.deliver(HI, { index: 2 });
  await until('both', () => isEmpty(modem));
  t.equal(bodies().length, 2);
  modem.deliver(HI, { index: 1 });
  await until('the third', () => bodies().length === 3);
});

t.test('another SIM in the same modem has entries of its own', async (t) => {
  const { modem, start } = await setUpInbox(t);
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
    const { modem, start } = await setUpInbox(t);
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

t.test('a message that cannot be decoded is reported as it is, and deleted', async (t) => {
  const { modem, start } = await setUpInbox(t);
  const { facts } = await start();
  modem.deliver(`${HI.slice(0, -2)}`, { index: 1 });
  modem.deliver(HI.replace('0000521121', '0004521121').replace('02C834', '020134'), { index: 2 });
  await until('an empty store', () => isEmpty(modem));
  t.match(facts(), [
    { kind: 'sms_unreadable', pdu: HI.slice(0, -2) },
    { kind: 'sms_unreadable', reason: '8 bit data' },
  ]);
});

t.test('a sweep keeps the order of the announcements, whatever places are free', async (t) => {
  const { modem, start } = await setUpInbox(t);
  const { inbox, bodies } = await start();
  // Announced while the storage is listed: the sweep has both, in the order of their places.
  modem.port.on(/^AT\+CMGL=4$/, () => {
    if (modem.port.count(/^AT\+CMGL=4$/) !== 3) return lines('OK');
    return lines('+CMTI: "SM",9', '+CMTI: "SM",4', '+CMGL: 4,0,,21', HO, '+CMGL: 9,0,,21', HI, 'OK');
  });
  await inbox.sweep();
  await until('both', () => bodies().length === 2);
  t.same(bodies(), ['Hi', 'Ho']);
});

t.test('parts are one message, in any order, repeated, and over a crash', async (t) => {
  const { modem, start } = await setUpInbox(t);
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
  const { modem, start } = await setUpInbox(t);
  const { bodies } = await start();
  modem.deliver(PART_1, { index: 1 });
  modem.deliver(PART_2, { index: 2 });
  await until('an empty store', () => isEmpty(modem));
  t.same(bodies(), ['ABAB']);
});

t.test('a part that never comes: the others are reported as they are', async (t) => {
  const { clock, modem, start } = await setUpInbox(t);
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

t.test('the port is lost while the disk is slow: one report, deleted by the next session', async (t) => {
  const { holdDisk, modem, openInbox, start } = await setUpInbox(t);
  const { bodies, crash, journal } = await start();
  const release = holdDisk();
  modem.deliver(HI, { index: 1 });
  await until('the message is read', () => modem.port.count(/^AT\+CMGR=1$/) === 1);
  crash();
  const swept = openInbox(journal, ['ME', 'SM']).sweep();
  await until('it was read again', () => modem.port.count(/^AT\+CMGL=4$/) === 2);
  release();
  await swept;
  t.same(bodies(), ['Hi']);
  await until('an empty store', () => isEmpty(modem));
});

t.test('a part that came while the clock was ahead does not wait for that time', async (t) => {
  const { clock, modem, start } = await setUpInbox(t);
  const { facts, journal } = await start();
  const rightTime = clock.now();
  clock.advance(365 * 24 * 3_600_000);
  modem.deliver(PART_2);
  await until('an empty store', () => isEmpty(modem));
  const right = new ManualClock(rightTime);
  await new LateParts({ journal, clock: right, log: silentLogger }).deliver();
  t.match(facts(), [{ body: 'AB', partial: true }]);
});

t.test('the last part in the same write as the end of its wait: whole or in parts, never both', async (t) => {
  for (const [claim, expected] of [
    ['the part comes first', ['ABAB']],
    ['the wait ends first', ['AB']],
  ] as const) {
    const { clock, holdDisk, modem, start } = await setUpInbox(t);
    const { bodies, facts, journal } = await start();
    modem.deliver(PART_1);
    await until('an empty store', () => isEmpty(modem));
    clock.advance(PARTS_WAIT_MS);
    const late = new LateParts({ journal, clock, log: silentLogger });
    const release = holdDisk();
    const busy = journal.append({ kind: 'intent', commandId: 'c', iccid: TEST_ICCID, to: '+1', at: '' });
    const part = (): void => modem.port.say(lines('+CMT: ,29', PART_2));
    if (expected[0] === 'ABAB') part();
    // A directly delivered message is handled after the tasks that wait for the modem.
    await new Promise((resolve) => setImmediate(resolve));
    const ended = late.deliver();
    if (expected[0] === 'AB') part();
    release();
    await Promise.all([busy, ended]);
    await journal.append({ kind: 'gone', entry: { iccid: TEST_ICCID, storage: 'X', index: 0, digest: '' } });
    t.same(bodies(), expected, claim);
    t.match(facts(), [{ partial: expected[0] === 'AB' }], claim);
    t.equal(journal.state.groups.size, expected[0] === 'AB' ? 1 : 0, 'a late part waits for itself');
  }
});

t.test('parts that are given directly in one go are one message', async (t) => {
  const { modem, start } = await setUpInbox(t);
  const { bodies } = await start();
  modem.port.say(lines('+CMT: ,29', PART_1, '+CMT: ,29', PART_2));
  await until('the message', () => bodies().length > 0);
  t.same(bodies(), ['ABAB']);
});

t.test('on a full disk messages stay on the modem until there is room', async (t) => {
  const { disk, modem, start } = await setUpInbox(t);
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
  const { modem, start } = await setUpInbox(t);
  const { bodies } = await start();
  modem.port.say(lines('+CMT: ,22', HI));
  await until('the message', () => bodies().length > 0);
  t.same(bodies(), ['Hi']);
});
