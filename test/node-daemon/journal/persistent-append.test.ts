// Records of a modem's work get into the journal, however often the disk refuses; the wait is logged once.
import t from 'tap';
import { appendPersistently } from '#node-daemon/journal/persistent-append.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { until } from '../../fixtures/until.ts';
import { bodies, brokenDisk, fact, received, setUpJournal } from './scripted-journal.ts';

t.test('a record is tried until it is taken', async (t) => {
  const { log, lines } = recordedLog();
  const { clock, open } = await setUpJournal(t);
  const { disk, openDisk } = brokenDisk();
  const journal = await open(openDisk);
  disk.failure = new Error('ENOSPC');
  const { tried, taken } = appendPersistently({ journal, clock, log }, [received('a')]);
  await tried;
  t.same(bodies(journal), []);
  const tryAgain = async (): Promise<void> => {
    await until('the refusal', () => Number.isFinite(clock.untilNextMs));
    clock.advance(clock.untilNextMs);
  };
  for (let attempt = 0; attempt < 5; attempt += 1) await tryAgain();
  disk.failure = undefined;
  await tryAgain();
  await taken;
  t.same(bodies(journal), [[1, 'a']]);
  t.strictSame(lines, [
    {
      level: 'error',
      fields: { reason: 'the journal cannot be written: ENOSPC', kind: 'fact' },
      message: 'the journal refused a record: retrying until it accepts it',
    },
  ]);
});

t.test(
  'a fact that the link does not carry gets no place in the journal, and holds up no other',
  async (t) => {
    const { log, lines } = recordedLog();
    const { clock, open } = await setUpJournal(t);
    const journal = await open();
    const invalid = { kind: 'fact', fact: { ...fact('secret'), from: 'F'.repeat(33) } } as const;
    await t.rejects(journal.append(received('with it'), invalid), {
      name: 'InvalidFactError',
      message: /^a fact sms_received that the link does not carry: from: [^F]*$/,
    });
    const { tried, taken, written } = appendPersistently({ journal, clock, log }, [invalid]);
    await Promise.all([tried, taken, written]);
    t.match(lines, [
      { level: 'error', fields: { err: { name: 'InvalidFactError' } }, message: 'a fact is lost' },
    ]);
    clock.advance(60_000);
    await journal.append(received('next'));
    t.same(bodies(journal), [[1, 'next']]);
  },
);
