// A new file that cannot become the journal leaves its space to others.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type JournalDisk, openJournalDisk } from '#node-daemon/journal/journal-disk.ts';
import { JournalFile } from '#node-daemon/journal/journal-file.ts';
import type { JournalRecord } from '#node-daemon/journal/record.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const RECORDS = Array.from({ length: 20_000 }, (_, sequence): JournalRecord => ({ kind: 'ack', sequence }));

async function fileOn(t: Test, change: (disk: JournalDisk) => Partial<JournalDisk>) {
  const folder = temporaryFolder(t);
  const file = new JournalFile(join(folder, 'journal.log'), async (path) => {
    const disk = await openJournalDisk(path);
    return { ...disk, ...change(disk) };
  });
  return { folder, file };
}

t.test('a disk that becomes full in the middle of it', async (t) => {
  let room = 500_000;
  const { folder, file } = await fileOn(t, (disk) => ({
    async write(bytes, position) {
      room -= bytes.length;
      if (room < 0) throw new Error('ENOSPC');
      await disk.write(bytes, position);
    },
  }));
  await t.rejects(file.writeNew('compact', RECORDS), { message: 'ENOSPC' });
  t.same(await readdir(folder), []);
});

t.test('a disk that does not make the journal durable', async (t) => {
  const { folder, file } = await fileOn(t, () => ({ sync: () => Promise.reject(new Error('EIO')) }));
  await t.rejects(file.replace(await file.writeNew('compact', RECORDS)), { message: 'EIO' });
  t.same(await readdir(folder), []);
});

t.test('a journal that became another one meanwhile', async (t) => {
  const { folder, file } = await fileOn(t, () => ({}));
  await file.discard(await file.writeNew('compact', RECORDS));
  t.same(await readdir(folder), []);
});
