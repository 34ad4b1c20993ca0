// Killed or without power at any step of sending: a message that a modem saw is never called unsent, and reported outcomes stay.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { AtChannel } from '#node-daemon/at/channel.ts';
import { Journal } from '#node-daemon/journal/journal.ts';
import { SmsOutbox } from '#node-daemon/modem/sms/sms-outbox.ts';
import { concludeUnfinished, MAYBE_SENT_MAX } from '#node-daemon/modem/sms/unfinished-commands.ts';
import { systemClock } from '#shared/clock.ts';
import type { SmsOutcome } from '#shared/link/messages.ts';
import { silentLogger } from '#shared/log.ts';
import { lines, ScriptedModem, TEST_ICCID } from '../../../fixtures/nodes/scripted-port.ts';
import { randomFrom } from '../../../fixtures/seeded-random.ts';
import { temporaryFolder } from '../../../fixtures/temporary-folder.ts';
import { RecordedDisk } from '../../journal/recorded-disk.ts';

const PDU = /^00[0-9A-F]{20,}$/;
const MESSAGES = 24;
const RUNS = 12;
/** Moments of each run at which the process is imagined to end. */
const MOMENTS = 25;

/** The state at a moment: the messages that the modem had, the outcomes that callers had, the contents of the disk. */
interface Moment {
  readonly given: readonly string[];
  readonly reported: ReadonlyMap<string, SmsOutcome>;
  readonly killed: Buffer;
  readonly powerless: Buffer;
}

async function sendAndWatch(t: Test, seed: number): Promise<Moment[]> {
  const random = randomFrom(seed);
  const folder = temporaryFolder(t);
  const disk = new RecordedDisk();
  const parts = { clock: systemClock, log: silentLogger };
  const journal = await Journal.open({ folder, ...parts, openDisk: disk.open, bootId: 'this boot' });
  const modem = new ScriptedModem();
  const channel = new AtChannel(modem.plug(), systemClock, silentLogger);
  const outbox = new SmsOutbox({
    random: Math.random,
    channel,
    journal,
    ...parts,
    isRegistered: () => true,
    confirmSim: async () => undefined,
  });
  const reported = new Map<string, SmsOutcome>();
  const given: string[] = [];
  const moments: Moment[] = [];
  const look = (): void => {
    if (moments.length >= MOMENTS || random(8) > 0) return;
    const left = { killed: disk.killed(random), powerless: disk.powerless(random) };
    moments.push({ ...left, given: [...given], reported: new Map(reported) });
  };
  modem.port.on(PDU, () => {
    // Each is given once, in the order of the queue.
    given.push(`c${given.length}`);
    look();
    if (random(6) === 0) return lines('+CMS ERROR: 500');
    return random(6) === 0 ? lines('+CMS ERROR: 38') : lines(`+CMGS: ${given.length}`, 'OK');
  });
  disk.onStep = look;
  const send = async (number: number): Promise<void> => {
    const params = { iccid: TEST_ICCID, to: '+15550001234', body: `message ${number}`, segments_max: 1 };
    const commandId = `c${number}`;
    reported.set(commandId, await outbox.send({ commandId, params, deadlineAt: Number.POSITIVE_INFINITY }));
    look();
  };
  await Promise.all(Array.from({ length: MESSAGES }, (_, number) => send(number)));
  await journal.close();
  t.equal(given.length, MESSAGES);
  return moments;
}

/** The outcomes that the next process reads from the remaining file. */
async function outcomesAfter(
  t: Test,
  left: Buffer,
  bootId: string,
): Promise<Map<string, SmsOutcome | undefined>> {
  const folder = temporaryFolder(t);
  await writeFile(join(folder, 'journal.log'), left);
  const parts = { clock: systemClock, log: silentLogger };
  const journal = await Journal.open({ folder, ...parts, bootId });
  await concludeUnfinished({ journal, ...parts });
  const outcomes = new Map([...journal.state.commands].map(([id, { outcome }]) => [id, outcome]));
  await journal.close();
  return outcomes;
}

/** The rules that hold after every end of the process. */
function check(
  t: Test,
  { given, reported }: Moment,
  outcomes: Map<string, SmsOutcome | undefined>,
  how: string,
): void {
  for (const [commandId, outcome] of reported)
    t.same(outcomes.get(commandId), outcome, `${how}: a reported message stays reported`);
  for (const commandId of given) {
    const outcome = outcomes.get(commandId);
    t.ok(outcome, `${how}: what the modem saw is remembered`);
    t.not(
      outcome?.status === 'rejected' && outcome.code,
      'not_sent',
      `${how}: what the modem saw is not unsent`,
    );
  }
}

t.test('at any step of sending', async (t) => {
  let settled = 0;
  for (let run = 1; run <= RUNS; run += 1) {
    const moments = await sendAndWatch(t, run);
    for (const moment of moments) {
      const after = await outcomesAfter(t, moment.killed, 'this boot');
      check(t, moment, after, `run ${run}, killed`);
      const left = [...after].filter(
        ([commandId, outcome]) =>
          outcome?.status === 'unknown' && /stopped/.test(outcome.message) && !moment.reported.has(commandId),
      );
      t.ok(left.length <= MAYBE_SENT_MAX, `${left.length} unknown after a kill`);
      settled += after.size;
      check(t, moment, await outcomesAfter(t, moment.powerless, 'the next boot'), `run ${run}, no power`);
    }
  }
  t.ok(settled > 1000, `${settled} commands were checked`);
});

t.test(
  'a message whose reference came in a report was accepted, with no answer and after a kill',
  async (t) => {
    const folder = temporaryFolder(t);
    const parts = { clock: systemClock, log: silentLogger };
    const journal = await Journal.open({ folder, ...parts });
    const intent = {
      kind: 'intent',
      iccid: TEST_ICCID,
      to: '+15550001234',
      at: '2026-11-21T08:00:00Z',
    } as const;
    await journal.append({ ...intent, commandId: 'one' }, { ...intent, commandId: 'two', segments: 2 });
    for (const [command_id, parts] of [
      ['one', 1],
      ['two', 2],
    ] as const) {
      const report = { kind: 'sms_report', iccid: TEST_ICCID, command_id, message_reference: 7 } as const;
      const pending = {
        recipient: '+15550001234',
        part: 1,
        parts,
        status: 'pending',
        tp_status: 0x20,
      } as const;
      await journal.append({ kind: 'fact', fact: { ...report, ...pending, at: '2026-11-21T08:00:01Z' } });
    }
    await concludeUnfinished({ journal, ...parts });
    const { commands } = journal.state;
    t.match(commands.get('one')?.outcome, { status: 'accepted', message_references: [7] });
    t.match(commands.get('two')?.outcome, { status: 'unknown' });
    await journal.close();
  },
);
