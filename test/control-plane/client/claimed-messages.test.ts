// The inbox of the client library: one claim serves all who wait, and none of what it brings is lost.
import t from 'tap';
import { errorOfAnswer, noAnswer } from '#control-plane/client/api-error.ts';
import { ClaimedMessages, type InboundMessage } from '#control-plane/client/claimed-messages.ts';
import { until } from '../../fixtures/until.ts';

const message = (id: number, from: string): InboundMessage => ({
  id,
  from_number: from,
  to_number: '+12065550100',
  body: `text ${id}`,
  message_id: null,
  created_at: '2026-11-21T10:00:00.000Z',
  received_at: null,
  opt_out_type: null,
  code: null,
  code_origin: null,
  code_embedded_origin: null,
  kind: 'text',
  mms: null,
});
const ALICE = '+13105550101';
const BOB = '+13105550102';

interface Claim {
  waitSeconds: number;
  signal: AbortSignal;
  resolve: (messages: readonly InboundMessage[]) => void;
  reject: (error: Error) => void;
}

/** Claims that the test answers, in their order. */
function scripted() {
  const claims: Claim[] = [];
  const inbox = new ClaimedMessages(
    (waitSeconds, signal) =>
      new Promise((resolve, reject) => void claims.push({ waitSeconds, signal, resolve, reject })),
  );
  return { inbox, claims };
}
t.test('two waiters share a claim, and each gets the message it waits for', async (t) => {
  const { inbox, claims } = scripted();
  const both = Promise.all([inbox.wait({ from: BOB }), inbox.wait({ from: ALICE })]);
  t.equal(claims.length, 1);
  claims[0]?.resolve([message(1, ALICE), message(2, BOB), message(3, BOB)]);
  t.match(await both, [{ id: 2 }, { id: 1 }]);
  t.match(await inbox.takeAll(), [{ id: 3 }]);
});

t.test('messages of a claim that outlives its waiter are kept for the next reader', async (t) => {
  const { inbox, claims } = scripted();
  const controller = new AbortController();
  const waiting = inbox.wait({ signal: controller.signal });
  controller.abort(new Error('enough'));
  await t.rejects(waiting, { message: 'enough' });
  t.ok(claims[0]?.signal.aborted, 'the service waits no longer');
  const rest = inbox.takeAll();
  claims[0]?.resolve([message(1, ALICE)]);
  t.match(await rest, [{ id: 1 }]);
  await t.rejects(inbox.wait({ signal: controller.signal }), { message: 'enough' });
  t.equal(claims.length, 1, 'a waiter that gave up claims nothing');
});

t.test('a claim waits as long as its wait, at most 50 s', async (t) => {
  for (const [timeoutMs, seconds] of [
    [undefined, 50],
    [10_900, 10],
    [900, 0],
  ] as const) {
    const { inbox, claims } = scripted();
    const waiting = inbox.wait(timeoutMs === undefined ? {} : { timeoutMs });
    t.equal(claims[0]?.waitSeconds, seconds);
    claims[0]?.resolve([message(1, BOB)]);
    t.match(await waiting, { id: 1 });
  }
});

t.test('a wait that joins a longer one ends in its own time; the claim goes on for the other', async (t) => {
  const { inbox, claims } = scripted();
  const long = inbox.wait({ from: ALICE, pollMs: 1 });
  await t.rejects(inbox.wait({ from: BOB, timeoutMs: 20 }), { code: 'timeout' });
  t.notOk(claims[0]?.signal.aborted);
  t.match(await inbox.takeAll(), [], 'a claim that others wait for delays no reader');
  claims[0]?.resolve([message(1, BOB)]);
  await until('the other one goes on', () => claims.length === 2);
  claims[1]?.resolve([message(2, ALICE)]);
  t.match(await long, { id: 2 });
  t.match(await inbox.takeAll(), [{ id: 1 }]);
});

t.test('a wait that comes after the last one has left begins a claim of its own', async (t) => {
  const { inbox, claims } = scripted();
  const controller = new AbortController();
  const first = inbox.wait({ signal: controller.signal });
  controller.abort(new Error('enough'));
  await t.rejects(first, { message: 'enough' });
  const second = inbox.wait({});
  t.equal(claims.length, 2);
  claims[0]?.reject(new Error('aborted'));
  claims[1]?.resolve([message(1, ALICE)]);
  t.match(await second, { id: 1 });
});

t.test('errors are reported while it waits, until the time is over', async (t) => {
  const { inbox, claims } = scripted();
  const reported: string[] = [];
  const waiting = inbox.wait({ pollMs: 1, onTrouble: ({ code }) => reported.push(code) });
  claims[0]?.reject(noAnswer('unreachable', 'no server'));
  await until('it asks again', () => claims.length === 2);
  // The page of a proxy.
  claims[1]?.reject(errorOfAnswer(502, undefined, null));
  await until('it asks again', () => claims.length === 3);
  claims[2]?.resolve([message(1, BOB)]);
  t.match(await waiting, { id: 1 });
  t.same(reported, ['unreachable', 'http_error']);
  const refused = inbox.wait({ pollMs: 1 });
  claims[3]?.reject(errorOfAnswer(404, undefined, null));
  await t.rejects(refused, { code: 'http_error', status: 404 });
  const late = inbox.wait({ timeoutMs: 0, pollMs: 1 });
  claims[4]?.reject(noAnswer('unreachable', 'no server'));
  await t.rejects(late, { code: 'timeout', message: /no such message/ });
});
