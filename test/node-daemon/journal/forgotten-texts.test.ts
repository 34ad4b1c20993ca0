// Facts that the control plane has acknowledged leave no text behind: the bytes of every file in the journal's folder are searched.
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { COMPACT_WITHIN_MS, type Journal } from '#node-daemon/journal/journal.ts';
import { openJournalDisk } from '#node-daemon/journal/journal-disk.ts';
import { DAMAGED_KEPT_MS } from '#node-daemon/journal/obsolete-texts.ts';
import { setUpInbox } from '../../fixtures/nodes/scripted-inbox.ts';
import { until } from '../../fixtures/until.ts';
import { bodies, entry, ICCID, part, received, setUpJournal } from './scripted-journal.ts';

const SECRET = 'the code is 271828';
/** An SMS that says Hi. */
const HI = '07915155000000F0040B915155000010F200005211211100000002C834';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Again where a file got another name meanwhile. */
function filesWith(folder: string, ...texts: string[]): string[] {
  try {
    return readdirSync(folder).filter((name) => {
      const bytes = readFileSync(join(folder, name));
      return texts.some((text) => bytes.includes(text));
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return filesWith(folder, ...texts);
  }
}

const acknowledgeAll = (journal: Journal): void => journal.acknowledge(journal.state.nextSequence - 1);

t.test('texts are forgotten within an hour, also on an idle node', async (t) => {
  const { open, folder, clock } = await setUpJournal(t);
  const journal = await open();
  await journal.append({ kind: 'part', group: 'g', iccid: ICCID, part: { ...part(1), text: SECRET } });
  await journal.append({ ...received(SECRET, entry(1)), group: 'g' } as never);
  await journal.append(received('for later'));
  journal.acknowledge(1);
  clock.advance(COMPACT_WITHIN_MS - 1);
  t.same(filesWith(folder, SECRET), ['journal.log'], 'it is there until then');
  clock.advance(1);
  await until('compacted', () => filesWith(folder, SECRET).length === 0);
  t.same(filesWith(folder, 'for later'), ['journal.log'], 'the text that was not taken is kept');
  t.ok(journal.state.entries.has(`${ICCID}/ME/1`), 'and so is what lies on the modem');
  acknowledgeAll(journal);
  await until('compacted again', () => {
    // The first one may still be at its end.
    clock.advance(COMPACT_WITHIN_MS);
    return filesWith(folder, 'for later').length === 0;
  });
  await journal.close();
  const again = await open();
  t.same(bodies(again), []);
  t.equal(again.state.acknowledged, 2);
});

t.test('a disk that refuses the copy: tried again an hour later', async (t) => {
  const { open, folder, clock } = await setUpJournal(t);
  let isFull = true;
  let refusals = 0;
  const journal = await open(async (path) => {
    if (!isFull || !path.endsWith('.compact')) return openJournalDisk(path);
    refusals += 1;
    throw new Error('ENOSPC');
  });
  await journal.append(received(SECRET));
  acknowledgeAll(journal);
  clock.advance(COMPACT_WITHIN_MS);
  await until('the try', () => refusals === 1);
  isFull = false;
  await until('compacted', () => {
    clock.advance(COMPACT_WITHIN_MS);
    return filesWith(folder, SECRET).length === 0;
  });
});

t.test('a start removes them, also those that a kill left in the middle of a compaction', async (t) => {
  const { open, folder } = await setUpJournal(t);
  const copies: string[] = [];
  const journal = await open(async (path) => {
    const disk = await openJournalDisk(path);
    return {
      ...disk,
      async write(bytes, position) {
        await disk.write(bytes, position);
        const copy = `${folder}-${copies.length}`;
        cpSync(folder, copy, { recursive: true });
        copies.push(copy);
      },
    };
  });
  await journal.append(received(SECRET), received('for later'));
  journal.acknowledge(1);
  await journal.close();
  t.same(filesWith(folder, SECRET), ['journal.log'], 'a stop compacts nothing');
  for (const name of ['journal.log.compact', 'journal.log.new']) writeFileSync(join(folder, name), SECRET);
  const again = await open();
  t.same(bodies(again), [[2, 'for later']]);
  await until('compacted', () => filesWith(folder, SECRET).length === 0);
  await again.close();
  t.same(readdirSync(folder).sort(), ['journal.key', 'journal.log']);
  t.equal(statSync(join(folder, 'journal.key')).mode & 0o777, 0o600);
  t.ok(copies.length > 0);
});

t.test('a damaged journal that was kept aside goes a week later', async (t) => {
  const { open, folder, path, clock } = await setUpJournal(t);
  const first = await open();
  await first.append(received('lost'), received(SECRET));
  await first.append(received('for later'));
  await first.close();
  const bytes = readFileSync(path);
  bytes.fill(0, bytes.indexOf('lost'), bytes.indexOf('lost') + 2);
  writeFileSync(path, bytes);
  clock.set(Date.now());
  const journal = await open();
  acknowledgeAll(journal);
  clock.advance(COMPACT_WITHIN_MS);
  await until('compacted', () =>
    filesWith(folder, SECRET).every((name) => name.startsWith('journal.corrupt-')),
  );
  t.equal(filesWith(folder, SECRET).length, 1, 'it can still be read');
  for (let waitedMs = 0; waitedMs < DAMAGED_KEPT_MS; waitedMs += COMPACT_WITHIN_MS) {
    await until(
      'it is due',
      () => clock.dueIn(COMPACT_WITHIN_MS) === 1 || filesWith(folder, SECRET).length === 0,
    );
    clock.advance(COMPACT_WITHIN_MS);
  }
  await until('removed', () => filesWith(folder, SECRET).length === 0);
});

t.test('digests are of one journal: another one has others for the same texts', async (t) => {
  const { open } = await setUpJournal(t);
  const journal = await open();
  t.not(journal.digestOf('a'), journal.digestOf('b'));
  await journal.close();
  t.equal((await open()).digestOf('a'), journal.digestOf('a'), 'the same after a restart');
  const other = await setUpJournal(t);
  t.not((await other.open()).digestOf('a'), journal.digestOf('a'), 'another one on another node');
});

t.test('a message on the modem is recognised after its text was forgotten, and after a kill', async (t) => {
  const { folder, modem, start } = await setUpInbox(t);
  const { bodies: reported, journal, crash } = await start();
  // Each deletion is lost, with all that the modem would have answered.
  modem.port.on(/^AT\+CMGD/, () => undefined);
  modem.deliver(HI);
  await until('the fact', () => reported().length === 1);
  const text = JSON.stringify({ body: 'Hi' }).slice(1, -1);
  t.same(filesWith(folder, text), ['journal.log']);
  acknowledgeAll(journal);
  crash();
  await journal.close();
  t.equal(modem.stores['ME']?.size, 1, 'it lies there');
  const guess = sha256(String(modem.stores['ME']?.get(1)?.pdu));
  const again = await start();
  await until('compacted', () => filesWith(folder, text).length === 0);
  t.same(filesWith(folder, guess), []);
  await again.inbox.sweep();
  t.same(again.bodies(), [], 'it is no second message');
});
