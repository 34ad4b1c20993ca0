// A card that was exchanged: messages in the card go with it, messages in the modem go to no other customer.
import t, { type Test } from 'tap';
import type { Journal } from '#node-daemon/journal/journal.ts';
import { isEmpty, setUpInbox } from '../../fixtures/nodes/scripted-inbox.ts';
import { lines, TEST_ICCID, TEST_IMEI } from '../../fixtures/nodes/scripted-port.ts';
import { until } from '../../fixtures/until.ts';

/** "Hi" and "Ho". */
const HI = '07915155000000F0040B915155000010F200005211211100000002C834';
const HO = '07915155000000F0040B915155000010F200005211211100000002C837';
const OTHER_ICCID = '8901000000000000025';

/** A modem that has served its first card, and what serves another one. */
async function served(t: Test, isKnown = true) {
  const rig = await setUpInbox(t);
  const { journal, facts, crash } = await rig.start();
  if (isKnown) await until('the card is known', () => journal.state.cards.get(TEST_IMEI) === TEST_ICCID);
  /** The first session ends, whatever lies in the modem, and one with another card sweeps. */
  const exchange = async (): Promise<void> => {
    crash();
    await rig.openInbox(journal, ['SM', 'ME'], OTHER_ICCID).sweep();
  };
  return { ...rig, journal, facts, exchange };
}

const isKnownAs = (journal: Journal, iccid: string) => () => journal.state.cards.get(TEST_IMEI) === iccid;

t.test('a message that lay in the modem is kept for the operator, as one of the former card', async (t) => {
  const { exchange, facts, journal, modem } = await served(t);
  modem.deliver(HI, { storage: 'ME', announce: false });
  await exchange();
  await until('an empty store', () => isEmpty(modem));
  t.match(facts(), [{ kind: 'sms_unreadable', iccid: TEST_ICCID, pdu: HI, reason: /SIM was changed/ }]);
  await until('the new card is known', isKnownAs(journal, OTHER_ICCID));
  modem.deliver(HO, { storage: 'ME' });
  await until('another', () => facts().length === 2);
  t.match(
    facts()[1],
    { kind: 'sms_received', iccid: OTHER_ICCID, body: 'Ho' },
    'a message that comes now is its own',
  );
});

t.test('a message that was reported and not deleted is not reported again', async (t) => {
  const { exchange, facts, modem } = await served(t);
  modem.port.on(/^AT\+CMGD/, lines('+CMS ERROR: 500'));
  modem.deliver(HI, { storage: 'ME' });
  await until('it is reported', () => facts().length === 1);
  await exchange();
  await until('an empty store', () => isEmpty(modem));
  t.match(facts(), [{ kind: 'sms_received', iccid: TEST_ICCID, body: 'Hi' }]);
});

t.test('messages in a card belong to that card, in whatever modem', async (t) => {
  const { exchange, facts, modem } = await served(t);
  modem.deliver(HI, { storage: 'SM', announce: false });
  await exchange();
  await until('an empty store', () => isEmpty(modem));
  t.match(facts(), [{ kind: 'sms_received', iccid: OTHER_ICCID, body: 'Hi' }]);
});

t.test('a disk that refuses does not make it the new card’s', async (t) => {
  const { disk, exchange, facts, journal, modem, openInbox } = await served(t);
  modem.deliver(HI, { storage: 'ME', announce: false });
  disk.full = true;
  await exchange();
  t.same(facts(), []);
  disk.full = false;
  await openInbox(journal, ['SM', 'ME'], OTHER_ICCID).sweep();
  await until('it is reported', () => facts().length === 1);
  t.match(facts(), [{ kind: 'sms_unreadable', iccid: TEST_ICCID }]);
});

t.test('a modem that is new here has only its card’s messages', async (t) => {
  const { modem, start } = await setUpInbox(t);
  modem.deliver(HI, { storage: 'ME', announce: false });
  const { facts } = await start();
  t.match(facts(), [{ kind: 'sms_received', iccid: TEST_ICCID, body: 'Hi' }]);
});
