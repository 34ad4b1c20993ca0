// The report of what subscribers sent: how it ended, how fast, by carrier, node and slot; and what a node can do to it.
import t, { type Test } from 'tap';
import { deleteOldSentTexts } from '#control-plane/store/messages/sent-texts.ts';
import type { FactOf } from '#shared/link/messages.ts';
import { BOB } from '../../dev-stack/wallets.ts';
import { jsonPost } from '../../fixtures/agents/json-post.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { SLOT, subscriber } from '../../fixtures/agents/subscriber.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import {
  type Answer,
  acceptAll,
  type Command,
  linkNode,
  slotAt,
} from '../../fixtures/nodes/scripted-node.ts';
import { runCommand } from '../../fixtures/run-command.ts';
import { DATA_DIR } from '../../fixtures/service/data-dir.ts';
import { readExposition } from '../../fixtures/service/exposition.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const TIMEOUT = { timeout: 120_000 };
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const T_MOBILE = '310260';
const AT_T = '310410';
const TO = '+13105550188';
const rig = await createRig();

/** The answer of a node to a text; the body selects it. */
function answerOf(command: Command): Answer {
  const { body } = command.params as { body?: string };
  const at = new Date().toISOString();
  const rejected = (code: string): Answer => ({
    type: 'result',
    id: command.id,
    ok: true,
    result: { status: 'rejected', code, class: 'final', message: 'no', at },
  });
  if (body === 'cms') return rejected('cms_38');
  if (body === 'cme') return rejected('cme_100');
  if (body === 'limit') return { type: 'refusal', id: command.id, code: 'rate_limited', message: 'too many' };
  return acceptAll(command);
}

async function traffic(test: Test) {
  const clock = new ManualClock();
  const own = await subscriber(test, rig, {
    nodeId: 'rack-1',
    slots: [{ ...SLOT, operator: T_MOBILE }],
    onCommand: answerOf,
    service: { clock, heartbeatMs: 100_000 * MINUTE_MS, alertSlotDownMs: MINUTE_MS, metricsPort: 0 },
  });
  const other = slotAt(2, { operator: AT_T });
  const second = await linkNode(test, own.url, { nodeId: 'rack-2', journalId: 'journal-2', slots: [other] });
  const bob = await subscribeInStore(own.databaseUrl, BOB, String(other.number));
  const db = await openTestDatabase(test, own.databaseUrl);
  /** Reports the text with this body, by a node. */
  const report = async (
    node: typeof second,
    command: Command,
    change: Partial<FactOf<'sms_report'>> = {},
  ): Promise<void> => {
    await node.report({
      kind: 'sms_report',
      iccid: String(node === second ? other.iccid : SLOT.iccid),
      command_id: command.id,
      message_reference: 7,
      recipient: TO,
      part: 1,
      parts: 1,
      status: 'delivered',
      tp_status: 0,
      // A node may claim any time.
      at: '2020-01-01T00:00:00Z',
      ...change,
    });
  };
  const sent = (node: typeof second): Command => node.commands('send_sms').at(-1) as Command;
  const env = { DATABASE_URL: own.databaseUrl, DATA_DIR };
  const command = (...args: string[]) => runCommand(['report', 'traffic', ...args], env);
  const rows = async (...args: string[]) =>
    JSON.parse((await command('--json', ...args)).stdout).traffic as Record<string, unknown>[];
  return { ...own, clock, second, bob, db, report, sent, command, rows };
}

t.test('by carrier, node and slot: shares, times to the report, failures by class', TIMEOUT, async (t) => {
  const { send, node, second, bob, url, report, sent, command, rows, clock, service, db } = await traffic(t);
  for (const [body, seconds] of [
    ['one', 2],
    ['two', 4],
    ['three', 30],
  ] as const) {
    t.equal((await send({ to: TO, body })).status, 200);
    clock.advance(seconds * 1_000);
    await report(node, sent(node));
    await report(node, sent(node), { status: 'failed', tp_status: 0x41 });
  }
  for (const [status, tp_status] of [
    ['failed', 0x41],
    ['failed', 0x63],
    ['expired', 0x46],
  ] as const) {
    await send({ to: TO, body: `fails ${tp_status}` });
    await report(node, sent(node), { status, tp_status });
  }
  for (const body of ['cms', 'cme']) t.equal((await send({ to: TO, body })).status, 502);
  t.equal((await send({ to: TO, body: 'limit' })).status, 429, 'says nothing about the slot');
  await send({ to: TO, body: 'no report' });
  await fetch(`${url}/sms/send`, jsonPost({ to: TO, body: 'of Bob' }, bob.headers));
  await report(second, sent(second));

  const ofAlice = {
    sent: 9,
    delivered: 3,
    failed: 5,
    share: 37.5,
    p50_ms: 4_000,
    p95_ms: 30_000,
    failures: { undeliverable: 1, gave_up: 1, expired: 1, carrier_refused: 1, modem: 1 },
  };
  const ofBob = { sent: 1, delivered: 1, failed: 0, share: 100, failures: {} };
  t.match(await rows(), [
    { carrier: T_MOBILE, node: null, slot: null, ...ofAlice },
    { carrier: AT_T, ...ofBob },
  ]);
  t.match(await rows('--by', 'slot', '--sort', 'success', '--descending'), [
    { node: 'rack-2', slot: 'm2', carrier: AT_T, ...ofBob },
    { node: 'rack-1', slot: 'm1', carrier: T_MOBILE, ...ofAlice },
  ]);
  t.match(await rows('--by', 'node', '--limit', '1', '--after', 'rack-1'), [{ node: 'rack-2', ...ofBob }]);
  t.match(await rows('--carrier', 'at&t'), [{ carrier: AT_T }]);
  t.match(
    (await command('--csv', '--by', 'slot')).stdout,
    /rack-1,m1,T-Mobile \(310260\),9,38 %,3,5,1,4\.0 s,30\.0 s,/,
  );
  t.match(await command('--hours', '0'), { status: /[12]/, stderr: /hours from 1 to 192/ });
  const metrics = await (await fetch(`http://127.0.0.1:${service.metricsPort}/metrics`)).text();
  const ended = readExposition(metrics).get('simrack_sms_ended_total')?.samples ?? [];
  const of = (carrier: string, result: string) =>
    ended.find(({ labels }) => labels['carrier'] === carrier && labels['result'] === result)?.value;
  t.same([of(T_MOBILE, 'delivered'), of(T_MOBILE, 'carrier_refused'), of(AT_T, 'delivered')], [3, 1, 1]);
  const stored = JSON.stringify(await db.selectFrom('sent_texts').selectAll().execute());
  t.notMatch(stored, /\d{10,}.*5550188|of Bob|no report/, 'no number of a person, and no text');
  await deleteOldSentTexts(db, new Date(clock.now() + 7 * DAY_MS));
  t.equal((await db.selectFrom('sent_texts').select('slot').execute()).length, 10);
  await deleteOldSentTexts(db, new Date(clock.now() + 9 * DAY_MS));
  t.same(await db.selectFrom('sent_texts').select('slot').execute(), []);
});

t.test(
  'a node changes the figures of its own texts only, each once, and cannot date them',
  TIMEOUT,
  async (t) => {
    const { send, node, second, report, sent, rows, clock } = await traffic(t);
    await send({ to: TO, body: 'one' });
    await report(second, sent(node), { status: 'failed', tp_status: 0x41 });
    await report(second, sent(node));
    t.match(await rows(), [{ sent: 1, delivered: 0, failed: 0, share: null, p50_ms: null }], 'not its text');
    clock.advance(9_000);
    await report(node, { ...sent(node), id: 'msg_that_nobody_sent' });
    await report(node, sent(node));
    await report(node, sent(node));
    t.match(await rows(), [{ sent: 1, delivered: 1, p50_ms: 9_000 }], 'by the clock of the service');
    t.equal((await rows('--by', 'slot')).length, 1);
  },
);
