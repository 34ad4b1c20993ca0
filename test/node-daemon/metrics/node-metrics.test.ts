// Metrics as Prometheus reads them: what happened is counted, what is now is measured, nothing private is in it.
import t, { type Test } from 'tap';
import { shownSlots } from '#node-daemon/host/shown-slots.ts';
import { countCommands, countFacts } from '#node-daemon/metrics/counting.ts';
import { NodeMetrics, type NodeView } from '#node-daemon/metrics/node-metrics.ts';
import type { Slot } from '#shared/link/slot.ts';
import { ScriptedHost } from '../modem/scripted-host.ts';

const SLOT: Slot = {
  slot: 'top-left',
  state: 'registered',
  reason: null,
  usb_path: '1-1.2',
  model: 'EC25',
  device_id: '350000000000017',
  iccid: '8901000000000000017',
  number: '+12065550017',
  operator: '00101',
  signal_dbm: -71,
  storage: { used: 3, total: 20 },
  swept_at: null,
};

function setUp(view: Partial<NodeView> = {}) {
  const metrics = new NodeMetrics({
    slots: () => [SLOT],
    journalDepth: () => 7,
    isJournalFailing: () => false,
    isLinked: () => true,
    alarms: () => ['no_modem'],
    hangingCalls: () => 0,
    callsUp: () => 2,
    ...view,
  });
  const lines = async () =>
    (await metrics.registry.metrics()).split('\n').filter((line) => !line.startsWith('#'));
  return { lines, metrics };
}

t.test('gauges show slots, signal, journal and link', async (t) => {
  const { lines } = setUp();
  const shown = await lines();
  for (const line of [
    'simrack_node_slot_state{slot="top-left",state="registered"} 1',
    'simrack_node_slot_state{slot="top-left",state="lost"} 0',
    'simrack_node_slot_info{slot="top-left",model="EC25",usb_path="1-1.2"} 1',
    'simrack_node_registered{slot="top-left"} 1',
    'simrack_node_signal_dbm{slot="top-left"} -71',
    'simrack_node_storage_used{slot="top-left"} 3',
    'simrack_node_storage_size{slot="top-left"} 20',
    'simrack_node_alarm{alarm="no_modem"} 1',
    'simrack_node_alarm{alarm="ports_hang"} 0',
    'simrack_node_journal_depth 7',
    'simrack_node_journal_failing 0',
    'simrack_node_link_up 1',
    'simrack_node_calls_up 2',
  ]) {
    t.ok(shown.includes(line), line);
  }
});

t.test('a slot that is renamed or gone leaves nothing behind', async (t) => {
  let slots: Slot[] = [SLOT];
  const { lines } = setUp({ slots: () => slots });
  await lines();
  slots = [{ ...SLOT, slot: 'other', state: 'lost', signal_dbm: null, storage: null }];
  const shown = (await lines()).join('\n');
  t.notMatch(shown, /top-left/);
  t.notMatch(shown, /(signal_dbm|storage_\w+)\{/);
  t.match(shown, 'simrack_node_registered{slot="other"} 0');
  t.match(shown, 'simrack_node_slot_state{slot="other",state="lost"} 1');
});

t.test(
  'a slot on the network has no service while the journal fails, and its SIM is registered',
  async (t) => {
    const view = (isFailing: boolean) =>
      shownSlots({
        journal: { isFailing },
        rack: { slots: () => [SLOT, { ...SLOT, slot: 'b', state: 'lost' }] },
      });
    t.same(
      view(true).map(({ state }) => state),
      ['journal_unavailable', 'lost'],
    );
    t.same(
      view(false).map(({ state }) => state),
      ['registered', 'lost'],
    );
    const shown = await setUp({ slots: () => view(true) }).lines();
    t.ok(shown.includes('simrack_node_slot_state{slot="top-left",state="journal_unavailable"} 1'));
    t.ok(shown.includes('simrack_node_slot_state{slot="top-left",state="registered"} 0'));
    t.ok(
      shown.includes('simrack_node_registered{slot="top-left"} 1'),
      'no alert says that it has no network',
    );
  },
);

t.test('counters show AT commands, steps, opens and failures', async (t) => {
  const { lines, metrics } = setUp();
  metrics.modems.commandEnded('top-left', { name: '+CMGS', result: 'ok', tookMs: 2_500 });
  metrics.modems.commandEnded('top-left', { name: '+CMGS', result: 'cms_error', tookMs: 500 });
  metrics.modems.stepTaken('top-left', 'radio', 'silent');
  metrics.modems.stepTaken('top-left', 'radio', 'silent');
  metrics.modems.portOpened('top-left');
  metrics.journalFailed();
  const shown = await lines();
  for (const line of [
    'simrack_node_at_commands_total{slot="top-left",command="+CMGS",result="ok"} 1',
    'simrack_node_at_commands_total{slot="top-left",command="+CMGS",result="cms_error"} 1',
    'simrack_node_at_command_duration_seconds_bucket{le="1",command="+CMGS"} 1',
    'simrack_node_at_command_duration_seconds_sum{command="+CMGS"} 3',
    'simrack_node_at_seconds_total{slot="top-left"} 3',
    'simrack_node_recovery_steps_total{slot="top-left",step="radio",reason="silent"} 2',
    'simrack_node_port_opens_total{slot="top-left"} 1',
    'simrack_node_journal_failures_total 1',
  ]) {
    t.ok(shown.includes(line), line);
  }
});

const received = (body: string) => ({
  kind: 'sms_received' as const,
  iccid: '8901000000000000017',
  from: '+12065550199',
  body,
  sent_at: null,
  received_at: '2026-01-01T00:00:00Z',
  partial: false,
});

t.test('an ended call is counted with its reason, duration and frames', async (t) => {
  const { lines, metrics } = setUp();
  const call = {
    kind: 'call_ended' as const,
    call_id: 'call_1',
    iccid: SLOT.iccid ?? '',
    direction: 'inbound' as const,
    peer: '+12065550199',
    started_at: '2026-01-01T00:00:00Z',
    ended_at: '2026-01-01T00:01:00Z',
    answered_at: '2026-01-01T00:00:30Z',
    reason: 'remote_hangup' as const,
    cause: 16,
    audio: {
      captured_frames: 1500,
      played_frames: 700,
      late_frames: 3,
      dropped_frames: 0,
      lost_frames: 1,
      capture_gaps: 2,
      xruns: 4,
    },
  };
  metrics.facts.fact(call, 'top-left');
  metrics.facts.fact({ ...call, answered_at: null, reason: 'cancelled', audio: null }, 'top-left');
  const shown = await lines();
  for (const line of [
    'simrack_node_calls_total{slot="top-left",direction="inbound",reason="remote_hangup"} 1',
    'simrack_node_calls_total{slot="top-left",direction="inbound",reason="cancelled"} 1',
    'simrack_node_call_seconds_total{slot="top-left",direction="inbound"} 30',
    'simrack_node_audio_frames_total{slot="top-left",outcome="captured"} 1500',
    'simrack_node_audio_frames_total{slot="top-left",outcome="late"} 3',
    'simrack_node_audio_frames_total{slot="top-left",outcome="lost"} 1',
    'simrack_node_audio_gaps_total{slot="top-left",kind="capture"} 2',
    'simrack_node_audio_gaps_total{slot="top-left",kind="xrun"} 4',
  ])
    t.ok(shown.includes(line), line);
  t.notMatch(shown.join('\n'), /2065550199/);
});

/** Facts go through a real journal; each is counted once, also after acknowledgements and a new identity. */
async function journalOf(t: Test, metrics: NodeMetrics) {
  const { journal } = await ScriptedHost.start(t);
  await journal.append({ kind: 'fact', fact: received('before') });
  countFacts(journal, (fact, iccid) =>
    metrics.facts.fact(fact, iccid === SLOT.iccid ? SLOT.slot : undefined),
  );
  return journal;
}

t.test('facts are counted once each, when they are durable', async (t) => {
  const { lines, metrics } = setUp();
  const journal = await journalOf(t, metrics);
  const fact = (body: string) => ({ kind: 'fact' as const, fact: received(body) });
  await Promise.all([journal.append(fact('a'), fact('b')), journal.append(fact('c'))]);
  journal.acknowledge(2);
  const at = '2026-01-01T00:00:00Z';
  await journal.append({ kind: 'intent', commandId: 'x', iccid: String(SLOT.iccid), to: '+12065550199', at });
  const outcome = (commandId: string) => ({
    kind: 'fact' as const,
    fact: {
      kind: 'sms_outcome' as const,
      command_id: commandId,
      outcome: { status: 'unknown' as const, message: 'm', at },
    },
  });
  await journal.append(outcome('x'), outcome('of an unknown SIM'));
  await journal.renew();
  await journal.append(fact('d'));
  const shown = await lines();
  t.ok(shown.includes('simrack_node_sms_received_total{slot="top-left",result="whole"} 4'), shown.join('\n'));
  t.ok(shown.includes('simrack_node_sms_sent_total{slot="top-left",result="unknown"} 1'), 'by its command');
  t.ok(shown.includes('simrack_node_sms_sent_total{slot="none",result="unknown"} 1'));
});

t.test('commands are counted by what was answered, and no stranger makes a label', async (t) => {
  const { lines, metrics } = setUp();
  const counted = countCommands(
    {
      async handle({ name }) {
        if (name === 'bind_sim') return { ok: true, result: {} };
        const code = name === 'send_sms' ? 'slot_unavailable' : 'command_unknown';
        return { ok: false, code, message: 'no' };
      },
    },
    metrics,
  );
  for (const name of ['bind_sim', 'send_sms', 'send_sms', 'drop_tables']) {
    await counted.handle({ id: name, name, params: {}, timeLeftMs: 1_000 });
  }
  t.same((await lines()).filter((line) => line.startsWith('simrack_node_commands_total')).sort(), [
    'simrack_node_commands_total{command="bind_sim",result="ok"} 1',
    'simrack_node_commands_total{command="send_sms",result="slot_unavailable"} 2',
    'simrack_node_commands_total{command="unknown",result="command_unknown"} 1',
  ]);
});

t.test('no number, ICCID, IMEI or text is ever shown', async (t) => {
  const { metrics } = setUp();
  metrics.facts.fact(received('secret text'), 'top-left');
  const shown = await metrics.registry.metrics();
  for (const secret of [SLOT.device_id, SLOT.iccid, SLOT.number, '12065550199', 'secret text']) {
    t.notOk(shown.includes(String(secret)), String(secret));
  }
});
