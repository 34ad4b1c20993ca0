// SIMs that move between honest nodes, and what a node may still report of a SIM that it held.
import { randomUUID } from 'node:crypto';
import t from 'tap';
import { endLostCall } from '#control-plane/store/messages/call-ends.ts';
import { type CallRow, putCall } from '#control-plane/store/messages/calls.ts';
import type { FactOf } from '#shared/link/messages.ts';
import type { LiveCall } from '#shared/voice/call.ts';
import { jsonPost } from '../../fixtures/agents/json-post.ts';
import { received } from '../../fixtures/agents/subscriber.ts';
import { heard, report } from '../../fixtures/nodes/heard.ts';
import { EMPTY, FAST, honestNode, rogueOf, TEXT, VICTIM } from '../../fixtures/nodes/honest-node.ts';
import { acceptAll, linkNode, type ScriptedNodeOptions, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

t.test('an honest move takes a moment, and loses no text on either side of it', async (t) => {
  const { url, node, send, history, holds, listed } = await honestNode(t, rig, { service: FAST });
  const other = await linkNode(t, url, { nodeId: 'other', slots: [slotAt(1, { slot: 'm7' })] });
  // The card is in the other rack already, and its former one has not noticed.
  await other.report(received('read in its new slot'));
  t.same(other.commands('bind_sim'), [], 'it is not its yet');
  t.match((await listed('other'))?.unregistered_slots, [{ slot: 'm7', reason: 'claim_refused' }]);
  node.sendFact(1, received('read in its old slot'));
  const rest = Array.from({ length: 7 }, (_, index) => slotAt(index + 2));
  report(node, slotAt(1, EMPTY), ...rest);
  await holds('other');
  node.sendFact(2, received('late, from its old slot'));
  await until('all texts', async () => (await history()).length === 3);
  t.same((await history()).map(({ body }) => body).sort(), [
    'late, from its old slot',
    'read in its new slot',
    'read in its old slot',
  ]);
  t.equal((await send(TEXT)).status, 200);
  t.equal(other.commands('send_sms').length, 1);
  t.match(await listed('other'), { refused: {}, unregistered_slots: [] }, 'nothing was refused in the end');
});

t.test('facts that a former holder makes long after the move do not count', async (t) => {
  const { url, node, db, get, history, holds } = await honestNode(t, rig, { service: FAST });
  report(node, slotAt(1, EMPTY));
  await linkNode(t, url, { nodeId: 'other', slots: [slotAt(1, { slot: 'm7' })] });
  await holds('other');
  const hourAgo = new Date(Date.now() - 3_600_000);
  await db
    .updateTable('sim_tenures')
    .set({ since: new Date(hourAgo.getTime() - 3_600_000), until: hourAgo })
    .where('node_id', '=', 'honest')
    .where('iccid', '=', VICTIM)
    .execute();
  node.sendFact(1, received('forged an hour later'));
  const then = hourAgo.toISOString();
  node.sendFact(2, { ...received('it had this then'), received_at: then, sent_at: then });
  // One time of its own tenure and another of today: as a service center in a wrong zone stamps, and as a forger does.
  const now = new Date().toISOString();
  await node.report(
    { ...received('sent today'), received_at: hourAgo.toISOString(), sent_at: now },
    {
      kind: 'call_ended',
      call_id: `in_${randomUUID()}`,
      iccid: VICTIM,
      direction: 'inbound',
      peer: '+13105550199',
      started_at: now,
      answered_at: null,
      ended_at: hourAgo.toISOString(),
      reason: 'no_answer',
      cause: 19,
      audio: null,
    },
  );
  const waiting = await db.selectFrom('waiting_facts').select('fact').orderBy('position').execute();
  t.match(waiting, [{ fact: { body: 'forged an hour later' } }, { fact: { kind: 'call_ended' } }]);
  t.same((await get('/voice/calls')).body['calls'], []);
  t.same(
    (await history()).map(({ body }) => body),
    [],
    'and what it had then was of an earlier subscriber',
  );
});

t.test(
  'a call keeps no subscriber from calling: neither one that changes its SIM nor one of a SIM that has left',
  async (t) => {
    const onCommand: NonNullable<ScriptedNodeOptions['onCommand']> = (command) =>
      command.name === 'dial'
        ? { type: 'result', id: command.id, ok: true, result: { status: 'ringing' } }
        : acceptAll(command);
    const { url, node, number, headers, holds, listed } = await honestNode(t, rig, {
      onCommand,
      service: FAST,
    });
    const call = (iccid: string, callId: string): LiveCall => ({
      call_id: callId,
      iccid,
      direction: 'inbound',
      peer: '+13105550199',
      state: 'ringing',
      started_at: new Date().toISOString(),
      answered_at: null,
    });
    const dial = async () => {
      const response = await fetch(
        `${url}/voice/dial`,
        jsonPost({ phone_number: number, to: TEXT.to }, headers),
      );
      return response.status;
    };
    const own = slotAt(77, { slot: 'r1' });
    const rogue = await rogueOf(t, url, { slots: [own] });
    await heard(rogue);
    const ids = Array.from({ length: 5 }, () => `in_${randomUUID()}`);
    for (const id of ids) {
      rogue.send({ type: 'call', call: call(String(own.iccid), id) });
      rogue.send({ type: 'call', call: call(VICTIM, id) });
    }
    await heard(rogue);
    rogue.send({ type: 'call', call: call(VICTIM, `in_${randomUUID()}`) });
    await until('all were judged', async () => ((await listed('rogue'))?.refused.calls ?? 0) > 0);
    // The holder has a call, and loses the SIM with it.
    node.send({ type: 'call', call: call(VICTIM, `in_${randomUUID()}`) });
    report(node, slotAt(1, EMPTY));
    await linkNode(t, url, {
      nodeId: 'other',
      slots: [slotAt(1, { slot: 'm7' })],
      onCommand,
    });
    await holds('other');
    t.equal(await dial(), 200);
  },
);

t.test('a former holder of SIMs is not suspended for claiming them', async (t) => {
  const eight = Array.from({ length: 8 }, (_, index) => slotAt(index + 1));
  const { url, node, holds, listed } = await honestNode(t, rig, { service: FAST });
  report(node, ...eight.map(({ slot }) => slotAt(Number(slot.slice(1)), EMPTY)));
  await linkNode(t, url, {
    nodeId: 'other',
    slots: eight.map((each) => ({ ...each, slot: `n${each.slot}` })),
  });
  await holds('other');
  report(node, ...eight);
  await heard(node);
  await until('its claims are refused', async () => (await listed('honest'))?.refused.claims === 8);
  t.match(await listed('honest'), { is_suspended: false });
  await holds('other');
});

t.test('a former holder dates nothing into the time after it held the SIM', async (t) => {
  const HOUR_MS = 3_600_000;
  const { url, node, db, get, history, holds, listed } = await honestNode(t, rig, { service: FAST });
  report(node, slotAt(1, EMPTY));
  await linkNode(t, url, { nodeId: 'other', slots: [slotAt(1, { slot: 'm7' })] });
  await holds('other');
  const at = (hoursAgo: number): Date => new Date(Date.now() - hoursAgo * HOUR_MS);
  const ago = (hours: number): string => at(hours).toISOString();
  const between = async (since: number, until: number, soldAt: number) => {
    const tenure = db.updateTable('sim_tenures').set({ since: at(since), until: at(until) });
    await tenure.where('node_id', '=', 'honest').where('iccid', '=', VICTIM).execute();
    await db
      .updateTable('subscriptions')
      .set({ created_at: at(soldAt) })
      .execute();
  };
  const text = (body: string, sent: number, read: number) =>
    ({ ...received(body), sent_at: ago(sent), received_at: ago(read) }) as const;
  const call = (started: number, end: number): FactOf<'call_ended'> => ({
    kind: 'call_ended',
    call_id: `in_${randomUUID()}`,
    iccid: VICTIM,
    direction: 'inbound',
    peer: '+13105550199',
    started_at: ago(started),
    answered_at: null,
    ended_at: ago(end),
    reason: 'no_answer',
    cause: 19,
    audio: null,
  });

  await between(300, 200, 100);
  await node.report(text('a stamp of now', 0, 201), text('a stamp of weeks ahead', -400, 201), call(0, 201));
  await between(300, 12, 10);
  await node.report(text('a stamp of another time zone, before the sale', 2, 13));
  t.same(
    (await history()).map(({ body }) => body),
    [],
  );
  t.same((await get('/voice/calls')).body['calls'], []);
  t.match((await listed('honest'))?.refused, { facts: 3 });

  await between(300, 12, 100);
  await node.report(
    text('as it was', 14, 13),
    text('a stamp of another time zone', 5, 13),
    text('by a clock that was years behind', 13, 40_000),
    call(14, 13),
    call(13, 14),
  );
  t.same((await history()).map(({ body }) => body).sort(), [
    'a stamp of another time zone',
    'as it was',
    'by a clock that was years behind',
  ]);
  const calls = (await get('/voice/calls')).body['calls'] as Array<{ started_at: string; ended_at: string }>;
  t.equal(calls.length, 2);
  t.ok(
    calls.every(({ started_at, ended_at }) => started_at <= ended_at),
    'none begins after its end',
  );
});

t.test('the end of a call that names another SIM of its node is refused', async (t) => {
  const { url, node, db, listed } = await honestNode(t, rig, { service: FAST });
  const startedAt = new Date(Date.now() - 60_000);
  const call: CallRow = {
    callId: `in_${randomUUID()}`,
    subscriptionId: null,
    number: null,
    iccid: VICTIM,
    nodeId: 'honest',
    direction: 'inbound',
    peer: '+13105550199',
    state: 'active',
    startedAt,
    answeredAt: startedAt,
    answeredBy: null,
  };
  await putCall(db, call, startedAt);
  await endLostCall(db, call.callId, { reason: 'contact_lost', cause: 41, upAt: startedAt, now: startedAt });
  report(node, slotAt(1, EMPTY), slotAt(2));
  await linkNode(t, url, { nodeId: 'other', slots: [slotAt(1, { slot: 'm7' })] });
  await until('it holds the other SIM', async () => (await listed('honest')) !== undefined);
  await node.report({
    kind: 'call_ended',
    call_id: call.callId,
    iccid: String(slotAt(2).iccid),
    direction: 'inbound',
    peer: '+13105550199',
    started_at: startedAt.toISOString(),
    answered_at: startedAt.toISOString(),
    ended_at: new Date().toISOString(),
    reason: 'remote_hangup',
    cause: 16,
    audio: null,
  });
  t.match(await db.selectFrom('calls').select(['reason', 'cause', 'ended_at']).execute(), [
    { reason: 'contact_lost', cause: 41, ended_at: startedAt },
  ]);
  t.equal((await listed('honest'))?.refused.calls, 1);
});
