// Probes of more than one process on one database: each SIM has its turn once, and one that dies in the middle does no harm.
import t, { type Test } from 'tap';
import type { Database } from '#control-plane/store/database/database.ts';
import type { Fact } from '#shared/link/messages.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import {
  acceptAll,
  type Command,
  linkNode,
  ScriptedNode,
  slotAt,
} from '../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { startServiceProcess } from '../../fixtures/service/service-process.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig({ hasInstances: true });
const SLOTS = [1, 2, 3, 4].map((index) => slotAt(index));

/** The text of a `send_sms` as the SIM that gets it reports it. */
function arrivalOf({ params }: Command): Extract<Fact, { kind: 'sms_received' }> {
  const { iccid, to, body } = params as { iccid: string; to: string; body: string };
  const sender = SLOTS.find((slot) => slot.iccid === iccid);
  const recipient = SLOTS.find(({ number }) => number === to);
  const at = new Date().toISOString();
  return {
    kind: 'sms_received',
    iccid: String(recipient?.iccid),
    from: String(sender?.number),
    body,
    sent_at: at,
    received_at: at,
    partial: false,
  };
}

async function storeAt(t: Test, url: string) {
  const db = await openTestDatabase(t, url);
  const table = <T extends 'probes' | 'messages' | 'slot_service'>(name: T) =>
    (db as Database)
      .selectFrom(name as 'probes')
      .selectAll()
      .execute();
  return { probes: () => table('probes'), table };
}

t.test('two instances: each SIM sends once and receives once', { timeout: 120_000 }, async (t) => {
  const options = { probeMinutes: 60, probeTimeoutMs: 20_000 };
  const { url, databaseUrl } = await rig.start(t, options);
  const { url: otherUrl } = await rig.start(t, { ...options, databaseUrl });
  const nodes: ScriptedNode[] = [];
  const reported: [number, number] = [0, 0];
  const onCommand = (command: Command) => {
    if (command.name !== 'send_sms') return acceptAll(command);
    const arrival = arrivalOf(command);
    const place = SLOTS.findIndex(({ iccid }) => iccid === arrival.iccid) < 2 ? 0 : 1;
    void until('its node', () => nodes[place]).then((node) => {
      reported[place] += 1;
      node.sendFact(reported[place], arrival);
    });
    return acceptAll(command);
  };
  for (const [place, slots] of [SLOTS.slice(0, 2), SLOTS.slice(2)].entries()) {
    const nodeId = `rack-${place + 1}`;
    nodes.push(await ScriptedNode.connect(place === 0 ? url : otherUrl, { nodeId, slots, onCommand }));
    t.teardown(() => nodes[place]?.drop());
  }
  const { probes } = await storeAt(t, databaseUrl);
  const ended = await until(
    'a round of both',
    async () => {
      const rows = await probes();
      return rows.length >= 4 && rows.every(({ result }) => result !== null) ? rows : undefined;
    },
    60_000,
  );
  for (const { result, why } of ended) t.equal(result, 'delivered', String(why));
  const iccids = SLOTS.map(({ iccid }) => iccid);
  t.same(ended.map(({ from_iccid: iccid }) => iccid).sort(), iccids, 'each sent one');
});

t.test(
  'one that is killed while its text is under way: the next continues, and no slot is blamed',
  { timeout: 240_000 },
  async (t) => {
    const databaseUrl = await rig.postgres.createMigrated();
    const env = { PROBE_MINUTES: '1', PROBE_TIMEOUT_MS: '1000', SEND_TIMEOUT_MS: '2000' };
    const parts = { databaseUrl, rpcUrl: rig.chain.rpcUrl, env };
    const first = await startServiceProcess(t, parts);
    const slots = SLOTS.slice(0, 2);
    let taken: Command | undefined;
    const journalId = 'b4cd3b2e-8d0f-4a5e-9b39-0d1f6f1f2a11';
    const silent = (command: Command) => {
      if (command.name !== 'send_sms') return acceptAll(command);
      taken ??= command;
      return undefined;
    };
    await linkNode(t, first.url, { journalId, slots, onCommand: silent });
    const command = await until('a text', () => taken, 60_000);
    process.kill(first.pid, 'SIGKILL');

    const second = await startServiceProcess(t, parts);
    let sequence = 1;
    const after = await ScriptedNode.connect(second.url, {
      journalId,
      slots,
      onCommand(again) {
        if (again.name !== 'send_sms') return acceptAll(again);
        sequence += 1;
        after.sendFact(sequence, arrivalOf(again));
        return acceptAll(again);
      },
    });
    t.teardown(() => after.drop());
    after.sendFact(1, arrivalOf(command));
    const { probes, table } = await storeAt(t, databaseUrl);
    const rows = await until(
      'a round of the second',
      async () => {
        const all = await probes();
        return all.filter(({ result }) => result === 'delivered').length >= 3 ? all : undefined;
      },
      180_000,
    );
    t.match(
      rows.find(({ id }) => id === command.id),
      { result: 'delivered' },
      'the late text is recognized',
    );
    t.same(
      rows.filter(({ result }) => result === 'failed'),
      [],
    );
    t.same(await table('messages'), [], 'it is no subscriber’s message');
    t.same(await table('slot_service'), []);
  },
);
