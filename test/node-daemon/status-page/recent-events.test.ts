// The events that a host remembers: newest first, in bounds, and nothing private.
import t, { type Test } from 'tap';
import type { HostObserver } from '#node-daemon/host/host-events.ts';
import { EVENTS_MAX, EVENTS_PER_SLOT_MAX, RecentEvents } from '#node-daemon/status-page/recent-events.ts';
import type { Fact } from '#shared/link/messages.ts';
import type { Slot } from '#shared/link/slot.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { ScriptedHost } from '../modem/scripted-host.ts';

async function setUp(t: Test) {
  const { journal, clock } = await ScriptedHost.start(t);
  const shown: { slots: Slot[] } = { slots: [slotAt(1), slotAt(2)] };
  const rack = {
    slots: () => shown.slots,
    find: (iccid: string) => {
      const name = shown.slots.find((slot) => slot.iccid === iccid)?.slot;
      return name === undefined ? undefined : { name };
    },
  };
  let observer: HostObserver = {};
  const observe = (each: HostObserver): void => {
    observer = each;
  };
  const events = new RecentEvents({ clock, journal, rack, observe });
  const texts = () => events.all.map(({ slot, text }) => `${slot ?? 'host'}: ${text}`);
  return { events, journal, observer, shown, texts };
}

const ended = (iccid: string | null): Fact => ({
  kind: 'call_ended',
  call_id: 'call-00000017',
  iccid: String(iccid),
  direction: 'inbound',
  peer: '+12065559999',
  started_at: '2026-01-01T00:00:00Z',
  answered_at: null,
  ended_at: '2026-01-01T00:01:00Z',
  reason: 'remote_hangup',
  cause: 16,
  audio: null,
});

t.test('states as they change, steps, calls and failures are remembered, newest first', async (t) => {
  const { journal, observer, shown, texts } = await setUp(t);
  observer.slotsChanged?.();
  observer.slotsChanged?.();
  shown.slots = [slotAt(1, { state: 'sim_locked', reason: 'sim_pin' }), slotAt(2)];
  observer.slotsChanged?.();
  observer.stepTaken?.('m1', 'radio', 'no_service');
  await journal.append({ kind: 'fact', fact: ended(slotAt(2).iccid) });
  t.same(texts(), [
    'm2: inbound call ended: remote_hangup',
    'm1: recovery: radio (no_service)',
    'm1: SIM locked: the card asks for a PIN',
    'm2: in service',
    'm1: in service',
  ]);
  t.notMatch(JSON.stringify(texts()), /2065559999/);
});

t.test('a call of a SIM that has left is one of the host', async (t) => {
  const { journal, texts } = await setUp(t);
  await journal.append({ kind: 'fact', fact: ended('8901000000000009999') });
  t.same(texts(), ['host: inbound call ended: remote_hangup']);
});

t.test('a modem that flaps does not push out what happened to the others', async (t) => {
  const { events, observer, texts } = await setUp(t);
  observer.stepTaken?.('m2', 'restart', 'silent');
  for (let index = 0; index < 1_000; index += 1) observer.stepTaken?.('m1', 'reopen', 'silent');
  t.equal(events.all.length, EVENTS_PER_SLOT_MAX + 1);
  t.equal(texts().at(-1), 'm2: recovery: restart (silent)');
  for (let index = 0; index < 1_000; index += 1) observer.stepTaken?.(`m${index}`, 'reopen', 'silent');
  t.equal(events.all.length, EVENTS_MAX);
});
