// The answer to a message comes after its time, while the disk still has the unknown outcome in its hands.
import t, { type Test } from 'tap';
import { AtChannel } from '#node-daemon/at/channel.ts';
import { Journal } from '#node-daemon/journal/journal.ts';
import { openJournalDisk } from '#node-daemon/journal/journal-disk.ts';
import { SmsOutbox } from '#node-daemon/modem/sms/sms-outbox.ts';
import { SUBMIT_TIMEOUT_MS } from '#node-daemon/modem/sms/sms-submission.ts';
import { silentLogger as log } from '#shared/log.ts';
import { ManualClock } from '../../../fixtures/clocks/manual-clock.ts';
import { PARAMS, PDU } from '../../../fixtures/nodes/scripted-outbox.ts';
import { lines, ScriptedModem } from '../../../fixtures/nodes/scripted-port.ts';
import { temporaryFolder } from '../../../fixtures/temporary-folder.ts';
import { until } from '../../../fixtures/until.ts';

/** More than the time after which a refused outcome is tried again. */
const RETRY_MS = 6_000;

/** Sends, lets the answer come late while a sync goes on, and ends that sync. */
async function answerLate(t: Test, end: 'taken' | 'refused') {
  const folder = temporaryFolder(t);
  const clock = new ManualClock(Date.parse('2026-11-21T08:00:00Z'));
  let gate: Promise<void> | undefined;
  let isSyncing = false;
  const journal = await Journal.open({
    folder,
    clock,
    log,
    openDisk: async (path) => {
      const file = await openJournalDisk(path);
      const sync = async (): Promise<void> => {
        isSyncing = gate !== undefined;
        await gate;
        await file.sync();
      };
      return { ...file, sync };
    },
  });
  t.teardown(() => journal.close());
  const modem = new ScriptedModem();
  const channel = new AtChannel(modem.plug(), clock, log);
  modem.port.on(PDU, () => undefined);
  const outbox = new SmsOutbox({
    random: Math.random,
    channel,
    journal,
    clock,
    log,
    isRegistered: () => true,
    confirmSim: async () => undefined,
  });
  const sent = outbox.send({ commandId: 'c', params: PARAMS, deadlineAt: Number.POSITIVE_INFINITY });
  await until('the message', () => modem.port.count(PDU) === 1);
  let open: () => void = () => undefined;
  gate = new Promise((resolve, reject) => {
    open = end === 'taken' ? resolve : () => reject(new Error('EIO'));
  });
  clock.advance(SUBMIT_TIMEOUT_MS);
  await until('the outcome on its way', () => isSyncing);
  modem.port.say(lines('+CMGS: 7', 'OK'));
  gate = undefined;
  open();
  t.equal((await sent).status, 'unknown');
  return { clock, outcome: () => journal.state.commands.get('c')?.outcome };
}

const ACCEPTED = { status: 'accepted', message_references: [7] };

t.test('a late answer counts once the disk is done', async (t) => {
  const { outcome } = await answerLate(t, 'taken');
  await until('the answer', () => outcome()?.status === 'accepted');
  t.match(outcome(), ACCEPTED);
});

t.test('a late answer counts also if the disk refuses at first', async (t) => {
  const { clock, outcome } = await answerLate(t, 'refused');
  clock.advance(RETRY_MS);
  await until('the answer', () => outcome()?.status === 'accepted');
  t.match(outcome(), ACCEPTED);
});
