// The file is deleted or replaced under the running journal: no record counts that a kill would lose.
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import t, { type Test } from 'tap';
import { type Journal, JournalUnavailableError } from '#node-daemon/journal/journal.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { until } from '../../fixtures/until.ts';
import { bodies, received, setUpJournal } from './scripted-journal.ts';

const KEPT = [
  [1, 'a'],
  [2, 'c'],
];

async function setUp(t: Test) {
  const { log, lines } = recordedLog();
  const rig = await setUpJournal(t, log);
  const journal = await rig.open();
  await journal.append(received('a'));
  /** The state after a kill is read without closing. */
  const isWrittenAgain = () =>
    stat(rig.path).then(
      (file) => file.isFile() && file.size > 100,
      () => false,
    );
  return { ...rig, journal, lines, isWrittenAgain };
}

async function refusesAndGoesOn(t: Test, journal: Journal, next: () => Promise<Journal>): Promise<void> {
  await t.rejects(journal.append(received('b')), JournalUnavailableError);
  t.ok(journal.isFailing, 'an alarm');
  await journal.append(received('c'));
  t.same(bodies(journal), KEPT);
  const left = await next();
  t.same(bodies(left), KEPT, 'after a kill');
  t.equal(left.state.journalId, journal.state.journalId);
}

t.test('deleted: the last append is refused, and all else is written again', async (t) => {
  const { journal, open, path, lines } = await setUp(t);
  await rm(path);
  await refusesAndGoesOn(t, journal, open);
  t.match(lines, [{ level: 'error', fields: { err: { message: new RegExp(`^${path} .*deleted`) } } }]);
});

t.test('replaced by another file', async (t) => {
  const { journal, open, path } = await setUp(t);
  await writeFile(`${path}.copy`, 'an older copy');
  await rename(`${path}.copy`, path);
  await refusesAndGoesOn(t, journal, open);
});

t.test('a deleted journal is written again without another append', async (t) => {
  const { isWrittenAgain, journal, open, path } = await setUp(t);
  await rm(path);
  await t.rejects(journal.append(received('b')), JournalUnavailableError);
  await until('a file', isWrittenAgain);
  t.same(bodies(await open()), [[1, 'a']]);
});

t.test('as long as there is no folder for it, nothing is taken', async (t) => {
  const { folder, journal, open } = await setUp(t);
  await rm(folder, { recursive: true });
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await t.rejects(journal.append(received('b')), JournalUnavailableError);
  }
  await mkdir(folder);
  await journal.append(received('c'));
  t.same(bodies(await open()), KEPT);
});

t.test('a stop writes the remembered records, though nothing was appended since', async (t) => {
  const { journal, open, path } = await setUp(t);
  await rm(path);
  await journal.close();
  t.same(bodies(await open()), [[1, 'a']]);
});

t.test('deleted again and again under appends: accepted records survive a kill', async (t) => {
  const { isWrittenAgain, journal, open, path } = await setUp(t);
  const taken = ['a'];
  for (let round = 0; round < 20; round += 1) {
    const group = Array.from({ length: 5 }, (_, index) => `${round}.${index}`);
    const appends = group.map((body) => journal.append(received(body)).then(() => taken.push(body)));
    await Promise.all([rm(path, { force: true }), Promise.allSettled(appends)]);
    // The next one finds out, if none of these did.
    await journal.append(received(`last ${round}`)).then(
      () => taken.push(`last ${round}`),
      () => undefined,
    );
    await until(
      'a file',
      async () => (await isWrittenAgain()) || journal.append(received('')).catch(() => 0),
    );
  }
  const kept = bodies(await open()).map((fact) => (fact as [number, string])[1]);
  t.same(
    kept.filter((body) => body !== ''),
    taken,
  );
});
