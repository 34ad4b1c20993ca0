// When a trouble counts and when it is over: swinging values, short troubles, and gaps between checks.
import t from 'tap';
import { afterCheck } from '#control-plane/alerts/alert-state.ts';
import { type AlertThresholds, findTroubles, rulesOf } from '#control-plane/alerts/conditions.ts';
import { alertKey, type OpenAlert } from '#control-plane/domain/alert.ts';
import type { FleetSnapshot, SlotReading } from '#control-plane/store/operations/fleet-snapshot.ts';

const THRESHOLDS: AlertThresholds = {
  heartbeatMs: 10_000,
  alertSlotDownMs: 60_000,
  alertStoragePercent: 80,
  alertJournalDepth: 500,
  alertPoolMin: 5,
  alertPlanDays: 7,
  relayerTransfersMin: 100,
};
const START_MS = Date.UTC(2026, 0, 1);
const CLAIMS = { sims: 0, disputed: 0, others: 0, late: 0, isSuspended: false };
const NODE = { id: 'rack-1', isLinked: true, simsHeld: 2, journalDepth: 0, alarms: [], claims: CLAIMS };
const SLOT: SlotReading = {
  nodeId: 'rack-1',
  slot: 'm1',
  state: 'registered',
  reason: null,
  carrier: null,
  storage: null,
};

/** Checks repeatedly. Returns its alerts as "second +kind", "second !kind" (critical now) and "second -kind". */
function book() {
  const open = new Map<string, OpenAlert>();
  const reported: string[] = [];
  const ended: OpenAlert[] = [];
  const look = (second: number, change: Partial<FleetSnapshot>): void => {
    const now = new Date(START_MS + second * 1000);
    const snapshot: FleetSnapshot = {
      now,
      nodes: [NODE],
      pending: [],
      slots: [],
      down: [],
      moved: [],
      sending: [],
      locked: [],
      plans: [],
      payments: { stuck: [], isCut: false },
      available: 9,
      gas: new Map(),
      closedChains: [],
      relayed: [],
      relayers: new Map(),
      ...change,
    };
    const findings = findTroubles(
      snapshot,
      THRESHOLDS,
      (about) => open.get(alertKey(about))?.raisedAt != null,
    );
    const found = new Map(findings.troubles.map((trouble) => [alertKey(trouble), trouble]));
    for (const key of new Set([...open.keys(), ...found.keys()])) {
      const before = open.get(key);
      const about = before ?? found.get(key);
      if (about === undefined) continue;
      const rule = rulesOf(THRESHOLDS)[about.kind];
      const next = afterCheck(before, found.get(key), { isKnown: findings.isKnown(about), rule, now });
      if (next?.raisedAt != null && before?.raisedAt == null) reported.push(`${second} +${about.kind}`);
      else if (before?.severity === 'warning' && next?.severity === 'critical')
        reported.push(`${second} !${about.kind}`);
      if (next?.recoveredAt != null) {
        reported.push(`${second} -${about.kind}`);
        ended.push(next);
      }
      if (next === undefined || next.recoveredAt !== null) open.delete(key);
      else open.set(key, next);
    }
  };
  return { look, reported, open, ended };
}

const everyTenSeconds = (from: number, to: number, look: (second: number) => void): void => {
  for (let second = from; second <= to; second += 10) look(second);
};

t.test('a node is offline after two beats, and back after two', async (t) => {
  const { look, reported } = book();
  const away = { nodes: [{ ...NODE, isLinked: false }] };
  everyTenSeconds(0, 10, (second) => look(second, away));
  everyTenSeconds(20, 50, (second) => look(second, {}));
  t.same(reported, [], 'one beat is none');
  everyTenSeconds(60, 100, (second) => look(second, away));
  everyTenSeconds(110, 150, (second) => look(second, {}));
  t.same(reported, ['80 +node_offline', '130 -node_offline']);
});

t.test('a node that comes and goes is reported once', async (t) => {
  const { look, reported } = book();
  everyTenSeconds(0, 300, (second) => look(second, { nodes: [{ ...NODE, isLinked: second % 40 === 30 }] }));
  t.same(reported, ['20 +node_offline']);
});

t.test('states seen before a pause in watching do not count', async (t) => {
  const { look, reported } = book();
  const away = { nodes: [{ ...NODE, isLinked: false }] };
  look(0, away);
  look(600, away);
  look(610, away);
  t.same(reported, []);
  look(620, away);
  t.same(reported, ['620 +node_offline']);
});

t.test('a slot is down after its time; the slots of a node that is away are unknown', async (t) => {
  const { look, reported } = book();
  const down = { slots: [{ ...SLOT, state: 'lost' as const, reason: 'mass_storage' }] };
  everyTenSeconds(0, 60, (second) => look(second, down));
  t.same(reported, ['60 +slot_down']);
  everyTenSeconds(70, 300, (second) => look(second, { ...down, nodes: [{ ...NODE, isLinked: false }] }));
  t.same(reported.slice(1), ['90 +node_offline'], 'it is not over, either');
  everyTenSeconds(310, 370, (second) => look(second, { slots: [SLOT] }));
  t.same(reported.slice(2), ['330 -node_offline', '370 -slot_down']);
});

t.test('while a recovery starts the modem again, the alert keeps the cause', async (t) => {
  const { look, open } = book();
  const restarting = { slots: [{ ...SLOT, state: 'starting' as const }] };
  everyTenSeconds(0, 60, (second) => look(second, restarting));
  const alert = () => open.get('slot_down rack-1/m1');
  t.match(alert(), { summary: /is down: starting$/, advice: /shows the cause/ });
  look(70, { slots: [{ ...SLOT, state: 'sim_absent', reason: 'sim_absent' }] });
  everyTenSeconds(80, 100, (second) => look(second, restarting));
  t.match(alert(), { summary: /the modem sees no card/, advice: /^Insert a card/ });
});

t.test('the cause of an open alert is the present one, and its end names the last', async (t) => {
  const { look, open, ended } = book();
  let at = 0;
  const seen = (state: SlotReading['state'], reason: string | null, seconds: number): string | undefined => {
    everyTenSeconds(at, at + seconds - 10, (second) => look(second, { slots: [{ ...SLOT, state, reason }] }));
    at += seconds;
    return open.get('slot_down rack-1/m1')?.summary.replace(/^.* is down: /, '');
  };
  const SILENT = 'modem lost (it does not answer)';
  t.equal(seen('lost', 'absent', 70), 'modem lost (not plugged in)', 'the daemon itself starts');
  t.equal(seen('starting', null, 20), 'starting', 'it is plugged in');
  t.equal(seen('lost', 'silent', 20), SILENT);
  t.equal(seen('starting', null, 20), SILENT);
  t.equal(seen('lost', 'absent', 10), 'modem lost (not plugged in)', 'USB resets it');
  t.equal(seen('starting', null, 20), 'starting');
  seen('searching', null, 20);
  seen('registered', null, 80);
  seen('lost', 'absent', 200);
  seen('starting', null, 20);
  seen('searching', null, 20);
  seen('registered', null, 80);
  t.same(
    ended.map(({ summary }) => summary.replace(/^.* is down: /, '')),
    [SILENT, 'modem lost (not plugged in)'],
  );
});

t.test('64 slots of a node that goes are one trouble', async (t) => {
  const { look, reported } = book();
  const slots = Array.from({ length: 64 }, (_, index) => ({
    ...SLOT,
    slot: `m${index}`,
    state: 'lost' as const,
  }));
  everyTenSeconds(0, 300, (second) => look(second, { slots, nodes: [{ ...NODE, isLinked: false }] }));
  t.same(reported, ['20 +node_offline']);
});

t.test('a slot or a node that was taken away is no trouble any more', async (t) => {
  const { look, reported } = book();
  everyTenSeconds(0, 60, (second) => look(second, { slots: [{ ...SLOT, state: 'denied' }] }));
  everyTenSeconds(70, 140, (second) => look(second, { nodes: [] }));
  t.same(reported, ['60 +slot_down', '130 -slot_down']);
});

const storage = (used: number, total = 20): Partial<FleetSnapshot> => ({
  slots: [{ ...SLOT, storage: { used, total } }],
});

t.test('a storage that swings around 80 % is reported once, until it stays below 70 %', async (t) => {
  const { look, reported } = book();
  const minutes = [15, 16, 16, 15, 14, 13, 13, 14, 13, 13, 13, 13, 13, 13, 15, 16, 16];
  everyTenSeconds(0, 60 * minutes.length - 10, (second) =>
    look(second, storage(minutes[Math.floor(second / 60)] ?? 0)),
  );
  t.same(reported, ['120 +storage_full', '780 -storage_full', '960 +storage_full']);
});

t.test('a storage that is full and empty in turn is one alert at most', async (t) => {
  for (const [seconds, raised] of [
    [10, 0],
    [60, 0],
    [90, 1],
    [240, 1],
  ] as const) {
    const { look, reported } = book();
    everyTenSeconds(0, 3_600, (second) =>
      look(second, storage(Math.floor(second / seconds) % 2 === 0 ? 10 : 0, 10)),
    );
    t.equal(reported.length, raised, `every ${seconds} s`);
  }
});

t.test('a card that locks and unlocks in turn is one alert', async (t) => {
  const { look, reported } = book();
  const locked = { node: 'rack-1', slot: 'm1', state: 'wrong' as const, reason: 'sim_pin', sentTo: null };
  everyTenSeconds(0, 3_600, (second) => look(second, { locked: second % 80 < 70 ? [locked] : [] }));
  t.same(reported, ['60 +sim_pin']);
});

t.test('a journal that is long is no trouble while it gets shorter', async (t) => {
  const { look, reported } = book();
  const deep = (second: number, journalDepth: number): void =>
    look(second, { nodes: [{ ...NODE, journalDepth }] });
  everyTenSeconds(0, 1_500, (second) => deep(second, 5_000 - second));
  t.same(reported, []);
  everyTenSeconds(1_510, 2_400, (second) => deep(second, 3_000 + second));
  t.equal(reported.length, 1);
  deep(2_410, 300);
  t.equal(reported.length, 1, 'half of the threshold is well');
  deep(2_420, 249);
  t.same(reported.slice(1), ['2420 -journal_growing']);
});

t.test(
  'gas: a quarter more than the threshold is enough again; what cannot be read changes nothing',
  async (t) => {
    const { look, reported } = book();
    const left = (second: number, transfers: number | undefined): void =>
      look(second, { gas: new Map([[8453, transfers]]) });
    for (const [index, transfers] of [100, 99, 110, undefined, 0, 124, 125].entries())
      left(index * 10, transfers);
    t.same(reported, ['10 +relayer_low', '40 !relayer_low', '60 -relayer_low']);
  },
);

t.test('the pool: under the threshold for a minute; over it for five', async (t) => {
  const { look, reported } = book();
  everyTenSeconds(0, 50, (second) => look(second, { available: 4 }));
  look(60, { available: 5 });
  everyTenSeconds(70, 130, (second) => look(second, { available: 4 }));
  everyTenSeconds(140, 500, (second) => look(second, { available: second < 300 ? 5 : 6 }));
  t.same(reported, ['130 +pool_low']);
  everyTenSeconds(510, 600, (second) => look(second, { available: 6 }));
  t.same(reported.slice(1), ['600 -pool_low']);
});

t.test('payments: a refund has ten minutes; a list that is cut ends none', async (t) => {
  const { look, reported } = book();
  const since = new Date(START_MS);
  const refund = { id: 'pay_1', state: 'refunding', since, isPaid: true };
  look(590, { payments: { stuck: [refund], isCut: false } });
  t.same(reported, []);
  look(600, { payments: { stuck: [refund], isCut: false } });
  look(610, { payments: { stuck: [], isCut: true } });
  t.same(reported, ['600 +payment_stuck']);
  look(620, { payments: { stuck: [], isCut: false } });
  t.same(reported.slice(1), ['620 -payment_stuck']);
});

t.test('a raised alert shows the latest state of the slot and keeps its first time', async (t) => {
  const { look, open } = book();
  const raised = () => [...open.values()].find(({ kind }) => kind === 'slot_down');
  const down = (reason: string) => ({ slots: [{ ...SLOT, state: 'lost' as const, reason }] });
  everyTenSeconds(0, 60, (second) => look(second, down('mass_storage')));
  t.match(raised(), {
    summary: /lost \(the stick shows its driver disk\)$/,
    raisedAt: new Date(START_MS + 60_000),
  });
  look(70, down('no_answer'));
  t.match(raised(), { summary: /lost \(no answer\)$/, raisedAt: new Date(START_MS + 60_000) });
  look(80, { ...down('sim_puk'), nodes: [{ ...NODE, isLinked: false }] });
  t.match(raised(), { summary: /lost \(no answer\)$/ }, 'an unseen slot keeps its last state');
});

t.test('an alert that is over names what it was raised for, or what became critical', async (t) => {
  const { look, ended, open } = book();
  const down = (reason: string) => ({ slots: [{ ...SLOT, state: 'denied' as const, reason }] });
  everyTenSeconds(0, 60, (second) => look(second, down('denied_unknown_sim')));
  everyTenSeconds(70, 90, (second) => look(second, { slots: [{ ...SLOT, state: 'searching' }] }));
  t.match(
    [...open.values()],
    [{ summary: /: searching for a network$/ }],
    'the present state while it lasts',
  );
  everyTenSeconds(100, 160, (second) => look(second, { slots: [SLOT] }));
  t.match(ended, [{ kind: 'slot_down', summary: /: refused by the network \(/ }]);

  everyTenSeconds(170, 230, (second) => look(second, { available: 4 }));
  everyTenSeconds(240, 300, (second) => look(second, { available: 0 }));
  everyTenSeconds(310, 320, (second) => look(second, { available: 3 }));
  t.match([...open.values()], [{ summary: '3 numbers are available' }]);
  everyTenSeconds(330, 700, (second) => look(second, {}));
  t.match(ended.slice(1), [{ kind: 'pool_low', summary: '0 numbers are available' }]);
});

t.test('a warning becomes critical when it is so for as long as it takes to count', async (t) => {
  const { look, reported, open } = book();
  const severity = () => [...open.values()][0]?.severity;
  const left = (from: number, to: number, available: number): void =>
    everyTenSeconds(from, to, (second) => look(second, { available }));
  left(0, 60, 4);
  left(70, 120, 0);
  left(130, 180, 4);
  t.same(reported, ['60 +pool_low'], 'for fifty seconds: that may swing');
  left(190, 240, 0);
  t.equal(severity(), 'warning');
  left(250, 300, 0);
  t.same(reported.slice(1), ['250 !pool_low']);
  t.equal(severity(), 'critical');
  look(310, { available: 3 });
  t.match([...open.values()], [{ severity: 'warning', summary: '3 numbers are available' }]);
});

t.test('after a pause in watching, an earlier critical state does not count', async (t) => {
  const { look, reported } = book();
  everyTenSeconds(0, 60, (second) => look(second, { available: 4 }));
  look(70, { available: 0 });
  look(600, { available: 0 });
  t.same(reported, ['60 +pool_low']);
});
