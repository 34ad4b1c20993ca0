// The owner of a report: references wrap, stand still or are not known; clocks distinguish messages, or do not.
import t from 'tap';
import { CommandMap, type CommandState } from '#node-daemon/journal/command-map.ts';
import {
  acceptedOwner,
  doubtfulOwner,
  isUncertain,
  ownerOf,
  reportFacts,
  reportStatusOf,
} from '#node-daemon/modem/sms/sms-reports.ts';
import type { StatusReport } from '#node-daemon/sms/tpdu.ts';

const ICCID = '8901000000000000017';
const NOW = Date.parse('2026-11-21T12:00:00Z');
const HOUR_MS = 3_600_000;
const at = (agoMs: number): string => new Date(NOW - agoMs).toISOString();

const command = (agoMs: number, change: Partial<CommandState> = {}): CommandState => ({
  iccid: ICCID,
  to: '+15550000012',
  at: at(agoMs),
  segments: 1,
  boot: undefined,
  references: [7],
  reported: [],
  outcome: { status: 'accepted', message_references: [7], at: at(agoMs) },
  ...change,
});
const unknown = (agoMs: number, change: Partial<CommandState> = {}): CommandState =>
  command(agoMs, {
    references: [],
    outcome: { status: 'unknown', message: 'no answer', at: at(agoMs) },
    ...change,
  });
const report = (agoMs: number | null, change: Partial<StatusReport> = {}): StatusReport => ({
  kind: 'statusReport',
  messageReference: 7,
  recipient: '+15550000012',
  status: 0,
  acceptedAt: agoMs === null ? null : at(agoMs),
  dischargedAt: at(0),
  ...change,
});

function searched(commands: Record<string, CommandState>) {
  const map = new CommandMap();
  for (const [id, state] of Object.entries(commands)) map.set(id, state);
  const search = { iccid: ICCID, commands: map, now: NOW };
  return {
    accepted: (which: StatusReport) => acceptedOwner(which, search),
    doubtful: (which: StatusReport) => doubtfulOwner(which, search),
    owner: (which: StatusReport) => ownerOf(which, search),
    isUncertain: (which: StatusReport) => isUncertain(acceptedOwner(which, search), which, search),
  };
}

t.test('references that wrapped: the message of that time, not the newest', async (t) => {
  const { accepted } = searched({ early: command(5 * HOUR_MS), late: command(HOUR_MS) });
  t.equal(accepted(report(5 * HOUR_MS - 3_000))?.commandId, 'early');
  t.equal(accepted(report(HOUR_MS - 3_000))?.commandId, 'late');
});

t.test("yesterday's report is not today's", async (t) => {
  const { accepted, doubtful } = searched({ today: command(60_000), lost: unknown(60_000) });
  t.equal(accepted(report(24 * HOUR_MS)), undefined);
  t.equal(doubtful(report(24 * HOUR_MS)), undefined);
});

t.test('if the clocks cannot both be right, the newest message gets the report', async (t) => {
  const { accepted, doubtful } = searched({
    early: command(5 * HOUR_MS),
    late: command(HOUR_MS),
    lost: unknown(0),
  });
  for (const time of [null, 365 * 24 * HOUR_MS, -24 * HOUR_MS]) {
    t.equal(accepted(report(time))?.commandId, 'late');
    t.equal(doubtful(report(time)), undefined, 'a report without a reference is not guessed at');
  }
});

t.test('the recipient in another form: national, without a plus', async (t) => {
  const { accepted } = searched({ c: command(1_000) });
  for (const recipient of ['15550000012', '5550000012', '0015550000012', '+1 555 000 0012']) {
    t.equal(accepted(report(1_000, { recipient }))?.commandId, 'c', recipient);
  }
  for (const recipient of ['+15550000013', '12', ''])
    t.equal(accepted(report(1_000, { recipient })), undefined);
});

t.test('another SIM, another reference', async (t) => {
  const { accepted } = searched({ other: command(1_000, { iccid: '8901000000000000025' }) });
  t.equal(accepted(report(1_000)), undefined);
  t.equal(accepted(report(1_000, { messageReference: 8 })), undefined);
});

t.test('a modem with one reference for all: each message gets one report', async (t) => {
  const commands = { a: command(30_000), b: command(20_000), c: command(10_000) };
  t.equal(searched(commands).accepted(report(25_000))?.commandId, 'a');
  const next = { ...commands, a: command(30_000, { reported: [1] }) };
  t.equal(searched(next).accepted(report(25_000))?.commandId, 'b');
});

t.test(
  'a reference that came round within a minute: the message of that second, also while it is being sent',
  async (t) => {
    const sending = { references: [], outcome: undefined };
    const before = command(44_000, { segments: 2, references: [18, 7], reported: [2] });
    const unreported = command(44_000);
    const now = report(0);
    t.equal(searched({ unreported, late: command(0) }).accepted(now)?.commandId, 'late');
    t.equal(searched({ unreported }).isUncertain(now), false, 'its own report may be late');
    for (const early of [before, unreported]) {
      t.ok(searched({ early, late: command(400, sending) }).isUncertain(now));
      t.equal(searched({ early, late: unknown(400) }).owner(now)?.commandId, 'late');
    }
    const queued = command(60_000, {
      outcome: { status: 'accepted', message_references: [7], at: at(1_000) },
    });
    t.equal(
      searched({ queued, other: command(30_000) }).accepted(now)?.commandId,
      'queued',
      'it waited for its turn',
    );
  },
);

t.test('a repeated report is of the same message', async (t) => {
  const { accepted } = searched({
    a: command(30_000, { reported: [1] }),
    later: command(HOUR_MS / 2 - HOUR_MS),
  });
  t.equal(accepted(report(29_000))?.commandId, 'a');
});

t.test('the part of a message of several segments', async (t) => {
  const { accepted } = searched({ c: command(1_000, { segments: 3, references: [6, 7, 8] }) });
  for (const [messageReference, part] of [
    [6, 1],
    [7, 2],
    [8, 3],
  ] as const) {
    t.match(accepted(report(1_000, { messageReference })), { commandId: 'c', part });
  }
  const still = searched({ c: command(1_000, { segments: 2, references: [0, 0], reported: [1] }) });
  t.match(
    still.accepted(report(1_000, { messageReference: 0 })),
    { part: 2 },
    'equal references: the next one',
  );
});

t.test('an unknown message is settled by the one report that can be its own', async (t) => {
  const { doubtful } = searched({ lost: unknown(60_000), other: unknown(60_000, { to: '+15550000013' }) });
  const owner = doubtful(report(55_000, { messageReference: 99 }));
  t.match(owner, { commandId: 'lost', part: 1 });
  t.match(reportFacts(ICCID, report(55_000, { messageReference: 99 }), { owner, receivedAt: at(0) }), [
    { kind: 'sms_outcome', command_id: 'lost', outcome: { status: 'accepted', message_references: [99] } },
    { kind: 'sms_report', command_id: 'lost', part: 1, parts: 1, status: 'delivered' },
  ]);
});

t.test('of two candidates neither gets the report', async (t) => {
  const { doubtful } = searched({ a: unknown(60_000), b: unknown(50_000) });
  t.equal(doubtful(report(45_000)), undefined);
});

t.test('a report whose time does not fit gets no message', async (t) => {
  const { doubtful } = searched({ lost: unknown(HOUR_MS) });
  t.equal(doubtful(report(HOUR_MS + 2 * 60_000)), undefined, 'before it was given');
  t.equal(doubtful(report(HOUR_MS - 6 * 60_000)), undefined, 'after the modem gave it up');
  t.ok(doubtful(report(HOUR_MS - 60_000)));
});

t.test('any message without an outcome may be with the modem', async (t) => {
  const open = { references: [], outcome: undefined };
  const elsewhere = command(3_000, { ...open, to: '+15550000013' });
  const one = searched({ elsewhere, next: command(2_000, open) });
  t.match(one.doubtful(report(1_000, { messageReference: 3 })), { commandId: 'next' });
  const two = searched({ elsewhere, lost: unknown(290_000), next: command(2_000, open) });
  t.equal(two.doubtful(report(1_000, { messageReference: 3 })), undefined, 'two that it can be');
});

t.test('of an unfinished message the segment in doubt is settled, and no more', async (t) => {
  const { doubtful } = searched({ lost: unknown(9_000, { segments: 3, references: [6] }) });
  const owner = doubtful(report(5_000));
  t.match(owner, { commandId: 'lost', part: 2 });
  t.match(reportFacts(ICCID, report(5_000), { owner, receivedAt: at(0) }), [
    { kind: 'sms_report', command_id: 'lost', part: 2, parts: 3 },
  ]);
});

t.test('a message with all references known was accepted, whatever its outcome said', async (t) => {
  const { accepted } = searched({ lost: unknown(9_000, { segments: 2, references: [7, 8] }) });
  const owner = accepted(report(5_000));
  t.match(reportFacts(ICCID, report(5_000), { owner, receivedAt: at(0) }), [
    { kind: 'sms_outcome', command_id: 'lost', outcome: { status: 'accepted', message_references: [7, 8] } },
    { kind: 'sms_report', command_id: 'lost', part: 1, parts: 2 },
  ]);
  const two = { segments: 2, references: [7, 7] };
  const equal = searched({ lost: unknown(9_000, two) }).accepted(report(5_000));
  t.match(reportFacts(ICCID, report(5_000), { owner: equal, receivedAt: at(0) }), [{ kind: 'sms_report' }]);
  t.equal(reportFacts(ICCID, report(5_000), { owner: equal, receivedAt: at(0) }).length, 1);
});

t.test('a modem that reports 0 for every message', async (t) => {
  const zero = { references: [0] };
  const one = searched({ a: command(9_000, { ...zero, reported: [1] }), b: command(8_000, zero) });
  t.match(one.doubtful(report(7_000, { messageReference: 41 })), { commandId: 'b' });
  const two = searched({ a: command(9_000, zero), b: command(8_000, zero) });
  t.equal(two.doubtful(report(7_000, { messageReference: 41 })), undefined, 'two that it can be');
});

t.test('a report without an owner has no command', async (t) => {
  t.match(reportFacts(ICCID, report(0), { owner: undefined, receivedAt: at(0) }), [
    { kind: 'sms_report', command_id: null, part: 1, parts: 1, message_reference: 7 },
  ]);
});

t.test('the meaning of each TP-Status (3GPP TS 23.040 §9.2.3.15)', async (t) => {
  const meanings = { 0: 'delivered', 1: 'delivered', 31: 'delivered', 32: 'pending', 48: 'pending' };
  const ends = { 64: 'failed', 70: 'expired', 72: 'failed', 96: 'failed', 101: 'failed', 255: 'failed' };
  for (const [status, meaning] of Object.entries({ ...meanings, ...ends })) {
    t.equal(reportStatusOf(Number(status)), meaning, status);
  }
});
