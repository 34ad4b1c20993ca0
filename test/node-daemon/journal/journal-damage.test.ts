// The journal survives crashes at any byte, broken disks and full ones.
import { appendFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { CALM_MS } from '#node-daemon/journal/disk-trouble.ts';
import { JournalUnavailableError } from '#node-daemon/journal/journal.ts';
import { openJournalDisk } from '#node-daemon/journal/journal-disk.ts';
import { bodies, brokenDisk, received, setUpJournal } from './scripted-journal.ts';

t.test('cut after any byte, the file has the records before it and takes new ones', async (t) => {
  const { open, path } = await setUpJournal(t);
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
  const { open, path } = await setUpJournal(t);
  const journal = await open();
  await journal.append(received('a'));
  await appendFile(path, `${'\0'.repeat(512)}\n01234567 {"kind":"fact"}\n`);
  t.same(bodies(await open()), [[1, 'a']]);
});

t.test(
  'damage in the middle: what can be read is kept under a new identity, the file is moved aside',
  async (t) => {
    const { folder, open, path } = await setUpJournal(t);
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
  const { folder, open, path } = await setUpJournal(t);
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

t.test('a file of noise alone is moved aside', async (t) => {
  const { folder, open, path } = await setUpJournal(t);
  await writeFile(path, 'this is no journal');
  const journal = await open();
  t.equal(journal.state.nextSequence, 1);
  t.ok((await readdir(folder)).some((name) => name.startsWith('journal.corrupt-')));
});

t.test('a folder in the place of the file ends the start with its path', async (t) => {
  const { open, path } = await setUpJournal(t);
  await mkdir(path);
  await t.rejects(open(), { message: new RegExp(`${path}: EISDIR`) });
});

t.test('a crash in the middle of a compaction leaves the old file', async (t) => {
  const { open, path } = await setUpJournal(t);
  const journal = await open();
  await journal.append(received('a'));
  await writeFile(`${path}.new`, 'half of a new');
  t.same(bodies(await open()), [[1, 'a']]);
});

t.test('a full disk refuses, loses nothing and is written again when there is room', async (t) => {
  const { open } = await setUpJournal(t);
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

t.test(
  'on a disk that takes small records and refuses large ones the alarm stays until it takes all',
  async (t) => {
    const { clock, open } = await setUpJournal(t);
    let room = Number.POSITIVE_INFINITY;
    const journal = await open(async (path) => {
      const file = await openJournalDisk(path);
      return {
        ...file,
        async write(bytes, position) {
          if (bytes.length > room) throw new Error('ENOSPC');
          await file.write(bytes, position);
        },
      };
    });
    const changes: boolean[] = [];
    journal.onFailing(() => changes.push(journal.isFailing));
    room = 1_000;
    const large = received('x'.repeat(2_000));
    // Messages that stay on a SIM are tried every 30 s.
    for (let look = 0; look < 10; look += 1) {
      await t.rejects(journal.append(large), JournalUnavailableError);
      await journal.append(received('small'));
      clock.advance(30_000);
    }
    t.same(changes, [true]);
    room = Number.POSITIVE_INFINITY;
    await journal.append(large);
    clock.advance(CALM_MS);
    t.same(changes, [true, false]);
  },
);

t.test('a disk that cannot even be cut back is rewritten as a whole', async (t) => {
  const { open } = await setUpJournal(t);
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
