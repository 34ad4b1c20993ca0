// Clients that are not nodes try to open links of nodes: a limited number of attempts of an address reach the database.
import pino from 'pino';
import t from 'tap';
import WebSocket from 'ws';
import { makeProof } from '#node-daemon/link/identity.ts';
import { LINK_PATH } from '#shared/link/version.ts';
import { MEDIA_PATH } from '#shared/voice/media.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { countStatements } from '../../fixtures/database/statements.ts';
import { identityOf, type NodeIdentity, newKey } from '../../fixtures/nodes/enrolled-node.ts';
import { roundIsOver } from '../../fixtures/service/housekeeping.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const MAX = 20;

type Answer = { status: number; rateLimit: string; retryAfter: string };

/** The answer to an upgrade. */
function open(url: string, headers: Record<string, string>): Promise<Answer> {
  const socket = new WebSocket(url, { headers });
  return new Promise((resolve, reject) => {
    socket.on('open', () => {
      socket.terminate();
      resolve({ status: 101, rateLimit: '', retryAfter: '' });
    });
    socket.on('unexpected-response', (_request, answer) => {
      answer.resume();
      const { headers, statusCode = 0 } = answer;
      const { ratelimit = '', 'retry-after': retryAfter = '' } = headers;
      resolve({ status: statusCode, rateLimit: String(ratelimit), retryAfter });
    });
    socket.on('error', reject);
  });
}

const times = <T>(count: number, act: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, act));

t.test('a node that opens links again and again waits', async (t) => {
  const clock = new ManualClock();
  const { url } = await rig.start(t, { clock, heartbeatMs: 600_000 });
  const [identity, other] = await Promise.all([identityOf(url, 'rack-1'), identityOf(url, 'rack-2')]);
  const link = ({ nodeId, key }: NodeIdentity): Promise<Answer> =>
    open(url.replace('http', 'ws') + LINK_PATH, {
      authorization: makeProof({ nodeId, controlPlaneUrl: url, key }, clock.now()),
    });
  const flood = await times(100, () => link(identity));
  t.equal(flood.filter(({ status }) => status === 101).length, 60);
  t.match(
    flood.find(({ status }) => status !== 101),
    { status: 429, retryAfter: '5' },
  );
  t.match(await link(other), { status: 101 }, 'another node has links of its own');
  clock.advance(5_000);
  t.match(await link(identity), { status: 101 });
});

t.test('invalid proofs and tickets cost the database only so many queries a minute', async (t) => {
  const clock = new ManualClock();
  const options = { clock, proxyHops: 1, linkAttemptsPerMinute: MAX, heartbeatMs: 600_000 };
  const { url } = await rig.start(t, options);
  await roundIsOver(clock);
  const base = url.replace('http', 'ws');
  const stranger = { nodeId: 'rack-1', controlPlaneUrl: url, key: newKey() };
  const tryLink = (from: string): Promise<Answer> =>
    open(base + LINK_PATH, { 'X-Forwarded-For': from, authorization: makeProof(stranger, clock.now()) });
  const tryMedia = (from: string): Promise<Answer> =>
    open(base + MEDIA_PATH, { 'X-Forwarded-For': from, authorization: 'SimrackMedia guess' });
  const statements = countStatements(t);

  const first = await tryLink('192.0.2.1');
  t.match(first, { status: 401, rateLimit: /^"link";r=19;t=\d+$/ });
  const flood = await times(3 * MAX, () => tryLink('192.0.2.1'));
  t.equal(flood.filter(({ status }) => status === 401).length, MAX - 1, 'all at once');
  // The rounds of the service may add some; the flood would add twice as many.
  t.ok(statements() < 1.5 * MAX, `${statements()} statements`);

  const usedUp = statements();
  const [refused] = await times(10, () => tryLink('192.0.2.1'));
  t.match(refused, { status: 429, rateLimit: /^"link";r=0;t=\d+$/ });
  t.same((await tryMedia('192.0.2.1')).status, 429, 'a guess at a ticket is one at a link');
  t.equal(
    (await tryLink('198.51.100.1, 192.0.2.1')).status,
    429,
    'the address that the client wrote is ignored',
  );
  t.equal(statements(), usedUp, 'none of these reached the database');

  t.equal((await tryMedia('192.0.2.2')).status, 401, 'another address');
  t.equal((await fetch(`${url}/availability`, { headers: { 'X-Forwarded-For': '192.0.2.1' } })).status, 200);
  await rig.connect(t, url);
  clock.advance(Number(refused?.retryAfter) * 1000);
  t.equal((await tryLink('192.0.2.1')).status, 401);
});

t.test(
  'valid proofs beyond the links of a node count: a stolen key has only so many of its address',
  async (t) => {
    const clock = new ManualClock();
    let ended = 0;
    const write = (line: string): void => {
      if (line.includes('node link ended')) ended += 1;
    };
    const log = pino({ level: 'info' }, { write });
    const { url } = await rig.start(t, { clock, log, linkAttemptsPerMinute: MAX, heartbeatMs: 600_000 });
    await roundIsOver(clock);
    const { nodeId, key } = await identityOf(url, 'rack-1');
    const link = (): Promise<Answer> =>
      open(url.replace('http', 'ws') + LINK_PATH, {
        authorization: makeProof({ nodeId, controlPlaneUrl: url, key }, clock.now()),
      });
    for (let opened = 0; opened < 60; opened += 1) t.equal((await link()).status, 101);
    for (let refused = 0; refused < MAX; refused += 1)
      t.match(await link(), { status: 429, rateLimit: /r=\d/ });
    // The end of a link is stored.
    await until('the links have ended', () => ended === 60);
    const statements = countStatements(t);
    const flood = await times(3 * MAX, link);
    t.same(new Set(flood.map(({ status }) => status)), new Set([429]));
    t.equal(statements(), 0, 'none of these reached the database');
  },
);

t.test('nodes that prove themselves are not counted, however often they come', async (t) => {
  const { url } = await rig.start(t, { linkAttemptsPerMinute: 2 });
  for (let count = 0; count < 6; count += 1) {
    const node = await rig.connect(t, url);
    await node.drop();
  }
});
