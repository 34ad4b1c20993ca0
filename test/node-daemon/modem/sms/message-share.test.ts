// The share of one SIM in the journal: a flood of its texts stays on it and in the network, and the other SIMs have their texts.
import t, { type Test } from 'tap';
import { SmsRecorder } from '#node-daemon/modem/sms/sms-recorder.ts';
import { readPdu } from '#node-daemon/sms/received-pdu.ts';
import { SIM_FACTS } from '#shared/link/messages.ts';
import { setUpInbox } from '../../../fixtures/nodes/scripted-inbox.ts';
import { lines, TEST_ICCID } from '../../../fixtures/nodes/scripted-port.ts';
import { until } from '../../../fixtures/until.ts';

const OTHER_ICCID = '8901000000000000025';
/** A DELIVER "Hi" from +15550000012, with this second of its time stamp. */
const hi = (second = 0): string => `07915155000000F0040B915155000010F2000052112111000${second}0002C834`;
const HI = hi();

async function setUp(t: Test) {
  const rig = await setUpInbox(t);
  const { clock, modem } = rig;
  const { journal } = await rig.start();
  const recorderOf = (iccid: string) =>
    new SmsRecorder({ iccid, journal, clock, sendingDone: () => Promise.resolve() });
  modem.port.on(/^AT\+CSMS\?$/, lines('+CSMS: 1,1,1,1', 'OK'));
  /** Gives the modem's SIM a text. Returns the acknowledgement: 1 for received, 2 for not received. */
  let given = 0;
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
  return { ...rig, flood, give, journal, recorderOf };
}

t.test('a SIM that floods is refused, and another is not', async (t) => {
  const { clock, flood, give, journal, recorderOf } = await setUp(t);
  await flood(TEST_ICCID, SIM_FACTS.burst - 1);
  t.equal(await give(), '1', 'the last of its share');
  journal.acknowledge(SIM_FACTS.burst);
  t.equal(await give(), '2', 'the network keeps it');
  await recorderOf(OTHER_ICCID).record(readPdu(HI));
  t.equal(journal.state.facts.countOf(OTHER_ICCID), 1);
  clock.advance(1_000 / SIM_FACTS.perSecond);
  t.equal(await give(), '1', 'one more, in time');
});

t.test('without a link, as many facts of a SIM wait as it may send at once', async (t) => {
  const { clock, flood, give, journal, openInbox } = await setUp(t);
  await flood(TEST_ICCID, SIM_FACTS.burst);
  clock.advance(24 * 60 * 60_000);
  t.equal(await give(), '2');
  t.equal(journal.state.facts.countOf(TEST_ICCID), SIM_FACTS.burst);
  journal.acknowledge(1);
  t.equal(await give(), '1');
  // Another session of the modem has the same share.
  openInbox(journal);
  await t.rejects(flood(TEST_ICCID, 1), { message: /already waiting for the control plane/ });
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
