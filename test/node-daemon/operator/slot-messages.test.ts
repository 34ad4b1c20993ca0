// Messages in the storages of SIM and modem as an operator is shown them.
import t from 'tap';
import { emptyState } from '#node-daemon/journal/journal-state.ts';
import { slotMessages } from '#node-daemon/operator/procedures/slot-messages.ts';

/** SMS-DELIVER from +12065559999, "Hello", of 3 May 2026, 12:00:00 +00:00. */
const DELIVER = '00040B912160559599F9000062503021000000' + '05C8329BFD06';

t.test('each entry with its place, its state and what can be read of it', async (t) => {
  const entries = [
    { line: '+CMGL: 3,0,,24', body: DELIVER },
    { line: '+CMGL: 4,1,,5', body: '00FF' },
    { line: '+CMGL: 5,2,,14', body: '0001000B912160559599F9000005C8329BFD06' },
    { line: '+CMGL: nonsense' },
  ];
  const found = new Map([['SM', { used: 3, total: 50, entries }]]);
  const { storages, stored, waiting, parts } = slotMessages(found, '8901', emptyState('j'));
  t.same(storages, [{ storage: 'SM', used: 3, total: 50 }]);
  t.match(stored, [
    {
      storage: 'SM',
      index: 3,
      status: 'unread',
      kind: 'message',
      part: null,
      address: '+12065559999',
      text: 'Hello',
      sent_at: /^2026-05-03T12:00:00/,
    },
    { index: 4, status: 'read', kind: 'unreadable', text: /PDU 00FF/ },
    { index: 5, status: 'unsent', text: /^a message to send/ },
  ]);
  t.equal(stored.length, 3);
  t.same([waiting, parts], [[], []]);
});

t.test('the waiting messages are those of this card only', async (t) => {
  const state = emptyState('j');
  const fact = { kind: 'sms_received', from: '72727', body: 'code', sent_at: null, partial: false } as const;
  state.facts.set(1, { ...fact, iccid: '8901', received_at: '2026-05-03T12:00:00Z' });
  state.facts.set(2, { ...fact, iccid: '8902', received_at: '2026-05-03T12:00:00Z' });
  const { waiting } = slotMessages(new Map(), '8901', state);
  t.same(waiting, [{ from: '72727', received_at: '2026-05-03T12:00:00Z', text: 'code' }]);
});
