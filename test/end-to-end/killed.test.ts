// kill -9 of each program under traffic: what was accepted arrives, once; what was sent was sent once.
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { Agent, deliver, heard } from '../fixtures/agents/agent.ts';
import { buyNumber } from '../fixtures/payments/payer.ts';
import { startStack } from '../fixtures/stacks/started-stack.ts';
import { isWhole } from '../fixtures/sweep.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { until } from '../fixtures/until.ts';

const OUTSIDE = '+13105550188';
/** Leaves the programs time to start again. Texts wait for each of them, all the same. */
const PACE_MS = 100;
const VICTIMS = {
  1: ['node-daemon', 'control-plane', 'hardware-sim', 'node-daemon', 'hardware-sim', 'control-plane'],
  3: ['control-plane-1', 'control-plane-2', 'node-daemon', 'control-plane-3', 'control-plane-1'],
};

/** Repeats an attempt until `stop` is called, and keeps which texts were accepted. */
function keepTrying(name: string, attempt: (body: string) => Promise<boolean>) {
  const accepted: string[] = [];
  const stopping = new AbortController();
  const running = (async () => {
    for (let n = 1; !stopping.signal.aborted; n += 1) {
      const body = `${name} ${n}`;
      if (await attempt(body).catch(() => false)) accepted.push(body);
      await pause(PACE_MS);
    }
  })();
  const stop = async (): Promise<void> => {
    stopping.abort();
    await running;
  };
  return { accepted, stop };
}

const countOf = (texts: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
};

// Several instances: only in the whole.
for (const [instances, victims] of Object.entries(VICTIMS).slice(0, isWhole() ? undefined : 1))
  t.test(
    `nothing accepted is lost or doubled, whichever program is killed, with ${instances} instances of the service`,
    { timeout: 240_000 },
    async (t) => {
      const stack = await startStack(t, {
        dataDir: temporaryFolder(t),
        // Faster than an agent may be.
        env: {
          MODEMS: '2',
          CONTROL_PLANES: instances,
          TOKEN_REQUESTS_PER_MINUTE: '1000000',
          SMS_PER_MINUTE: '0',
          SMS_PER_DAY: '0',
          SMS_UNANSWERED_PER_DAY: '0',
        },
      });
      const { base_url: url, simulator_url: simulator, wallets } = stack.file();
      const [key] = wallets.map(({ private_key }) => private_key);
      if (key === undefined) throw new Error('no wallet');
      const alice = new Agent(url, await buyNumber(url, key));

      const received = keepTrying('in', (body) =>
        deliver(simulator, { from: OUTSIDE, to: alice.number, body }),
      );
      const sent = keepTrying('out', async (body) => (await alice.send(OUTSIDE, body)).status === 200);
      const claimed: string[] = [];
      const claims = keepTrying('claim', async () => {
        claimed.push(...(await alice.receive(7)).map(({ body }) => body));
        return true;
      });
      for (const victim of victims) {
        await stack.killAndAwaitRestart(victim);
        const before = { claimed: claimed.length, sent: sent.accepted.length };
        await until(
          `traffic both ways after ${victim}`,
          () => claimed.length > before.claimed + 10 && sent.accepted.length > before.sent + 10,
          40_000,
        );
      }
      await Promise.all([received.stop(), sent.stop(), claims.stop()]);

      const inHistory = async (direction: string) =>
        (await alice.history()).filter((message) => message.direction === direction);
      await until(
        'everything accepted has arrived',
        async () => {
          const bodies = new Set((await inHistory('received')).map(({ body }) => body));
          return received.accepted.every((body) => bodies.has(body));
        },
        30_000,
      );
      const arrived = countOf((await inHistory('received')).map(({ body }) => body));
      t.ok(received.accepted.length > 50, `${received.accepted.length} received`);
      t.same(
        [...arrived].filter(([, count]) => count !== 1),
        [],
        'none arrived twice',
      );
      t.same(
        [...countOf(claimed)].filter(([, count]) => count !== 1),
        [],
        'none was claimed twice',
      );

      const onAir = countOf((await heard(simulator)).map(({ body }) => body));
      t.ok(sent.accepted.length > 20, `${sent.accepted.length} sent`);
      t.same(
        sent.accepted.filter((body) => onAir.get(body) !== 1),
        [],
        'each accepted one is on the air once',
      );
      t.same(
        [...onAir].filter(([, count]) => count !== 1),
        [],
        'none is on the air twice',
      );
      const statuses = await until(
        'every send has its final status, as far as it can be known',
        async () => {
          const rows = await inHistory('sent');
          return rows.every(({ status }) => status !== 'sending') ? rows : undefined;
        },
        30_000,
      );
      const wrong = statuses.filter(({ status, body }) =>
        status === 'failed' ? onAir.has(body) : status !== 'unknown' && !onAir.has(body),
      );
      t.same(wrong, [], 'failed means not sent, anything but failed and unknown means sent');
    },
  );
