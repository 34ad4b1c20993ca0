// A disk takes back outcomes that were written, then the process is killed: the next process does not call their messages unsent.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Journal } from '#node-daemon/journal/journal.ts';
import { openJournalDisk } from '#node-daemon/journal/journal-disk.ts';
import type { NewRecord } from '#node-daemon/journal/record.ts';
import { concludeUnfinished } from '#node-daemon/modem/sms/unfinished-commands.ts';
import { systemClock as clock } from '#shared/clock.ts';
import type { SmsOutcome } from '#shared/link/messages.ts';
import { silentLogger as log } from '#shared/log.ts';
import { temporaryFolder } from '../../../fixtures/temporary-folder.ts';

const BOOT = 'this boot';
const AT = new Date().toISOString();
const IDS = ['c0', 'c1', 'c2', 'c3', 'c4', 'c5'];
/** Outcomes of all but the last were written. */
const GIVEN = IDS.slice(0, -1);

const intent = (commandId: string): NewRecord => ({
  kind: 'intent',
  commandId,
  iccid: '8901000000000000017',
  to: '+15550001234',
  at: AT,
});
const accepted = (commandId: string): NewRecord => ({
  kind: 'fact',
  fact: {
    kind: 'sms_outcome',
    command_id: commandId,
    outcome: { status: 'accepted', message_references: [7], at: AT },
  },
});

/** A journal with durable intents, whose disk refuses to make their outcomes durable. */
async function refuseOutcomes(t: Test, { refusesMarks = false } = {}) {
  const folder = temporaryFolder(t);
  const read = (): Promise<Buffer> => readFile(join(folder, 'journal.log'));
  /** The file as it was right before it was cut. */
  const uncut: Buffer[] = [];
  const disk = { refuses: false, refusesWrites: false };
  const journal = await Journal.open({
    folder,
    clock,
    log,
    bootId: BOOT,
    openDisk: async (path) => {
      const file = await openJournalDisk(path);
      return {
        ...file,
        write: async (bytes, position) => {
          if (disk.refusesWrites) throw new Error('EIO');
          await file.write(bytes, position);
        },
        truncate: async (length) => {
          uncut.push(await read().catch(() => Buffer.alloc(0)));
          await file.truncate(length);
        },
        sync: async () => {
          if (!disk.refuses) return file.sync();
          disk.refuses = false;
          disk.refusesWrites = refusesMarks;
          throw new Error('EIO');
        },
      };
    },
  });
  t.teardown(() => journal.close());
  await journal.append(...IDS.map(intent));
  disk.refuses = true;
  await t.rejects(journal.append(...GIVEN.map(accepted)));
  disk.refusesWrites = false;
  return { journal, read, uncut };
}

/** The outcomes that the next process of the same boot reads from a file. */
async function outcomesOf(t: Test, left: Buffer): Promise<Map<string, SmsOutcome | undefined>> {
  const folder = temporaryFolder(t);
  await writeFile(join(folder, 'journal.log'), left);
  const journal = await Journal.open({ folder, clock, log, bootId: BOOT });
  await concludeUnfinished({ journal, clock, log });
  const outcomes = new Map([...journal.state.commands].map(([id, { outcome }]) => [id, outcome]));
  await journal.close();
  return outcomes;
}

t.test('killed after it, all are unknown', async (t) => {
  const { read } = await refuseOutcomes(t);
  const outcomes = await outcomesOf(t, await read());
  for (const id of IDS) t.equal(outcomes.get(id)?.status, 'unknown', id);
});

t.test('killed after the journal was rewritten since, all are unknown', async (t) => {
  const { journal, read } = await refuseOutcomes(t);
  await journal.renew();
  const outcomes = await outcomesOf(t, await read());
  for (const id of IDS) t.equal(outcomes.get(id)?.status, 'unknown', id);
});

t.test('records are not taken back if the mark cannot be written', async (t) => {
  const { read } = await refuseOutcomes(t, { refusesMarks: true });
  const outcomes = await outcomesOf(t, await read());
  for (const id of GIVEN) t.equal(outcomes.get(id)?.status, 'accepted', id);
});

t.test('killed between the mark and the cut, nothing behind the mark counts', async (t) => {
  const { uncut } = await refuseOutcomes(t);
  const outcomes = await outcomesOf(t, uncut.at(-1) ?? Buffer.alloc(0));
  for (const id of IDS) t.equal(outcomes.get(id)?.status, 'unknown', id);
});
