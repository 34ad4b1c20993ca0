// Wrong arguments to the library: each is refused by name, before any request.
import t from 'tap';
import { SimrackClient } from '#control-plane/client/simrack-client.ts';

// Port 1 refuses connections: a request would be an `ApiError`.
const client = new SimrackClient({ baseUrl: 'http://127.0.0.1:1', token: 'secret' });
const account = { address: '0x1', signMessage: () => '', signTypedData: () => '' };

/** Calls as a program without types makes them. */
const untyped = client as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
const call = async (method: string, ...args: unknown[]): Promise<unknown> =>
  untyped[method]?.call(client, ...args);
const construct = (options: unknown) => () => new SimrackClient(options as { baseUrl: string });

t.test('an unknown option is refused, with the one that was probably meant', async (t) => {
  const text = { to: '+13105550188', body: 'x' };
  for (const [method, args, message] of [
    [
      'sendLong',
      [{ ...text, gsm7: 'yes' }],
      /^sendLong\(\): unknown option "gsm7"\. The options are .*"transliterate"/,
    ],
    ['sendLong', [{ ...text, transliteration: true }], /Did you mean "transliterate"\?$/],
    [
      'waitForMessage',
      [{ timeout: 5 }],
      /^waitForMessage\(\): unknown option "timeout"\. Did you mean "timeoutMs"\?$/,
    ],
    ['waitForCode', [{ sender: '+13105550188' }], /unknown option "sender"/],
    ['stream', ['call-1', { onaudio: () => 0 }], /Did you mean "onAudio"/],
    ['watchCalls', ['+13105550188', { onEvents: () => 0 }], /Did you mean "onEvent"/],
    ['subscribe', [{ account, max: 1n }], /Did you mean "maxAmount"/],
  ] as const)
    await t.rejects(call(method, ...args), { name: 'TypeError', message }, method);
  t.throws(construct({ baseURL: 'http://127.0.0.1:1' }), { message: /Did you mean "baseUrl"/ });
});

t.test('a wrong or missing value is refused, and is not in the message', async (t) => {
  for (const [method, args, message] of [
    ['send', [], /^send\(\): the argument must be an object with "to", "body", not undefined$/],
    ['subscribe', [], /the options must be an object with "account", .*, not undefined$/],
    ['subscribe', [{ account: '0xsecret', maxAmount: 1n }], /"account" must be an account .*, not a string$/],
    [
      'subscribe',
      [{ account, maxAmount: 1800 }],
      /"maxAmount" must be a bigint, such as 1_800_000_000n, not a number$/,
    ],
    ['subscribe', [{ account }], /"maxAmount" is missing/],
    ['recover', [account], /unknown option "address"/],
    ['sendLong', ['+13105550188', 'x'], /must be an object with "to", "body", .*, not a string$/],
    [
      'sendLong',
      [{ to: '+13105550188', body: 'x', since: '2026-01-01' }],
      /"since" must be a valid Date, not a string$/,
    ],
    ['waitForMessage', [60_000], /not a number$/],
    ['waitForMessage', [{ match: 'code' }], /"match" must be a function, not a string$/],
    ['stream', [], /the id of the call must be a string that is not empty, not undefined$/],
    ['watchCalls', [undefined, { onEvent: () => 0 }], /the number must be a string/],
    ['send', ['+13105550188', 'x'], /must be an object with "to", "body", not a string$/],
    ['dial', [], /must be an object with "phone_number", "to"/],
    ['hangUp', ['call-1'], /must be an object with "call_id", not a string$/],
    ['messages', [5], /must be an object with "direction"/],
    ['deleteMessage', [], /the id must be a string that is not empty/],
  ] as const)
    await t.rejects(call(method, ...args), { name: 'TypeError', message }, method);
  t.throws(construct('http://127.0.0.1:1'), {
    name: 'TypeError',
    message: /^new SimrackClient\(\{ … \}\): .*not a string$/,
  });
  t.throws(construct({}), { message: /"baseUrl" is missing/ });
  t.throws(construct({ baseUrl: '127.0.0.1' }), { message: /127\.0\.0\.1/ });
});
