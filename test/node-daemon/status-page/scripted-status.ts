// Made-up contents of a status page: racks of any size with a day behind them, in states of every kind.
import { Registry } from 'prom-client';
import type { Test } from 'tap';
import type { NodeStatus } from '#node-daemon/status-page/node-status.ts';
import type { HostEvent } from '#node-daemon/status-page/recent-events.ts';
import { MINUTES } from '#node-daemon/status-page/signal-history.ts';
import { serveStatus } from '#node-daemon/status-page/status-server.ts';
import type { Slot } from '#shared/link/slot.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');

/** The slots of a rack that differ from the others: every ninth is searching, and so on. */
const EXCEPTIONS: [every: number, change: Partial<Slot>][] = [
  [9, { state: 'searching', reason: 'no_coverage', signal_dbm: null, operator: null }],
  [13, { state: 'sim_locked', reason: 'sim_pin', signal_dbm: null, operator: null, storage: null }],
  [17, { state: 'lost', reason: 'silent', signal_dbm: null, operator: null, storage: null }],
  [23, { state: 'denied', reason: 'denied_illegal_sim', signal_dbm: -97 }],
];

/** Slots on hubs of seven ports, of which hang four on a bus. */
export function hubSlots(count: number): Slot[] {
  return Array.from({ length: count }, (_, index) => {
    const path = `${1 + Math.floor(index / 28)}-1.${1 + (Math.floor(index / 7) % 4)}.${1 + (index % 7)}`;
    const [, change = {}] = EXCEPTIONS.find(([every]) => index % every === every - 1) ?? [];
    const storage = { used: index === 5 ? 19 : index % 3, total: 20 };
    return slotAt(index, {
      slot: path,
      usb_path: path,
      model: 'Quectel EC25-EUX',
      operator: '26201',
      storage,
      signal_dbm: -60 - ((index * 7) % 40),
      ...change,
    });
  });
}

/** A day that goes up and down, with an hour in which nothing was reported. */
function dayOfSignal(seed: number): (number | null)[] {
  return Array.from({ length: MINUTES }, (_, minute) => {
    if (minute > 500 && minute < 560) return null;
    const wave = Math.sin((minute + seed * 97) / 140) * 8 + Math.sin((minute * (seed + 3)) / 23) * 2;
    return Math.round(-62 - ((seed * 7) % 40) + wave);
  });
}

const EVENTS: readonly HostEvent[] = [
  { at: NOW - 20_000, slot: '1-1.1.2', text: 'inbound call: active' },
  { at: NOW - 140_000, slot: '1-1.2.2', text: 'searching: no_coverage' },
  { at: NOW - 150_000, slot: '1-1.2.2', text: 'recovery: radio (no_service)' },
  { at: NOW - 3_600_000, slot: null, text: 'journal writes succeed again' },
  { at: NOW - 90_000_000, slot: '1-1.1.1', text: 'registered' },
];

/** A node that is well but for what `change` says. */
export function statusOf(slots: readonly Slot[], change: Partial<NodeStatus> = {}): NodeStatus {
  const indexes = new Map(slots.map(({ slot }, index) => [slot, index]));
  return {
    enrollCommand: 'node-daemon enroll <url> <code>',
    nodeId: 'cupboard-1',
    controlPlane: 'sim.example',
    isLinked: true,
    alarms: [],
    slots,
    calls: [],
    journalDepth: 0,
    isJournalFailing: false,
    events: EVENTS,
    now: NOW,
    startedAt: NOW - 200_000_000,
    signalOf: (slot) => dayOfSignal(indexes.get(slot) ?? 0),
    ...change,
  };
}

/** A call of the SIM of that slot. */
export const callOf = (slot: Slot) => ({
  call_id: 'call-00000017',
  iccid: String(slot.iccid),
  direction: 'inbound' as const,
  peer: '+12065559999',
  state: 'active' as const,
  started_at: new Date(NOW - 130_000).toISOString(),
  answered_at: null,
});

/** Serves a status that the test may change. */
export async function servePages(t: Test, status: NodeStatus) {
  const shown = { status };
  const server = await serveStatus({ registry: new Registry(), status: () => shown.status, port: 0 });
  t.teardown(() => server.stop());
  return { shown, port: server.port, url: `http://127.0.0.1:${server.port}` };
}
