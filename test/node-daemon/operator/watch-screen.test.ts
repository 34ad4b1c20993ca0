// The table of `watch` in windows of any size: nothing is longer than the window, and what matters most stays.
import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { watchScreen } from '#node-daemon/operator/cli/watch-screen.ts';
import type { WatchedHost, WatchedSlot } from '#node-daemon/operator/slot-activity.ts';
import { slotOf } from '../doctor/seen.ts';

const AT = '2026-11-22T10:00:00.000Z';
const watched = (differs: Partial<WatchedSlot> = {}): WatchedSlot => ({
  ...slotOf({ slot: 'top-left', operator: 'T-Mobile US' }),
  signals: Array.from({ length: 30 }, () => -71),
  sms_received: 12,
  sms_sent: 3,
  sms_failed: 1,
  calls: 0,
  last_event: { at: AT, text: 'recovery: usb_reset (no_service)' },
  ...differs,
});
const hostOf = (slots: readonly WatchedSlot[]): WatchedHost => ({
  at: AT,
  link: 'linked',
  alarms: [],
  journal_depth: 0,
  slots,
});
const LOST = watched({ state: 'lost', reason: 'gave_up', signal_dbm: null });

t.test('80 columns have state, signal and the last event; bars, calls and operator go first', async (t) => {
  const lines = watchScreen(hostOf([watched(), LOST]), '', { columns: 80, rows: 24, isColored: false });
  t.match(lines[1], /^SLOT +STATE +DBM +IN +OUT +FAIL +LAST EVENT$/);
  t.match(lines[2], /^top-left +registered +-71 +12 +3 +1 +\d\d:\d\d:\d\d recovery/);
  t.match(lines[3], /^top-left +lost \(gave_up\)/);
});

t.test('200 columns have all of it, 40 the name, the state and what happened', async (t) => {
  const headerAt = (columns: number) =>
    watchScreen(hostOf([watched()]), '', { columns, rows: 24, isColored: false })[1];
  t.match(headerAt(200), /CARRIER +DBM +SIGNAL +CALLS +IN +OUT +FAIL +LAST EVENT$/);
  t.match(headerAt(45), /^SLOT +STATE +LAST EVENT$/);
});

t.test('problems are in the head of a narrow window', async (t) => {
  const host = { ...hostOf([watched()]), alarms: ['ports_hang'] };
  const [head] = watchScreen(host, 'the daemon stopped: waiting for it', {
    columns: 80,
    rows: 24,
    isColored: false,
  });
  t.match(head, /the daemon stopped: waiting for it {2}alarms: ports_hang/);
});

t.test('no line is longer than any window, coloured or not', async () => {
  const sizes = fc.record({
    columns: fc.integer({ min: 1, max: 250 }),
    rows: fc.integer({ min: 1, max: 30 }),
  });
  const slots = fc.array(fc.constantFrom(watched(), LOST, watched({ last_event: null, operator: null })), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(sizes, slots, fc.boolean(), ({ columns, rows }, all, isColored) => {
      const lines = watchScreen(hostOf(all), 'a note', { columns, rows, isColored });
      return (
        lines.length <= rows && lines.every((line) => [...stripVTControlCharacters(line)].length <= columns)
      );
    }),
  );
});
