// The journal remembers what was appended, in order, bounded, and never gives a sequence twice.
import { readFile } from 'node:fs/promises';
import t from 'tap';
import { COMPACT_BYTES_MIN, FACTS_MAX, JournalUnavailableError } from '#node-daemon/journal/journal.ts';
import { openJournalDisk } from '#node-daemon/journal/journal-disk.ts';
import { OUTCOME_KEPT_MS } from '#node-daemon/journal/journal-state.ts';
import type { NewRecord } from '#node-daemon/journal/record.ts';
import {
  bodies,
  brokenDisk,
  entry,
  fact,
  ICCID,
  intent,
  outcome,
  part,
  partRecord,
  received,
  setUpJournal,
} from './scripted-journal.ts';

t.test('appended records survive a crash', async (t) => {
  const { open } = await setUpJournal(t);
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
  const { open } = await setUpJournal(t);
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

t.test('a decision sees the parts of all that was appended before it, durable or not', async (t) => {
  const { open } = await setUpJournal(t);
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
  const { open } = await setUpJournal(t);
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
  const { open } = await setUpJournal(t);
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

t.test('sequences are not used again after all was acknowledged and compacted', async (t) => {
  const { open, path } = await setUpJournal(t);
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
  const { open } = await setUpJournal(t);
  const journal = await open();
  await journal.append(intent('done'), outcome('done'), intent('open'), received('a', entry(1)));
  await journal.append({ kind: 'part', group: 'g', iccid: ICCID, part: part(1), entry: entry(2) });
  await journal.append({ kind: 'deleted', entry: entry(2) });
  journal.acknowledge(1);
  const before = structuredClone({ ...journal.state });
  await journal.renew();
  const { journalId, ...after } = structuredClone({ ...(await open()).state });
  t.not(journalId, before.journalId);
  t.same(after.facts, new Map([[1, fact('a')]]), 'numbered from the start');
  for (const key of ['commands', 'entries', 'groups'] as const) t.same(after[key], before[key], key);
});

t.test('outcomes are kept for their time, and not longer', async (t) => {
  const { clock, open } = await setUpJournal(t);
  const journal = await open();
  await journal.append(intent('c1'), outcome('c1'), intent('open'));
  clock.advance(OUTCOME_KEPT_MS - 1);
  t.ok((await open()).state.commands.has('c1'));
  clock.advance(2);
  const later = await open();
  t.notOk(later.state.commands.has('c1'));
  t.ok(later.state.commands.has('open'), 'an intent waits for its outcome');
});

t.test('facts are sent after they are durable, in order', async (t) => {
  const { open } = await setUpJournal(t);
  const journal = await open();
  const reported: number[] = [];
  journal.onFact(() => reported.push(journal.state.facts.size));
  await journal.append(received('a'), received('b'));
  await journal.append(intent('c1'));
  t.same(reported, [2]);
});

t.test('an acknowledgement survives, never goes back and never beyond what was sent', async (t) => {
  const { clock, open } = await setUpJournal(t);
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
  const { open } = await setUpJournal(t);
  const journal = await open();
  await journal.append(received('a', entry(1)));
  await journal.append(received('b', { ...entry(1), digest: 'other' }));
  await journal.append({ kind: 'deleted', entry: entry(1) }, { kind: 'gone', entry: entry(1) });
  t.same([...journal.state.entries.values()], [{ entry: { ...entry(1), digest: 'other' }, deleted: false }]);
});

t.test('a closed journal refuses', async (t) => {
  const { open } = await setUpJournal(t);
  const journal = await open();
  await journal.close();
  await t.rejects(journal.append(received('a')), JournalUnavailableError);
});

t.test('beyond the bound of facts, messages are refused and outcomes are not', async (t) => {
  const { open } = await setUpJournal(t);
  const journal = await open();
  await journal.append(...Array.from({ length: FACTS_MAX }, () => received('x')));
  await t.rejects(journal.append(received('one more')), JournalUnavailableError);
  await t.rejects(journal.append(intent('c1')), JournalUnavailableError);
  await journal.append(outcome('c0'));
  t.equal(journal.state.facts.size, FACTS_MAX + 1);
});
