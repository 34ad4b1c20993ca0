// A text whose answer was lost while the service was still storing it: its status comes from the history, and is not `failed` before.
import t, { type Test } from 'tap';
import { ApiError } from '#control-plane/client/api-error.ts';
import type { HistoryMessage, SimrackClient } from '#control-plane/client/simrack-client.ts';
import type { TwilioAccount } from '#control-plane/client/twilio-api/account.ts';
import type { Callbacks } from '#control-plane/client/twilio-api/callbacks.ts';
import { Messages } from '#control-plane/client/twilio-api/messages.ts';
import { CallSids } from '#control-plane/client/twilio-api/sids.ts';
import { until } from '../../../fixtures/until.ts';

const NUMBER = '+12065550100';
const RECIPIENT = '+13105550188';

const ROW = {
  id: 1,
  direction: 'sent',
  from_number: NUMBER,
  to_number: RECIPIENT,
  body: 'hello',
  message_id: null,
  status: 'sending',
} as HistoryMessage;

const UNREACHABLE = new ApiError({ status: 0, code: 'unreachable', message: 'ECONNRESET' });

/** A number whose sends fail with `error`. `read` returns the history of each read, from 1. */
function lossy(t: Test, error: ApiError, read: (count: number) => HistoryMessage[]) {
  let reads = 0;
  const next = (): HistoryMessage[] => {
    reads += 1;
    return read(reads);
  };
  const client = {
    sendLong: () => Promise.reject(error),
    messages: async () => ({ messages: next(), next_cursor: null }),
    async *history() {
      yield* next();
    },
  } as unknown as SimrackClient;
  const statuses: string[] = [];
  const controller = new AbortController();
  t.teardown(() => controller.abort());
  const send: Callbacks['send'] = (_, { fields }) => void statuses.push(String(fields['MessageStatus']));
  const account: TwilioAccount = {
    sid: `AC${'0'.repeat(32)}`,
    authToken: 'token',
    phones: [{ client, number: NUMBER }],
    callSids: new CallSids(),
    callbacks: { send } as Callbacks,
    skipped: [],
    note: (words) => t.fail(words),
    signal: controller.signal,
  };
  const text = { To: RECIPIENT, From: NUMBER, Body: 'hello', StatusCallback: 'http://127.0.0.1/status' };
  const create = () => new Messages(account).create(new URLSearchParams(text));
  return { create, statuses, reads: () => reads };
}

for (const [name, error] of [
  ['a connection that breaks', UNREACHABLE],
  ['the 502 of a proxy', new ApiError({ status: 502, code: 'http_error', message: 'Bad Gateway' })],
] as const)
  t.test(`${name} before the row is stored: the text is sent, and never failed`, async (t) => {
    const { create, statuses } = lossy(t, error, (count) =>
      count === 1 ? [] : [{ ...ROW, message_id: 'msg_1', status: 'sent' }],
    );
    t.match(await create(), { status: 'sent', errorCode: null });
    t.same(statuses, ['sent']);
  });

t.test('the status of a text that is still being sent is followed to the last one', async (t) => {
  const { create, statuses } = lossy(t, UNREACHABLE, (count) => {
    if (count === 1) return [];
    return [count === 2 ? ROW : { ...ROW, message_id: 'msg_1', status: 'delivered' }];
  });
  t.match(await create(), { status: 'sending' });
  await until('it is delivered', () => statuses.includes('delivered'), 30_000);
  t.same(statuses, ['delivered']);
});

t.test('a text that does not appear has failed', async (t) => {
  const { create, statuses, reads } = lossy(t, UNREACHABLE, () => []);
  t.match(await create(), { status: 'failed', errorMessage: 'ECONNRESET' });
  t.same(statuses, ['failed']);
  t.ok(reads() > 1);
});

t.test('after an error of the service itself, its history is complete', async (t) => {
  const error = new ApiError({
    status: 502,
    code: 'phone_node_error',
    message: 'The modem did not confirm.',
  });
  const { create, reads } = lossy(t, error, () => []);
  t.match(await create(), { status: 'failed' });
  t.equal(reads(), 1);
});
