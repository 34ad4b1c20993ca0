// The journal survives crashes at any byte, broken and full disks, and never gives a sequence twice.
import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  COMPACT_BYTES_MIN,
  FACTS_MAX,
  Journal,
  JournalUnavailableError,
} from '#node-daemon/journal/journal.ts';
import {
  type JournalDisk,
  type OpenJournalDisk,
  openJournalDisk,
} from '#node-daemon/journal/journal-disk.ts';
import { OUTCOME_KEPT_MS } from '#node-daemon/journal/journal-state.ts';
import type { NewRecord, StorageEntry } from '#node-daemon/journal/record.ts';
import type { Fact } from '#shared/link/messages.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/manual-clock.ts';

const ICCID = '8901000000000000017';
const NOW = Date.parse('2026-11-21T08:00:00Z');

async function setUp(t: Test) {
  const folder = await mkdtemp(join(tmpdir(), 'journal-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const clock = new ManualClock(NOW);
  const open = async (openDisk?: OpenJournalDisk): Promise<Journal> => {
    const journal = await Journal.open({
      ...{ folder, clock, log: silentLogger },
      ...(openDisk === undefined ? {} : { openDisk }),
    });
    t.teardown(() => journal.close());
    return journal;
  };
  return { folder, clock, open, path: join(folder, 'journal.log') };
}

const fact = (body: string): Fact => ({
  ...{ kind: 'sms_received', iccid: ICCID, from: '+15550000012', body },
  ...{ sent_at: null, received_at: '2026-11-21T08:00:00.000Z', partial: false },
});
const received = (body: string, entry?: StorageEntry): NewRecord => ({
  ...{ kind: 'fact', fact: fact(body) },
  ...(entry === undefined ? {} : { entry }),
});
const entry = (index: number): StorageEntry => ({ iccid: ICCID, storage: 'ME', index, digest: `d${index}` });
const intent = (commandId: string): NewRecord => ({
  ...{ kind: 'intent', commandId, iccid: ICCID, to: '+15550001234', at: '2026-11-21T08:00:00.000Z' },
});
const outcome = (commandId: string): NewRecord => ({
  kind: 'fact',
  fact: {
    ...{ kind: 'sms_outcome', command_id: commandId },
    outcome: { status: 'accepted', message_references: [7], at: '2026-11-21T08:00:00.000Z' },
  },
});
const bodies = (journal: Journal): unknown[] =>
  [...journal.state.facts].map(([sequence, kept]) => [
    sequence,
    kept.kind === 'sms_received' ? kept.body : kept.kind,
  ]);

/** A disk whose switch makes it refuse, after it has written half of what it got. */
function brokenDisk() {
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
      close: () => file.close(),
    };
    return broken;
  };
  return { disk, openDisk };
}

t.test('what was appended is there after a crash', async (t) => {
  const { open } = await setUp(t);
  const first = await open();
  await first.append(received('a'), received('b', entry(1)));
  await first.append(intent('c1'));
  // No close: the file is what a killed process leaves.
  const second = await open();
  t.equal(second.state.journalId, first.state.journalId);
  t.same(bodies(second), [
    [1, 'a'],
    [2, 'b'],
  ]);
  t.equal(second.state.commands.get('c1')?.outcome, undefined);
  t.same([...second.state.entries.values()], [{ entry: entry(1), deleted: false }]);
});

t.test('appends that meet become durable with one write', async (t) => {
  const { open } = await setUp(t);
  let syncs = 0;
  const journal = await open(async (path) => {
    const file = await openJournalDisk(path);
    return {
      ...file,
      sync() {
        syncs += 1;
        return file.sync();
      },
    };
  });
  syncs = 0;
  await Promise.all(Array.from({ length: 100 }, (_, index) => journal.append(received(`m${index}`))));
  t.ok(syncs <= 2, `${syncs} times fdatasync`);
  t.equal(journal.state.nextSequence, 101);
});

t.test('cut after any byte, the file has the records before it and takes new ones', async (t) => {
  const { open, path } = await setUp(t);
  const journal = await open();
  await journal.append(received('first'));
  await journal.close();
  const before = (await readFile(path)).length;
  const next = await open();
  await next.append(received('second'));
  await next.close();
  const whole = await readFile(path);
  t.ok(whole.length > before + 50);
  for (let length = before; length < whole.length; length += 1) {
    await writeFile(path, whole.subarray(0, length));
    const torn = await open();
    t.same(bodies(torn), [[1, 'first']], `cut at ${length}`);
    await torn.append(received('third'));
    await torn.close();
    const again = await open();
    t.same(bodies(again), [
      [1, 'first'],
      [2, 'third'],
    ]);
    t.equal(again.state.journalId, journal.state.journalId);
    await again.close();
  }
});

t.test('noise at the end is cut off', async (t) => {
  const { open, path } = await setUp(t);
  const journal = await open();
  await journal.append(received('a'));
  await appendFile(path, `${'\0'.repeat(512)}\n01234567 {"kind":"fact"}\n`);
  t.same(bodies(await open()), [[1, 'a']]);
});

t.test(
  'damage in the middle: what can be read is kept under a new identity, the file is moved aside',
  async (t) => {
    const { folder, open, path } = await setUp(t);
    const journal = await open();
    for (const body of ['a', 'b', 'c']) await journal.append(received(body));
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace('"body":"b"', '"body":"x"'));
    const mended = await open();
    t.not(mended.state.journalId, journal.state.journalId, 'sequences of the old one may have been used');
    t.same(bodies(mended), [
      [1, 'a'],
      [2, 'c'],
    ]);
    const aside = (await readdir(folder)).find((name) => name.startsWith('journal.corrupt-'));
    t.ok(aside);
    await mended.append(received('d'));
    t.same(bodies(await open()), [
      [1, 'a'],
      [2, 'c'],
      [3, 'd'],
    ]);
  },
);

t.test('killed while a damaged journal is mended, the next start finds all that can be read', async (t) => {
  const { folder, open, path } = await setUp(t);
  const journal = await open();
  for (const body of ['a', 'b', 'c']) await journal.append(received(body));
  const text = await readFile(path, 'utf8');
  const damaged = text.replace('"body":"b"', '"body":"x"');
  await writeFile(path, damaged);
  for (let start = 0; start < 3; start += 1) {
    await t.rejects(
      open(async () => {
        throw new Error('killed');
      }),
      /killed/,
    );
  }
  t.same(bodies(await open()), [
    [1, 'a'],
    [2, 'c'],
  ]);
  const aside = (await readdir(folder)).filter((name) => name.startsWith('journal.corrupt-'));
  t.equal(aside.length, 1, 'kept once, however often the start was tried');
  t.equal(await readFile(join(folder, aside[0] ?? ''), 'utf8'), damaged, 'as it was');
});

const part = (number: number) => ({
  ...{ from: '+1', text: `part ${number}`, sentAt: null, receivedAt: '2026-11-21T08:00:00.000Z' },
  ...{ reference: 1, referenceBits: 8 as const, total: 9, part: number },
});
const partRecord = (number: number): NewRecord => ({
  ...{ kind: 'part', group: 'g', iccid: ICCID, part: part(number) },
});

t.test('a decision sees the parts of all that was appended before it, durable or not', async (t) => {
  const { open } = await setUp(t);
  const journal = await open();
  const seen: number[] = [];
  const decide = (...records: NewRecord[]) =>
    journal.appendDecided((groups) => {
      seen.push(groups.get('g')?.parts.length ?? 0);
      return records;
    });
  await Promise.all([
    decide(),
    journal.append(partRecord(1)),
    decide(partRecord(2)),
    decide(partRecord(3)),
    decide({ ...received('joined'), group: 'g' } as NewRecord),
    decide(partRecord(1)),
    decide(),
  ]);
  t.same(seen, [0, 1, 2, 3, 0, 1]);
  t.same(journal.state.groups.get('g')?.parts, [part(1)]);
  t.same((await open()).state.groups.get('g')?.parts, [part(1)]);
});

t.test('parts that the disk refused are not seen by the next decision', async (t) => {
  const { open } = await setUp(t);
  const { disk, openDisk } = brokenDisk();
  const journal = await open(openDisk);
  disk.failure = new Error('ENOSPC');
  await t.rejects(journal.append(partRecord(1)), JournalUnavailableError);
  disk.failure = undefined;
  let seen: unknown = 'nothing';
  await journal.appendDecided((groups) => {
    seen = groups.get('g');
    return [];
  });
  t.equal(seen, undefined);
});

t.test('a decision that throws or does not fit is refused, and what waits behind it goes on', async (t) => {
  const { open } = await setUp(t);
  const journal = await open();
  const failed = journal.appendDecided(() => {
    throw new Error('a mistake');
  });
  const next = journal.append(received('next'));
  await t.rejects(failed, /a mistake/);
  await next;
  await journal.append(...Array.from({ length: FACTS_MAX - 1 }, () => received('x')));
  await t.rejects(
    journal.appendDecided(() => [received('one more')]),
    JournalUnavailableError,
  );
  await journal.appendDecided(() => [{ kind: 'read', entry: entry(1) }]);
  t.equal(journal.state.entries.size, 1);
});

t.test('a file of noise alone is moved aside', async (t) => {
  const { folder, open, path } = await setUp(t);
  await writeFile(path, 'this is no journal');
  const journal = await open();
  t.equal(journal.state.nextSequence, 1);
  t.ok((await readdir(folder)).some((name) => name.startsWith('journal.corrupt-')));
});

t.test('sequences are not used again after all was acknowledged and compacted', async (t) => {
  const { open, path } = await setUp(t);
  const journal = await open();
  const large = 'x'.repeat(10_000);
  for (let sent = 0; sent < COMPACT_BYTES_MIN; sent += 200_000) {
    await Promise.all(Array.from({ length: 20 }, () => journal.append(received(large))));
    journal.acknowledge(journal.state.nextSequence - 1);
  }
  await journal.append(received('last'));
  const next = journal.state.nextSequence;
  journal.acknowledge(next - 1);
  await journal.close();
  t.ok((await readFile(path)).length < COMPACT_BYTES_MIN / 2, 'it was compacted');
  const again = await open();
  t.same(bodies(again), []);
  t.equal(again.state.acknowledged, next - 1);
  await again.append(received('new'));
  t.same(bodies(again), [[next, 'new']]);
});

t.test('compaction keeps facts, outcomes, entries and parts', async (t) => {
  const { open } = await setUp(t);
  const journal = await open();
  await journal.append(intent('done'), outcome('done'), intent('open'), received('a', entry(1)));
  await journal.append({ kind: 'part', group: 'g', iccid: ICCID, part: part(1), entry: entry(2) });
  await journal.append({ kind: 'deleted', entry: entry(2) });
  journal.acknowledge(1);
  const before = structuredClone({ ...journal.state });
  await journal.renew();
  const { journalId, ...after } = structuredClone({ ...(await open()).state });
  t.not(journalId, before.journalId);
  t.same(after.facts, new Map([[1, fact('a')]]), 'numbered anew');
  for (const key of ['commands', 'entries', 'groups'] as const) t.same(after[key], before[key], key);
});

t.test('a crash in the middle of a compaction leaves the old file', async (t) => {
  const { open, path } = await setUp(t);
  const journal = await open();
  await journal.append(received('a'));
  await writeFile(`${path}.new`, 'half of a new');
  t.same(bodies(await open()), [[1, 'a']]);
});

t.test('outcomes are kept for their time, and not longer', async (t) => {
  const { clock, open } = await setUp(t);
  const journal = await open();
  await journal.append(intent('c1'), outcome('c1'), intent('open'));
  clock.advance(OUTCOME_KEPT_MS - 1);
  t.ok((await open()).state.commands.has('c1'));
  clock.advance(2);
  const later = await open();
  t.notOk(later.state.commands.has('c1'));
  t.ok(later.state.commands.has('open'), 'an intent waits for its outcome');
});

t.test('a full disk refuses, loses nothing and is written again when there is room', async (t) => {
  const { open } = await setUp(t);
  const { disk, openDisk } = brokenDisk();
  const journal = await open(openDisk);
  await journal.append(received('a'));
  disk.failure = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
  await t.rejects(journal.append(received('b')), JournalUnavailableError);
  t.same(bodies(journal), [[1, 'a']], 'nothing counts that is not durable');
  disk.failure = undefined;
  await journal.append(received('c'));
  const kept = [
    [1, 'a'],
    [2, 'c'],
  ];
  t.same(bodies(journal), kept);
  t.same(bodies(await open()), kept);
});

t.test('a disk that cannot even be cut back is rewritten as a whole', async (t) => {
  const { open } = await setUp(t);
  const { disk, openDisk } = brokenDisk();
  const journal = await open(openDisk);
  await journal.append(received('a'));
  Object.assign(disk, { failure: new Error('EIO'), truncates: false });
  await t.rejects(journal.append(received('b')), JournalUnavailableError);
  await t.rejects(journal.append(received('c')), JournalUnavailableError);
  Object.assign(disk, { failure: undefined, truncates: true });
  await journal.append(received('d'));
  t.same(bodies(await open()), [
    [1, 'a'],
    [2, 'd'],
  ]);
});

t.test('facts are told after they are durable, in order', async (t) => {
  const { open } = await setUp(t);
  const journal = await open();
  const told: number[] = [];
  journal.onFact(() => told.push(journal.state.facts.size));
  await journal.append(received('a'), received('b'));
  await journal.append(intent('c1'));
  t.same(told, [2]);
});

t.test('an acknowledgement survives, never goes back and never beyond what was sent', async (t) => {
  const { clock, open } = await setUp(t);
  const journal = await open();
  await journal.append(received('a'), received('b'), received('c'));
  journal.acknowledge(2);
  journal.acknowledge(1);
  t.same(bodies(journal), [[3, 'c']]);
  clock.advance(1_000);
  await journal.close();
  const again = await open();
  t.equal(again.state.acknowledged, 2);
  again.acknowledge(99);
  t.equal(again.state.acknowledged, 3);
});

t.test('an entry is forgotten only for the message that lay there', async (t) => {
  const { open } = await setUp(t);
  const journal = await open();
  await journal.append(received('a', entry(1)));
  await journal.append(received('b', { ...entry(1), digest: 'other' }));
  await journal.append({ kind: 'deleted', entry: entry(1) }, { kind: 'gone', entry: entry(1) });
  t.same([...journal.state.entries.values()], [{ entry: { ...entry(1), digest: 'other' }, deleted: false }]);
});

t.test('a closed journal refuses', async (t) => {
  const { open } = await setUp(t);
  const journal = await open();
  await journal.close();
  await t.rejects(journal.append(received('a')), JournalUnavailableError);
});

t.test('beyond the bound of facts, messages are refused and outcomes are not', async (t) => {
  const { open } = await setUp(t);
  const journal = await open();
  await journal.append(...Array.from({ length: FACTS_MAX }, () => received('x')));
  await t.rejects(journal.append(received('one more')), JournalUnavailableError);
  await t.rejects(journal.append(intent('c1')), JournalUnavailableError);
  await journal.append(outcome('c0'));
  t.equal(journal.state.facts.size, FACTS_MAX + 1);
});
