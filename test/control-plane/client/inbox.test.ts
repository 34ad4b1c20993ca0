// The inbox of the client library: one claim serves all who wait, and none of what it brings is lost.
import t from 'tap';
import { noAnswer } from '#control-plane/client/api-error.ts';
import { ClaimedMessages, type InboundMessage } from '#control-plane/client/inbox.ts';
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
});
const ALICE = '+13105550101';
const BOB = '+13105550102';

interface Claim {
  resolve: (messages: readonly InboundMessage[]) => void;
  reject: (error: Error) => void;
}

/** Claims that the test answers, in their order. */
function scripted() {
  const claims: Claim[] = [];
  const inbox = new ClaimedMessages(
    () => new Promise((resolve, reject) => void claims.push({ resolve, reject })),
  );
  return { inbox, claims };
}
t.test('two who wait share a claim, and each gets what it waits for', async (t) => {
  const { inbox, claims } = scripted();
  const both = Promise.all([inbox.wait({ from: BOB }), inbox.wait({ from: ALICE })]);
  t.equal(claims.length, 1);
  claims[0]?.resolve([message(1, ALICE), message(2, BOB), message(3, BOB)]);
  t.match(await both, [{ id: 2 }, { id: 1 }]);
  t.match(await inbox.takeAll(), [{ id: 3 }]);
});

t.test('what a claim brings after its waiter gave up is still there', async (t) => {
  const { inbox, claims } = scripted();
  const controller = new AbortController();
  const waiting = inbox.wait({ signal: controller.signal });
  controller.abort(new Error('enough'));
  await t.rejects(waiting, { message: 'enough' });
  const rest = inbox.takeAll();
  claims[0]?.resolve([message(1, ALICE)]);
  t.match(await rest, [{ id: 1 }]);
  await t.rejects(inbox.wait({ signal: controller.signal }), { message: 'enough' });
  t.equal(claims.length, 1, 'who has given up claims nothing');
});

t.test('errors are reported while it waits, until the time is over', async (t) => {
  const { inbox, claims } = scripted();
  const reported: string[] = [];
  const waiting = inbox.wait({ pollMs: 1, onTrouble: ({ code }) => reported.push(code) });
  claims[0]?.reject(noAnswer('unreachable', 'no server'));
  await until('it asks again', () => claims.length === 2);
  claims[1]?.resolve([message(1, BOB)]);
  t.match(await waiting, { id: 1 });
  t.same(reported, ['unreachable']);
  const late = inbox.wait({ timeoutMs: 0, pollMs: 1 });
  claims[2]?.reject(noAnswer('unreachable', 'no server'));
  await t.rejects(late, { code: 'timeout', message: /no such message/ });
});
