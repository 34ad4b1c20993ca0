// The contents of a file after a kill, a power cut and a broken disk.
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import t, { type Test } from 'tap';
import { Journal } from '#node-daemon/journal/journal.ts';
import { parseJournal } from '#node-daemon/journal/journal-contents.ts';
import { silentLogger } from '#shared/log.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

/** A line as it lies on disk, by the format's own words: checksum and JSON. */
const line = (record: object): string => {
  const json = JSON.stringify(record);
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`;
};
const HEAD = line({ kind: 'journal', format: 1, journalId: 'the-journal', nextSequence: 1, acknowledged: 0 });
const fact = (sequence: number): string =>
  line({
    kind: 'fact',
    sequence,
    fact: {
      kind: 'sms_received',
      iccid: '8901000000000000017',
      from: '+1',
      body: `message ${sequence}`,
      sent_at: null,
      received_at: '2026-11-21T08:00:00.000Z',
      partial: false,
    },
  });
const synced = (bytes: number): string => line({ kind: 'synced', bytes });
const ROOM = '\0'.repeat(5_000);
/** As many zeros in its place: a page that never reached the disk. */
const lost = (text: string): string => '\0'.repeat(text.length);
const parsed = (...pieces: string[]) => {
  const { records, goodBytes, damage } = parseJournal(Buffer.from(pieces.join('')));
  return { facts: records.filter(({ kind }) => kind === 'fact').length, goodBytes, damage };
};

t.test('the reserved room behind the records holds no record', async (t) => {
  const text = HEAD + synced(HEAD.length) + fact(1);
  t.same(parsed(text, ROOM), { facts: 1, goodBytes: text.length, damage: 'none' });
  t.same(parsed(text), { facts: 1, goodBytes: text.length, damage: 'none' });
});

t.test('a write that was cut, into room or at the end of the file', async (t) => {
  const good = HEAD + synced(HEAD.length) + fact(1);
  for (let length = 1; length < fact(2).length; length += 7) {
    const torn = { facts: 1, goodBytes: good.length, damage: 'torn' };
    t.same(parsed(good, fact(2).slice(0, length), ROOM), torn);
    t.same(parsed(good, fact(2).slice(0, length)), torn);
  }
});

t.test(
  'a page of the last write is missing: that write was never confirmed, it does not count',
  async (t) => {
    const durable = HEAD + synced(HEAD.length) + fact(1);
    const last = [synced(durable.length), fact(2), fact(3), fact(4)];
    t.same(parsed(durable, ...last), {
      facts: 4,
      goodBytes: durable.length + last.join('').length,
      damage: 'none',
    });
    const without = (missing: number): string[] =>
      last.map((piece, index) => (index === missing ? lost(piece) : piece));
    t.same(parsed(durable, ...without(1), ROOM).damage, 'torn');
    t.same(parsed(durable, ...without(1), ROOM).facts, 1);
    t.same(parsed(durable, ...without(2), ROOM), {
      facts: 2,
      goodBytes: durable.length + synced(durable.length).length + fact(2).length,
      damage: 'torn',
    });
    t.same(parsed(durable, ...without(0), ROOM).facts, 1, 'its mark is missing');
  },
);

t.test('damage in what a later write calls durable: only a broken disk does that', async (t) => {
  const first = HEAD + synced(HEAD.length) + fact(1) + fact(2);
  const broken = HEAD + synced(HEAD.length) + lost(fact(1)) + fact(2);
  t.same(parsed(broken, synced(first.length), fact(3)), {
    facts: 2,
    goodBytes: HEAD.length + synced(HEAD.length).length,
    damage: 'corrupt',
  });
});

async function openWith(t: Test, text: string): Promise<Journal> {
  const folder = temporaryFolder(t);
  await writeFile(join(folder, 'journal.log'), text);
  const clock = new ManualClock(Date.parse('2026-11-21T09:00:00Z'));
  const journal = await Journal.open({ folder, clock, log: silentLogger });
  t.teardown(() => journal.close());
  return journal;
}

t.test('a page of the last write is missing: the journal keeps its identity and its numbers', async (t) => {
  const durable = HEAD + synced(HEAD.length) + fact(1);
  const journal = await openWith(t, durable + synced(durable.length) + lost(fact(2)) + fact(3) + ROOM);
  t.equal(journal.state.journalId, 'the-journal');
  t.same([...journal.state.facts.keys()], [1]);
  t.equal(journal.state.nextSequence, 2);
});

t.test(
  'records without what is optional, an outcome without its intent, and a kind of the future',
  async (t) => {
    const at = '2026-11-21T08:00:00.000Z';
    const sent = { iccid: '8901000000000000017', to: '+15550001234' };
    const accepted = { status: 'accepted', message_references: [7], at };
    const part = {
      from: '+1',
      text: 'p',
      sentAt: null,
      receivedAt: at,
      reference: 1,
      referenceBits: 8,
      total: 2,
      part: 1,
    };
    const journal = await openWith(
      t,
      HEAD +
        line({ kind: 'outcome', commandId: 'done', ...sent, outcome: accepted }) +
        line({ kind: 'intent', commandId: 'open', ...sent, at }) +
        line({ kind: 'part', group: 'g', iccid: sent.iccid, part }) +
        line({ kind: 'a kind of the future', anything: true }) +
        fact(1) +
        line({ kind: 'ack', sequence: 1 }),
    );
    const { commands, groups } = journal.state;
    t.same(commands.get('done'), {
      ...sent,
      at,
      segments: 1,
      boot: undefined,
      references: [7],
      reported: [],
      outcome: accepted,
    });
    t.match(commands.get('open'), { outcome: undefined, boot: undefined, segments: 1 });
    t.same([...commands.sentAs(sent.iccid, 7)], ['done']);
    t.same([...commands.open], ['open']);
    t.equal(groups.get('g')?.parts.length, 1);
    t.equal(journal.state.acknowledged, 1);
  },
);

t.test('without a mark, damage before good records is a broken disk’s', async (t) => {
  t.equal(parsed(HEAD, fact(1), 'noise\n', fact(2)).damage, 'corrupt');
  t.equal(parsed(HEAD, fact(1), 'noise').damage, 'torn');
});

t.test('a closed journal leaves no room behind it', async (t) => {
  const folder = temporaryFolder(t);
  const journal = await Journal.open({ folder, clock: new ManualClock(), log: silentLogger });
  await journal.append({ kind: 'withdrawn', commandId: 'c' });
  const path = join(folder, 'journal.log');
  t.ok((await stat(path)).size > 100_000, 'room while it is open');
  await journal.close();
  const bytes = await readFile(path);
  t.equal(bytes.at(-1), 0x0a);
  t.equal(bytes.indexOf(0), -1);
});
