// Frames of the link: what the largest rack says of itself fits into one.
import t from 'tap';
import { SLOTS_MAX } from '#node-daemon/config/node-config.ts';
import { encodeFrame, type NodeFrame, parseNodeFrame } from '#shared/link/frame.ts';
import { LINK_FRAME_BYTES_MAX } from '#shared/link/version.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';

/** A slot of which everything is long, and some as long as it may be. */
const longSlot = (index: number) =>
  slotAt(index, {
    slot: `upper-cabinet-shelf-${index}`,
    state: 'sim_locked',
    reason: 'denied_roaming_in_the_area',
    number: '+123456789012345',
    operator: 'A Mobile Network With A Name',
    signal_dbm: -113,
    model: 'Quectel_EC25-EUX EC25EUXGAR08A05M1G',
    usb_path: `1-1.4.4.4.${index}`,
    storage: { used: 2_147_483_647, total: 2_147_483_647 },
  });

t.test('the slots of the largest rack fit into a frame, with all their fields', async (t) => {
  const slots = Array.from({ length: SLOTS_MAX }, (_, index) => longSlot(index));
  const frame: NodeFrame = { type: 'slots', slots, alarms: [], journal_depth: 2_147_483_647 };
  const text = encodeFrame(frame);
  t.ok(Buffer.byteLength(text) < LINK_FRAME_BYTES_MAX, `${Buffer.byteLength(text)} bytes`);
  t.same(parseNodeFrame(text), frame);
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
