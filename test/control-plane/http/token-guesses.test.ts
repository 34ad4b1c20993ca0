// Clients that try tokens: counted by address over requests, tools and sockets, and without cost once there were too many.
import t, { type Test } from 'tap';
import WebSocket from 'ws';
import { mintToken } from '#control-plane/domain/bearer-token.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { countStatements } from '../../fixtures/database/statements.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { recoverToken } from '../../fixtures/payments/payer.ts';
import { MINUTE_MS, roundIsOver } from '../../fixtures/service/housekeeping.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const MAX = 20;

async function setup(t: Test) {
  const clock = new ManualClock();
  // A heartbeat asks the database, too: none is due here.
  const options = { clock, proxyHops: 1, requestsPerMinute: MAX, heartbeatMs: 10 * MINUTE_MS };
  const { url, databaseUrl } = await rig.start(t, options);
  await rig.connect(t, url);
  const alice = await subscribeInStore(
    databaseUrl,
    ALICE,
    String(slotAt(1).number),
    new Date(clock.now() - MINUTE_MS),
  );
  clock.advance(MINUTE_MS);
  await roundIsOver(clock);

  const headersOf = (from: string, token: string) => ({
    'X-Forwarded-For': from,
    Authorization: `Bearer ${token}`,
  });
  const ask = async (from: string, token = mintToken()): Promise<number> =>
    (await fetch(`${url}/number`, { headers: headersOf(from, token) })).status;
  const useTool = async (from: string): Promise<number> => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_number' } };
    const answer = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        ...headersOf(from, mintToken()),
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(message),
    });
    await answer.text();
    return answer.status;
  };
  const open = (from: string, token = mintToken()): Promise<number> => {
    const path = `/voice/presence/${encodeURIComponent(alice.number)}`;
    const socket = new WebSocket(url.replace('http', 'ws') + path, { headers: headersOf(from, token) });
    return new Promise((resolve, reject) => {
      socket.on('open', () => {
        socket.terminate();
        resolve(101);
      });
      socket.on('unexpected-response', (_request, answer) => {
        answer.resume();
        resolve(Number(answer.statusCode));
      });
      socket.on('error', reject);
    });
  };
  return { url, clock, alice, ask, useTool, open, statements: countStatements(t) };
}

const times = <T>(count: number, act: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, act));

for (const way of ['ask', 'open'] as const) {
  t.test(
    `by ${way === 'ask' ? 'requests' : 'sockets'}: so many cost a query each, all others none`,
    async (t) => {
      const service = await setup(t);
      const { alice, ask, clock, open, statements, url, useTool } = service;
      const guess = service[way];
      t.equal(await ask('192.0.2.1', alice.token), 200);
      const before = statements();
      const answers = await times(3 * MAX, () => guess('192.0.2.1'));
      t.same([...new Set(answers)].sort(), [401, 429]);
      t.ok(statements() - before <= MAX, `${statements() - before} statements, all at once`);
      while ((await guess('192.0.2.1')) === 401);

      const usedUp = statements();
      t.same(await times(10, () => ask('192.0.2.1')), Array(10).fill(429));
      t.same(await times(10, () => open('192.0.2.1')), Array(10).fill(429));
      t.same(await times(10, () => useTool('192.0.2.1')), Array(10).fill(429));
      t.same(
        await times(3, () => open('192.0.2.7, 192.0.2.1')),
        [429, 429, 429],
        'the address that the client wrote is ignored',
      );
      t.equal(statements(), usedUp, 'none of these reached the database');

      await until('the good token is looked up again', async () => {
        const asked = statements();
        t.equal(await ask('192.0.2.1', alice.token), 200);
        return statements() > asked;
      });
      t.equal(await open('192.0.2.1', alice.token), 101);
      t.equal(await guess('192.0.2.2'), 401, 'another address');
      t.equal(
        (await fetch(`${url}/availability`, { headers: { 'X-Forwarded-For': '192.0.2.1' } })).status,
        429,
        'one limit of an address',
      );
      clock.advance(2 * MINUTE_MS);
      t.equal(await guess('192.0.2.1'), 401);
    },
  );
}

t.test('a token that was once valid here is queried at any time, until it is revoked', async (t) => {
  const { alice, ask, clock, url } = await setup(t);
  t.equal(await ask('192.0.2.1', alice.token), 200);
  clock.advance(30 * 24 * 60 * MINUTE_MS);
  await roundIsOver(clock);
  while ((await ask('192.0.2.1')) === 401);
  t.equal(await ask('192.0.2.1', alice.token), 200, 'its address has been guessing');
  t.equal((await recoverToken(url, ALICE.privateKey)).status, 200);
  await until('revoked', async () => (await ask('192.0.2.1', alice.token)) === 429);
});

t.test('good tokens are not counted for their address', async (t) => {
  const { url, alice, ask, open } = await setup(t);
  t.equal(await ask('192.0.2.1', alice.token), 200);
  t.equal(await open('192.0.2.1', alice.token), 101);
  const answer = await fetch(`${url}/availability`, { headers: { 'X-Forwarded-For': '192.0.2.1' } });
  t.match(answer.headers.get('ratelimit'), `r=${MAX - 1};`);
});
