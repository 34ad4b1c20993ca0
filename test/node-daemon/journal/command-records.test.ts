// The state of a command is the same after compaction.
import t from 'tap';
import { CommandMap } from '#node-daemon/journal/command-map.ts';
import { applyCommandRecord, applyOutcome, commandRecords } from '#node-daemon/journal/command-records.ts';
import type { JournalRecord } from '#node-daemon/journal/record.ts';

type CommandRecord = Parameters<typeof applyCommandRecord>[1];
const AT = '2026-11-22T10:00:00.000Z';
const ID = 'operator_12345678';

const compacted = (commands: CommandMap): CommandMap => {
  const result = new CommandMap();
  const records: JournalRecord[] = [...commands].flatMap(([id, command]) => [...commandRecords(id, command)]);
  for (const record of records) applyCommandRecord(result, record as CommandRecord);
  return result;
};

t.test(
  'the digest of a text distinguishes a repetition from another message, before and after its outcome',
  async (t) => {
    const commands = new CommandMap();
    const intent = { iccid: '8901000000000000017', to: '+12065550123', at: AT, digest: 'a1b2c3d4' };
    applyCommandRecord(commands, { kind: 'intent', commandId: ID, ...intent, boot: 'b' });
    t.match(compacted(commands).get(ID), intent);
    const outcome = { status: 'accepted' as const, message_references: [7], at: AT };
    applyOutcome(commands, { kind: 'sms_outcome', command_id: ID, outcome });
    t.match(compacted(commands).get(ID), { ...intent, outcome });
  },
);

t.test('commands without one stay without', async (t) => {
  const commands = new CommandMap();
  applyCommandRecord(commands, { kind: 'intent', commandId: 'c1', iccid: '', to: '', at: AT });
  t.notOk('digest' in (compacted(commands).get('c1') ?? {}));
});
