// A journal in a folder of its own, records to put into it, and a disk that refuses: for tests of the journal.
import { join } from 'node:path';
import type { Test } from 'tap';
import { Journal } from '#node-daemon/journal/journal.ts';
import {
  type JournalDisk,
  type OpenJournalDisk,
  openJournalDisk,
} from '#node-daemon/journal/journal-disk.ts';
import type { NewRecord, StorageEntry } from '#node-daemon/journal/record.ts';
import type { Fact } from '#shared/link/messages.ts';
import { type Logger, silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

export const ICCID = '8901000000000000017';
const NOW = Date.parse('2026-11-21T08:00:00Z');

/** A folder, and the journal of each life of a process in it. */
export async function setUpJournal(t: Test, log: Logger = silentLogger) {
  const folder = temporaryFolder(t);
  const clock = new ManualClock(NOW);
  const open = async (openDisk?: OpenJournalDisk): Promise<Journal> => {
    const journal = await Journal.open({
      folder,
      clock,
      log,
      ...(openDisk === undefined ? {} : { openDisk }),
    });
    t.teardown(() => journal.close());
    return journal;
  };
  return { folder, clock, open, path: join(folder, 'journal.log') };
}

export const fact = (body: string): Fact => ({
  kind: 'sms_received',
  iccid: ICCID,
  from: '+15550000012',
  body,
  sent_at: null,
  received_at: '2026-11-21T08:00:00.000Z',
  partial: false,
});
export const received = (body: string, entry?: StorageEntry): NewRecord => ({
  kind: 'fact',
  fact: fact(body),
  ...(entry === undefined ? {} : { entry }),
});
export const entry = (index: number): StorageEntry => ({
  iccid: ICCID,
  storage: 'ME',
  index,
  digest: `d${index}`,
});
export const intent = (commandId: string): NewRecord => ({
  kind: 'intent',
  commandId,
  iccid: ICCID,
  to: '+15550001234',
  at: '2026-11-21T08:00:00.000Z',
});
export const outcome = (commandId: string): NewRecord => ({
  kind: 'fact',
  fact: {
    kind: 'sms_outcome',
    command_id: commandId,
    outcome: { status: 'accepted', message_references: [7], at: '2026-11-21T08:00:00.000Z' },
  },
});
export const bodies = (journal: Journal): unknown[] =>
  [...journal.state.facts].map(([sequence, kept]) => [
    sequence,
    kept.kind === 'sms_received' ? kept.body : kept.kind,
  ]);

/** A disk whose switch makes it refuse, after it has written half of what it got. */
export function brokenDisk() {
  const disk = { failure: undefined as Error | undefined, truncates: true };
  const openDisk: OpenJournalDisk = async (path) => {
    if (disk.failure !== undefined) throw disk.failure;
    const file = await openJournalDisk(path);
    const broken: JournalDisk = {
      async write(bytes, position) {
        if (disk.failure === undefined) return file.write(bytes, position);
        await file.write(bytes.subarray(0, bytes.length / 2), position);
        throw disk.failure;
      },
      sync: () => file.sync(),
      async truncate(length) {
        if (!disk.truncates) throw new Error('EIO');
        return file.truncate(length);
      },
      isAt: (at) => file.isAt(at),
      close: () => file.close(),
    };
    return broken;
  };
  return { disk, openDisk };
}

export const part = (number: number) => ({
  from: '+1',
  text: `part ${number}`,
  sentAt: null,
  receivedAt: '2026-11-21T08:00:00.000Z',
  reference: 1,
  referenceBits: 8 as const,
  total: 9,
  part: number,
});
export const partRecord = (number: number): NewRecord => ({
  kind: 'part',
  group: 'g',
  iccid: ICCID,
  part: part(number),
});
