// A sweep proves that all messages before it are journalled, and that messages read later came after it.
import t from 'tap';
import { setUpInbox } from '../../../fixtures/nodes/scripted-inbox.ts';

const SENDER = '07915155000000F0';
/** "Hi" from +15550000012. */
const HI = `${SENDER}040B915155000010F200005211211100000002C834`;
/** "Hi" from 12345. */
const CODE = `${SENDER}0405812143F500005211211100000002C834`;
/** Parts of a message with the reference 42: "AB" and "AB". */
const PART_1 = `${SENDER}440B915155000010F2000052112111000000090500032A02018242`;
const PART_2 = `${SENDER}440B915155000010F2000052112111000000090500032A02028242`;

t.test('a message states since when it can have come, unless it may have been there before', async (t) => {
  const { clock, modem, start, swept } = await setUpInbox(t);
  modem.deliver(HI, { storage: 'ME', announce: false });
  const { inbox, facts } = await start();
  t.match(facts(), [{ arrived_after: undefined }]);
  const firstAt = '2026-11-21T08:00:00.000Z';
  t.same(swept, [firstAt]);
  clock.advance(30_000);
  modem.deliver(CODE, { storage: 'ME', announce: false });
  await inbox.sweep();
  t.match(facts()[1], { arrived_after: firstAt });
  t.same(swept, [firstAt], 'another sweep within five minutes is not reported');
  clock.advance(5 * 60_000);
  await inbox.sweep();
  t.same(swept, [firstAt, '2026-11-21T08:05:30.000Z']);
});

t.test('a sweep whose messages the journal refuses is none', async (t) => {
  const { disk, modem, start, swept } = await setUpInbox(t);
  const { inbox } = await start(['SM', 'ME'], false);
  modem.deliver(HI, { announce: false });
  disk.full = true;
  await inbox.sweep();
  t.same(swept, []);
  disk.full = false;
  await inbox.sweep();
  t.equal(swept.length, 1);
});

t.test('a message whose parts came before and after a sweep is as old as its first part', async (t) => {
  const { modem, start } = await setUpInbox(t);
  modem.deliver(PART_1, { announce: false });
  const { inbox, facts } = await start();
  modem.deliver(PART_2, { announce: false });
  await inbox.sweep();
  t.match(facts(), [{ body: 'ABAB', partial: false, arrived_after: undefined }]);
});
