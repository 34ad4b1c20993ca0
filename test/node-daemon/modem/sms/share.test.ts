// The share of one modem in the journal: what a flood brings beyond it stays on its SIM and in the network, and the other modems have their
// texts.
import t, { type Test } from 'tap';
import { modemShares } from '#node-daemon/journal/share.ts';
import { SmsRecorder } from '#node-daemon/modem/sms/sms-recorder.ts';
import { readPdu } from '#node-daemon/sms/received-pdu.ts';
import { MODEM_FACTS } from '#shared/link/messages.ts';
import { setUpInbox } from '../../../fixtures/nodes/scripted-inbox.ts';
import { lines, TEST_ICCID } from '../../../fixtures/nodes/scripted-port.ts';
import { until } from '../../../fixtures/until.ts';

const OTHER_ICCID = '8901000000000000025';
/** A DELIVER "Hi" from +15550000012, with this second of its time stamp. */
const hi = (second = 0): string => `07915155000000F0040B915155000010F2000052112111000${second}0002C834`;
const HI = hi();
const { burst, perSecond } = MODEM_FACTS.messages;

async function setUp(t: Test) {
  const { clock, disk, modem, openInbox, start } = await setUpInbox(t);
  const { crash, journal } = await start();
  crash();
  const shares = modemShares({ journal, clock });
  openInbox(journal, [], TEST_ICCID, shares);
  const recorderOf = (iccid: string, of = shares) =>
    new SmsRecorder({ iccid, journal, clock, shares: of, sendingDone: () => Promise.resolve() });
  modem.port.on(/^AT\+CSMS\?$/, lines('+CSMS: 1,1,1,1', 'OK'));
  let given = 0;
  /** Gives the modem's SIM a text. Returns the acknowledgement: 1 for received, 2 for not received. */
  const give = async () => {
    given += 1;
    const answers: string[] = [];
    modem.port.on(/^AT\+CNMA=(\d)$/, ([, kind = '']) => {
      answers.push(kind);
      return lines('OK');
    });
    modem.port.say(lines('+CMT: ,22', hi(given)));
    return until('the acknowledgement', () => answers[0]);
  };
  const flood = async (iccid: string, count: number) => {
    const recorder = recorderOf(iccid);
    await Promise.all(Array.from({ length: count }, () => recorder.record(readPdu(HI))));
  };
  return { clock, disk, flood, give, journal, recorderOf, shares };
}

t.test('a modem that floods is refused, whichever card it names, and another is not', async (t) => {
  const { clock, flood, give, journal, recorderOf } = await setUp(t);
  await flood(OTHER_ICCID, burst - 2);
  const entry = { iccid: TEST_ICCID, storage: 'ME', index: 1, digest: 'd1' };
  await recorderOf(TEST_ICCID).recordStranded(readPdu(HI), entry, OTHER_ICCID);
  t.equal(await give(), '1', 'the last of its share');
  journal.acknowledge(burst);
  t.equal(await give(), '2', 'the network keeps it');
  const stranded = recorderOf(TEST_ICCID).recordStranded(readPdu(HI), entry, OTHER_ICCID);
  await t.rejects(stranded, { name: 'JournalUnavailableError' });
  await recorderOf(OTHER_ICCID, modemShares({ journal, clock })).record(readPdu(HI));
  t.equal(journal.state.facts.size, 1, 'the text of another modem');
  clock.advance(1_000 / perSecond);
  t.equal(await give(), '1', 'one more, in time');
});

t.test('while the control plane is behind, no share grows', async (t) => {
  const { clock, flood, give, journal } = await setUp(t);
  await flood(TEST_ICCID, burst);
  clock.advance(24 * 60 * 60_000);
  t.equal(await give(), '2');
  journal.acknowledge(burst);
  t.equal(await give(), '2', 'the time without the control plane counts for nothing');
  clock.advance(1_000 / perSecond);
  t.equal(await give(), '1');
});

t.test('messages that the journal refuses take nothing from a share', async (t) => {
  const { disk, flood, give, journal, shares } = await setUp(t);
  await flood(TEST_ICCID, burst - 1);
  disk.full = true;
  for (let time = 0; time < 3; time += 1) t.equal(await give(), '2', 'the disk is full');
  disk.full = false;
  t.equal(await give(), '1', 'the last of the share');
  t.equal(journal.state.facts.size, burst);
  t.notOk(shares.messages.take());
});

t.test('a clock that is set back takes nothing from a share', async (t) => {
  const { clock, flood, give, journal } = await setUp(t);
  await flood(TEST_ICCID, burst);
  journal.acknowledge(burst);
  clock.set(clock.now() - 24 * 60 * 60_000);
  t.equal(await give(), '2');
  clock.advance(1_000 / perSecond);
  t.equal(await give(), '1');
});

t.test(
  'a message that the link does not carry is kept for the operator as one that cannot be read',
  async (t) => {
    const { journal, recorderOf } = await setUp(t);
    const read = readPdu(HI);
    if (read.decoded?.kind !== 'deliver') throw new Error('no message');
    const decoded = { ...read.decoded, sentAt: 'yesterday' };
    await recorderOf(TEST_ICCID).record({ ...read, decoded });
    t.match(
      [...journal.state.facts.values()],
      [
        {
          kind: 'sms_unreadable',
          pdu: HI,
          reason: /^a fact sms_received that the link does not carry: sent_at: /,
        },
      ],
    );
  },
);
