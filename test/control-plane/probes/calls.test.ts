// Rounds of probes on a schedule: texts, and calls that are answered here. The calls have no owner, even where a number was sold.
import t from 'tap';
import { readFleet } from '#control-plane/store/fleet/fleet-nodes.ts';
import { readSamples, takeSample } from '#control-plane/store/operations/samples.ts';
import type { Fact } from '#shared/link/messages.ts';
import type { LiveCall } from '#shared/voice/call.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { telephoneClient } from '../../fixtures/agents/telephone.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { acceptAll, type Command, ScriptedNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { readExposition } from '../../fixtures/service/exposition.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { modemStack } from '../../fixtures/stacks/modem-stack.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const MINUTE_MS = 60_000;
const ROUNDS = { probeMinutes: 1, probeCalls: true };

t.test('spare SIMs text and call each other, both ways', { timeout: 180_000 }, async (t) => {
  const service = { ...ROUNDS, probeTimeoutMs: 10_000, metricsPort: 0 };
  const { db, service: running } = await modemStack(t, rig, { modems: 2, service });
  const ended = () =>
    db.selectFrom('probes').selectAll().where('result', 'is not', null).orderBy('position').execute();
  await until('a round', async () => (await ended()).length === 4, 90_000);
  const [text, textBack, call, callBack] = await ended();
  t.match([text, textBack], [{ kind: 'sms' }, { kind: 'sms' }]);
  t.match([call, callBack], [{ kind: 'call' }, { kind: 'call' }]);
  for (const probe of [text, textBack, call, callBack])
    t.match(probe, { result: 'delivered', is_scheduled: true, latency_ms: Number, why: null });
  t.equal(text?.from_slot, textBack?.to_slot);
  t.equal(call?.from_slot, callBack?.to_slot);
  const over = await until('the calls are over', async () => {
    const calls = await db.selectFrom('calls').selectAll().execute();
    return calls.length === 4 && calls.every(({ state }) => state === 'ended') ? calls : undefined;
  });
  for (const row of over) t.match(row, { subscription_id: null, answered_at: Date, reason: /hangup/ });
  const metrics = await fetch(`http://127.0.0.1:${running.metricsPort}/metrics`);
  const families = readExposition(await metrics.text());
  const samples = families.get('simrack_probes_total')?.samples ?? [];
  const carrier = String(text?.from_carrier);
  for (const kind of ['sms', 'call'])
    t.match(
      samples.find(({ labels }) => labels['kind'] === kind),
      { value: 2, labels: { carrier, kind, result: 'delivered' } },
    );
  t.same(families.get('simrack_sms_ended_total')?.samples, [], 'in no figure of customers');
  t.same(await db.selectFrom('sent_texts').selectAll().execute(), []);
  t.equal(families.get('simrack_probe_slot_results_total')?.samples.length, 8, 'two slots, kinds and roles');
});

t.test(
  'a number that is sold while it is called: its holder hears nothing',
  { timeout: 120_000 },
  async (t) => {
    const { url, databaseUrl } = await rig.start(t, { ...ROUNDS, probeTimeoutMs: 1_000 });
    const [caller, called] = [slotAt(1), slotAt(2)];
    let dialled: Command | undefined;
    const node = await ScriptedNode.connect(url, {
      slots: [caller, called],
      onCommand(command) {
        if (command.name !== 'dial') return acceptAll(command);
        dialled ??= command;
        return undefined;
      },
    });
    t.teardown(() => node.drop());
    const dial = await until('a call', () => dialled, 60_000);
    t.match(dial.params, { iccid: caller.iccid, to: called.number });
    const headers = (await subscribeInStore(databaseUrl, ALICE, String(called.number))).headers;
    const alice = telephoneClient(t, { url, headers, number: String(called.number) });
    const presence = await alice.presence();

    const startedAt = new Date().toISOString();
    const report = (callId: string, change: Partial<LiveCall>): void =>
      node.send({
        type: 'call',
        call: {
          call_id: callId,
          iccid: String(called.iccid),
          direction: 'inbound',
          state: 'ringing',
          peer: caller.number,
          started_at: startedAt,
          answered_at: null,
          ...change,
        },
      });
    const outbound = { iccid: String(caller.iccid), direction: 'outbound', peer: called.number } as const;
    node.send({ type: 'result', id: dial.id, ok: true, result: { status: 'ringing' } });
    report(dial.id, { ...outbound, state: 'ringing' });
    report('call_of_the_probe', {});
    await until('it is answered here', () => node.commands('answer').length === 1);
    t.match(node.commands('answer')[0]?.params, { call_id: 'call_of_the_probe' });
    const db = await openTestDatabase(t, databaseUrl);
    const shown = async () => {
      const fleet = await readFleet(db, new Date());
      await takeSample(db, fleet, new Date(nextMinute));
      const span = {
        since: new Date(nextMinute),
        until: new Date(nextMinute + MINUTE_MS),
        stepMs: MINUTE_MS,
      };
      nextMinute += MINUTE_MS;
      const inCall = fleet.flatMap(({ slots }) => slots).filter(({ call }) => call !== null);
      return { inCall: inCall.length, plotted: (await readSamples(db, span))[0]?.callsUp };
    };
    let nextMinute = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
    await until('both modems are in a call', async () => (await shown()).inCall === 2);
    t.equal((await shown()).plotted, 0, 'a sold number in the call of a probe is in no plot of calls');
    const answeredAt = new Date().toISOString();
    report(dial.id, { ...outbound, state: 'active', answered_at: answeredAt });
    report('call_of_the_probe', { state: 'active', answered_at: answeredAt });
    await until('both hang up', () => node.commands('hang_up').length >= 2);
    t.same(
      node.commands('hang_up').map(({ params }) => (params as { call_id: string }).call_id),
      [dial.id, 'call_of_the_probe'],
    );
    const end = (callId: string, change: object): Fact =>
      ({
        kind: 'call_ended',
        call_id: callId,
        iccid: called.iccid,
        direction: 'inbound',
        peer: caller.number,
        started_at: startedAt,
        answered_at: answeredAt,
        ended_at: answeredAt,
        reason: 'remote_hangup',
        cause: 16,
        audio: null,
        ...change,
      }) as Fact;
    await node.report(end(dial.id, outbound), end('call_of_the_probe', {}), end('call_never_told', {}));
    report('call_of_a_person', { peer: '+13105550188' });
    await until('a call of a person', () => presence.texts.length > 0);
    t.same(
      presence.texts.map(({ kind, call_id: id }) => `${kind} ${id}`),
      ['ringing call_of_a_person'],
    );
    t.match(await alice.calls(), [{ call_id: 'call_of_a_person' }], 'nor does the list have it');
    t.equal((await alice.calls()).length, 1);
    t.match(await shown(), { inCall: 1, plotted: 1 }, 'the call of a person is in the plot');
    const result = async () =>
      (await db.selectFrom('probes').select('result').where('id', '=', dial.id).executeTakeFirst())?.result;
    t.equal(await until('the end of the probe', result), 'delivered');
  },
);
