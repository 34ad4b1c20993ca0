// The state file: what is committed is there after any kind of end.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { JournalError, KEEP_HEARD_DEFAULT, RackJournal } from '#hardware-sim/state/rack-journal.ts';
import type { HeardMessage, RackRecord } from '#hardware-sim/state/records.ts';
import { silentLogger } from '#shared/log.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const IMEI = '867588040000016';
const ICCID = '8901999000000000012';

function waiting(id: number): RackRecord {
  return {
    kind: 'waiting',
    message: { id, iccid: ICCID, kind: 'deliver', from: '+1', length: 1, pdu: '00' },
  };
}

function heard(id: number): HeardMessage {
  const fixed = {
    imei: IMEI,
    iccid: ICCID,
    from: '+1',
    to: '+2',
    body: 'x',
    encoding: 'gsm7' as const,
    pdu: '00',
    concat: null,
  };
  return { ...fixed, id, at_ms: 1, message_reference: id & 0xff };
}

const CHANGES: RackRecord[][] = [
  [waiting(1)],
  [waiting(2), waiting(3)],
  [
    {
      kind: 'stored',
      holder: ICCID,
      memory: 'SM',
      index: 4,
      message: { status: 0, length: 20, pdu: '07F', id: 1 },
    },
    { kind: 'taken', iccid: ICCID, message_kind: 'deliver', waiting_id: 1 },
  ],
  [{ kind: 'status', holder: ICCID, memory: 'SM', index: 4, status: 1 }],
  [{ kind: 'stored', holder: IMEI, memory: 'ME', index: 1, message: { status: 2, length: 2, pdu: '0011' } }],
  [{ kind: 'deleted', holder: IMEI, memory: 'ME', index: 1 }],
  [{ kind: 'taken', iccid: ICCID, message_kind: 'deliver', waiting_id: 2 }],
  [{ kind: 'placed', imei: IMEI, iccid: null }],
  [{ kind: 'heard', message: { ...heard(7), message_reference: 255 } }],
];

function waitingIds({ state }: RackJournal): number[] {
  return [...(state.sims.get(ICCID)?.waiting.deliver.keys() ?? [])];
}

t.test('reads back what was committed, again and again', async (t) => {
  const path = join(temporaryFolder(t), 'rack.jsonl');
  const journal = RackJournal.open(path, silentLogger);
  for (const change of CHANGES) journal.commit(change);
  const expected = journal.state;
  t.equal(expected.nextId, 8);
  t.equal(expected.modems.get(IMEI)?.nextReference, 0, 'the reference wraps');
  t.same(waitingIds(journal), [3]);
  t.equal(expected.modems.get(IMEI)?.sim, null);
  // Not closed: as after a kill.
  const second = RackJournal.open(path, silentLogger);
  t.same(second.state, expected);
  second.close();
  const third = RackJournal.open(path, silentLogger);
  t.same(third.state, expected, 'the compact form says the same');
  third.close();
  journal.close();
});

t.test('survives a torn last line at every octet', async (t) => {
  const path = join(temporaryFolder(t), 'rack.jsonl');
  const lines = CHANGES.slice(0, 3).map((change) => `${JSON.stringify(change)}\n`);
  const [first = '', second = '', third = ''] = lines;
  for (let length = 0; length < third.length - 1; length++) {
    writeFileSync(path, first + second + third.slice(0, length));
    const journal = RackJournal.open(path, silentLogger);
    const keys = waitingIds(journal);
    if (keys.join() !== '1,2,3') t.fail(`cut at ${length}: ${keys.join()}`);
    journal.commit([waiting(9)]);
    journal.close();
    const again = RackJournal.open(path, silentLogger);
    if (!waitingIds(again).includes(9)) t.fail(`cut at ${length}: the next line is lost`);
    again.close();
  }
  t.pass();
});

t.test('skips lines that are no records, and says so', async (t) => {
  const path = join(temporaryFolder(t), 'rack.jsonl');
  writeFileSync(
    path,
    `${JSON.stringify([waiting(1)])}\nnonsense\n[{"kind":"other"}]\n[{"kind":"waiting"}]\n`,
  );
  appendFileSync(path, `${JSON.stringify([waiting(2)])}\n`);
  const warnings: object[] = [];
  const log = { ...silentLogger, warn: (fields: object) => warnings.push(fields) };
  const journal = RackJournal.open(path, log);
  t.same(waitingIds(journal), [1, 2]);
  t.match(warnings, [{ lines: 3 }]);
  journal.close();
});

t.test('keeps the last heard messages, also in the file: 10 000 by default', async (t) => {
  const message = (id: number): RackRecord => ({ kind: 'heard', message: heard(id) });
  for (const keep of [undefined, 3]) {
    const path = join(temporaryFolder(t), 'rack.jsonl');
    const journal = RackJournal.open(path, silentLogger, keep);
    const kept = keep ?? KEEP_HEARD_DEFAULT;
    journal.commit(Array.from({ length: kept + 5 }, (_, index) => message(index + 1)));
    t.equal(journal.state.heard.size, kept);
    t.equal(journal.state.heard.values()[0]?.id, 6);
    t.same(
      journal.state.heard.after(kept + 3).map(({ id }) => id),
      [kept + 4, kept + 5],
    );
    journal.close();
    RackJournal.open(path, silentLogger, keep).close();
    t.equal(readFileSync(path, 'utf8').trim().split('\n').length, kept + 2);
  }
  t.equal(KEEP_HEARD_DEFAULT, 10_000);
});

t.test('a change that cannot be written does not count', async (t) => {
  const path = join(temporaryFolder(t), 'rack.jsonl');
  const journal = RackJournal.open(path, silentLogger);
  journal.commit([waiting(1)]);
  journal.close();
  t.throws(() => journal.commit([waiting(2)]), JournalError);
  t.equal(waitingIds(journal).length, 1);
});
