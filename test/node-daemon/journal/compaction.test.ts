// Compaction: appends go on under it, the process never stands still, and whatever ends it leaves a whole journal.
import { cpSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { COMMANDS_MAX } from '#node-daemon/journal/command-map.ts';
import { COMPACT_BYTES_MIN, Journal, type JournalOptions } from '#node-daemon/journal/journal.ts';
import { openJournalDisk } from '#node-daemon/journal/journal-disk.ts';
import { ENTRIES_MAX, type JournalState, snapshotOf } from '#node-daemon/journal/journal-state.ts';
import { encodeRecord, type NewRecord } from '#node-daemon/journal/record.ts';
import { systemClock } from '#shared/clock.ts';
import { silentLogger } from '#shared/log.ts';
import { randomFrom } from '../../fixtures/seeded-random.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

const ICCID = '8901000000000000017';
const AT = new Date().toISOString();

const open = (folder: string, change: Partial<JournalOptions> = {}): Promise<Journal> =>
  Journal.open({ folder, clock: systemClock, log: silentLogger, ...change });

const received = (body: string): NewRecord => ({
  kind: 'fact',
  fact: {
    kind: 'sms_received',
    iccid: ICCID,
    from: '+15550000012',
    body,
    sent_at: null,
    received_at: AT,
    partial: false,
  },
});
const sent = (commandId: string): NewRecord[] => [
  { kind: 'intent', commandId, iccid: ICCID, to: '+15550001234', at: AT },
  {
    kind: 'fact',
    fact: {
      kind: 'sms_outcome',
      command_id: commandId,
      outcome: { status: 'accepted', message_references: [7], at: AT },
    },
  },
];

/** Processor time of this process in milliseconds: other processes do not count. */
const processorMs = (since?: NodeJS.CpuUsage): number => {
  const { system, user } = process.cpuUsage(since);
  return (system + user) / 1000;
};

function timeOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  return processorMs(before);
}

/** Returns a function that ends it, and returns the most that passed between two turns of the event loop. */
function watchTurns(): () => number {
  let maxMs = 0;
  let before = process.cpuUsage();
  const turns = setInterval(() => {
    maxMs = Math.max(maxMs, processorMs(before));
    before = process.cpuUsage();
  }, 1);
  return () => {
    clearInterval(turns);
    return maxMs;
  };
}

t.test(
  'with as many commands as are remembered the process stands still for milliseconds only',
  async (t) => {
    const folder = temporaryFolder(t);
    const journal = await open(folder);
    for (let first = 0; first < COMMANDS_MAX; first += 5_000) {
      await journal.append(...Array.from({ length: 5_000 }, (_, index) => sent(`c${first + index}`)).flat());
      journal.acknowledge(journal.state.nextSequence - 1);
    }
    t.equal(journal.state.commands.size, COMMANDS_MAX);
    const sizeOf = async (): Promise<number> => (await stat(join(folder, 'journal.log'))).size;
    let before = await sizeOf();
    const wholeMs = timeOf(() => [...snapshotOf(journal.state as JournalState)].map(encodeRecord).join(''));
    const endOfWatch = watchTurns();
    // Large facts make the file outgrow its compact form soon.
    for (let isCompact = false; !isCompact; ) {
      await journal.append(received('x'.repeat(30_000)));
      journal.acknowledge(journal.state.nextSequence - 1);
      if (journal.state.nextSequence % 50 > 0) continue;
      const size = await sizeOf();
      isCompact = size < before;
      before = size;
    }
    const blockedMs = endOfWatch();
    t.comment(`blocked at most ${blockedMs.toFixed(0)} ms where all at once is ${wholeMs.toFixed(0)} ms`);
    t.ok(blockedMs < wholeMs / 2, 'never for the time that the whole copy takes');
    await journal.close();
    const again = await open(folder);
    t.teardown(() => again.close());
    t.equal(again.state.commands.size, COMMANDS_MAX, 'nothing was forgotten');
  },
);

t.test('killed at any moment under compactions, all that was durable is there', async (t) => {
  const folder = temporaryFolder(t);
  const random = randomFrom(20_261_121);
  const copies: { folder: string; durable: Map<number, string>; acknowledged: number }[] = [];
  const durable = new Map<number, string>();
  const copyNow = (): void => {
    if (copies.length >= 40 || random(30) > 0) return;
    const copy = temporaryFolder(t);
    cpSync(folder, copy, { recursive: true });
    copies.push({ folder: copy, durable: new Map(durable), acknowledged: journal.state.acknowledged });
  };
  let rewritten = 0;
  const journal = await open(folder, {
    openDisk: async (path) => {
      if (path.endsWith('.compact')) rewritten += 1;
      const disk = await openJournalDisk(path);
      return {
        ...disk,
        async write(bytes, position) {
          await disk.write(bytes, position);
          copyNow();
        },
        async sync() {
          copyNow();
          await disk.sync();
          copyNow();
        },
      };
    },
  });
  const append = async (number: number): Promise<void> => {
    const body = `${number} ${'y'.repeat(random(8_000))}`;
    await journal.append(received(body));
    for (const [sequence, fact] of journal.state.facts) {
      if (fact.kind === 'sms_received') durable.set(sequence, fact.body);
    }
    if (random(10) === 0) journal.acknowledge(journal.state.nextSequence - 1 - random(3));
    for (const sequence of durable.keys()) {
      if (sequence <= journal.state.acknowledged) durable.delete(sequence);
    }
  };
  for (let number = 0; number < 1_200; number += 4) {
    await Promise.all([0, 1, 2, 3].map((offset) => append(number + offset)));
  }
  await journal.close();
  t.ok(rewritten > 1, `${rewritten} compactions`);
  t.ok(copies.length > 20, `${copies.length} moments`);
  for (const copy of copies) {
    const left = await open(copy.folder);
    t.equal(left.state.journalId, journal.state.journalId);
    for (const [sequence, body] of copy.durable) {
      const fact = left.state.facts.get(sequence);
      t.ok(fact?.kind === 'sms_received' && fact.body === body, `fact ${sequence}`);
    }
    await left.close();
  }
});

t.test('a disk that has no room for the compact copy: the journal goes on as it is', async (t) => {
  const folder = temporaryFolder(t);
  let refusals = 0;
  const journal = await open(folder, {
    openDisk: async (path) => {
      if (!path.endsWith('.compact')) return openJournalDisk(path);
      refusals += 1;
      throw new Error('ENOSPC');
    },
  });
  const many = COMPACT_BYTES_MIN / 30_000 + 3;
  for (let number = 0; number < many; number += 1) await journal.append(received('x'.repeat(30_000)));
  await until('the try', () => refusals > 0);
  await journal.append(received('last'));
  const { nextSequence } = journal.state;
  t.equal(journal.isFailing, false);
  await journal.close();
  const again = await open(folder);
  t.teardown(() => again.close());
  t.equal(again.state.nextSequence, nextSequence);
});

t.test('renewed under a compaction, the new identity stays', async (t) => {
  const folder = temporaryFolder(t);
  const journal = await open(folder);
  const writes = Array.from({ length: 60 }, () => journal.append(received('x'.repeat(30_000))));
  await writes[45];
  await journal.renew();
  await Promise.all(writes);
  await journal.append(received('last'));
  const { journalId, nextSequence } = journal.state;
  await journal.close();
  const again = await open(folder);
  t.teardown(() => again.close());
  t.equal(again.state.journalId, journalId);
  t.equal(again.state.nextSequence, nextSequence);
  t.equal(again.state.facts.size, 61);
});

t.test('entries of SIMs that never come back are forgotten, oldest first', async (t) => {
  const journal = await open(temporaryFolder(t));
  t.teardown(() => journal.close());
  const entry = (index: number) => ({ iccid: ICCID, storage: 'ME', index, digest: `d${index}` });
  const reads = Array.from({ length: ENTRIES_MAX }, (_, index) => ({
    kind: 'read' as const,
    entry: entry(index),
  }));
  await journal.append(...reads);
  await journal.append({ kind: 'read', entry: entry(0) }, { kind: 'read', entry: entry(ENTRIES_MAX) });
  t.equal(journal.state.entries.size, ENTRIES_MAX);
  t.ok(journal.state.entries.has(`${ICCID}/ME/0`), 'seen again');
  t.notOk(journal.state.entries.has(`${ICCID}/ME/1`));
});
