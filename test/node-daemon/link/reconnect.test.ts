// When a node comes back: jitter, caps, Retry-After, wrong clocks, who is stopped.
import t from 'tap';
import type { LinkEnd } from '#node-daemon/link/link-socket.ts';
import { planReconnect } from '#node-daemon/link/reconnect.ts';

const NOW = Date.parse('2026-11-21T09:00:00Z');
const closed = (code: number): LinkEnd => ({ code, reason: '', refusal: undefined, failure: undefined });
const refused = (status: number, headers: Record<string, string> = {}): LinkEnd => ({
  ...closed(1006),
  refusal: { status, headers },
});
const plan = (end: LinkEnd, change: object = {}, random = 0.5) =>
  planReconnect(
    end,
    { isLost: false, attempt: 0, proofsRefused: 3, awayMs: 0, clockOffsetMs: 0, ...change },
    NOW,
    random,
  );

t.test('a lost link is opened again within 1.5 s, at random; the next attempts double 250 ms', async (t) => {
  t.equal(plan(closed(1006), { isLost: true }, 0).delayMs, 50);
  t.equal(plan(closed(1001), { isLost: true }, 1).delayMs, 1_500);
  t.equal(plan(closed(1006), { isLost: true, attempt: 1 }, 1).delayMs, 1_500, 'it was short');
  t.equal(plan(closed(1006), { isLost: true, attempt: 6 }, 1).delayMs, 3_000, 'again and again');
  for (const end of [closed(1006), refused(503)]) {
    t.equal(plan(end, {}, 0).delayMs, 50);
    t.equal(plan(end, {}, 1).delayMs, 250);
    t.equal(plan(end, { attempt: 1 }, 1).delayMs, 500);
  }
});

t.test('no node waits longer than 3 s within two minutes, and 30 s after', async (t) => {
  for (const attempt of [6, 20, 1000]) {
    t.equal(plan(closed(1006), { attempt, awayMs: 119_999 }, 1).delayMs, 3_000);
    t.equal(plan(closed(1006), { attempt: attempt + 10, awayMs: 120_000 }, 1).delayMs, 30_000);
  }
});

t.test('codes and statuses say retry, slow or stop', async (t) => {
  for (const [end, reconnect] of [
    [closed(1006), 'retry'],
    [closed(1001), 'retry'],
    [closed(1011), 'retry'],
    [closed(4400), 'retry'],
    [closed(4999), 'retry'],
    [closed(4401), 'stop'],
    [closed(4403), 'stop'],
    [closed(4409), 'slow'],
    [closed(4426), 'slow'],
    [refused(401), 'stop'],
    [refused(403), 'stop'],
    [refused(404), 'slow'],
    [refused(409), 'retry'],
    [refused(429), 'retry'],
    [refused(500), 'retry'],
    [refused(503), 'retry'],
  ] as const) {
    t.equal(plan(end).reconnect, reconnect, JSON.stringify(end));
  }
});

t.test('a 401 is tried again with three fresh proofs, a 403 with none', async (t) => {
  const reconnects = (status: number) =>
    [0, 1, 2, 3, 4].map((proofsRefused) => plan(refused(status), { proofsRefused }).reconnect);
  t.same(reconnects(401), ['retry', 'retry', 'retry', 'stop', 'stop']);
  t.same(reconnects(403), ['stop', 'stop', 'stop', 'stop', 'stop']);
});

t.test('Retry-After is kept, jittered, and not believed beyond a minute', async (t) => {
  t.equal(plan(refused(503, { 'retry-after': '5' }), {}, 0).delayMs, 5_000);
  t.equal(plan(refused(503, { 'retry-after': '5' }), {}, 1).delayMs, 10_000);
  t.equal(plan(refused(503, { 'retry-after': '999999' }), {}, 0).delayMs, 60_000);
  t.ok(plan(refused(503, { 'retry-after': 'Sat, 21 Nov 2026 09:00:00 GMT' })).delayMs <= 250);
});

t.test('a wrong clock is a reason to come back at once, a right one is not', async (t) => {
  const year = 365 * 86_400_000;
  const off = plan(refused(401, { 'x-simrack-time': String(NOW + 30 * year) }));
  t.match(off, { reconnect: 'retry', clockOffsetMs: 30 * year });
  const again = plan(refused(401, { 'x-simrack-time': String(NOW + 30 * year) }), {
    clockOffsetMs: 30 * year,
  });
  t.match(again, { reconnect: 'stop', clockOffsetMs: 30 * year });
  t.match(plan(refused(401, { 'x-simrack-time': String(NOW + 900) })), {
    reconnect: 'stop',
    clockOffsetMs: 0,
  });
  t.match(plan(refused(401, { 'x-simrack-time': 'soon' })), { reconnect: 'stop' });
  t.match(
    plan(refused(503, { 'x-simrack-time': String(NOW + year) })),
    { clockOffsetMs: 0 },
    'only of a 401',
  );
});
