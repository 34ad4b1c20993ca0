// Frames of the link: what the largest rack says of itself fits into one.
import t from 'tap';
import { SLOTS_MAX } from '#node-daemon/config/node-config.ts';
import { encodeFrame, type NodeFrame, parseNodeFrame } from '#shared/link/frame.ts';
import type { Fact } from '#shared/link/messages.ts';
import type { LiveCall } from '#shared/voice/call.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';

const AT = '2026-11-21T08:00:00.000000+00:00';

/** A slot of which everything is as long as it may be. */
const longSlot = (index: number) =>
  slotAt(index, {
    slot: String(index).padStart(64, 's'),
    state: 'sim_locked',
    reason: 'r'.repeat(64),
    number: '+123456789012345',
    operator: '中'.repeat(64),
    signal_dbm: -113,
    model: 'm'.repeat(64),
    usb_path: String(index).padStart(64, 'u'),
    storage: { used: 2_147_483_647, total: 2_147_483_647 },
    swept_at: AT,
    failed_step: 'f'.repeat(200),
    voice_settings: { network: '31026012', state: 'differs', why: 'w'.repeat(64), detail: 'd'.repeat(200) },
  });

const longCall = (index: number): LiveCall => ({
  call_id: String(index).padStart(64, 'c'),
  iccid: slotAt(index).iccid ?? '',
  direction: 'outbound',
  state: 'dialing',
  peer: 'p'.repeat(32),
  started_at: AT,
  answered_at: AT,
  has_media: false,
});

const largestRack = <T>(make: (index: number) => T): T[] =>
  Array.from({ length: SLOTS_MAX }, (_, index) => make(index));

for (const frame of [
  { type: 'slots', slots: largestRack(longSlot), alarms: Array(32).fill('a'.repeat(64)), journal_depth: 1 },
  {
    type: 'hello',
    version_min: 1,
    version_max: 1,
    journal_id: 'j'.repeat(64),
    oldest_sequence: Number.MAX_SAFE_INTEGER,
    slots: largestRack(longSlot),
    alarms: Array(32).fill('a'.repeat(64)),
    journal_depth: 2_147_483_647,
    calls: largestRack(longCall),
  },
] satisfies NodeFrame[])
  t.test(
    `the ${frame.type} of the largest rack fits into a frame, with all fields at their longest`,
    async (t) => {
      const text = encodeFrame(frame);
      t.same(parseNodeFrame(text), frame, `${Buffer.byteLength(text)} bytes`);
    },
  );

t.test('the longest text fits into a frame, whatever its characters', async (t) => {
  for (const character of ['x', '"', 'Δ', '中', '\u0001']) {
    const fact: Fact = {
      kind: 'sms_received',
      iccid: '8901000000000000017',
      from: '+13105550188',
      body: character.repeat(40_000),
      sent_at: AT,
      received_at: AT,
      partial: false,
    };
    const frame: NodeFrame = { type: 'fact', sequence: 1, fact };
    const text = encodeFrame(frame);
    t.same(parseNodeFrame(text), frame, `${Buffer.byteLength(text)} bytes`);
  }
});

t.test('a node that reports nothing of its storages and its journal is understood', async (t) => {
  const { storage: _, ...slot } = slotAt(1);
  const frame = parseNodeFrame(JSON.stringify({ type: 'slots', slots: [slot] }));
  t.match(frame, { slots: [{ storage: null }], alarms: [] });
  t.notOk('journal_depth' in frame);
});

t.test('numbers that no table can keep are refused', async (t) => {
  for (const storage of [
    { used: -1, total: 20 },
    { used: 1, total: 2 ** 31 },
    { used: 1.5, total: 20 },
  ])
    t.throws(() => parseNodeFrame(JSON.stringify({ type: 'slots', slots: [{ ...slotAt(1), storage }] })));
  t.throws(() => parseNodeFrame(JSON.stringify({ type: 'slots', slots: [], journal_depth: -1 })));
});

t.test('the name of a slot is one line of text', async (t) => {
  for (const slot of ['', 'm1\u0000', 'm1\n', '\u001b[31mm1', 'm1\u009b2J', '\ud800']) {
    t.throws(() => parseNodeFrame(JSON.stringify({ type: 'slots', slots: [slotAt(1, { slot })] })), slot);
    const event = { slot, kind: 'reset', detail: '', at: new Date().toISOString() };
    t.throws(() => parseNodeFrame(JSON.stringify({ type: 'event', event })));
  }
  const slot = 'étagère 1/3 📶';
  t.match(parseNodeFrame(JSON.stringify({ type: 'slots', slots: [slotAt(1, { slot })] })), {
    slots: [{ slot }],
  });
});
