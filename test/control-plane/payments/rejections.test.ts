// Each way to pay wrongly, in each protocol: the challenge again, with a stable code, and nothing moved or reserved.
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import t, { type Test } from 'tap';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { TRANSFER_WITH_AUTHORIZATION_TYPES } from '#shared/api/payment-networks.ts';
import { ALICE, BOB, PAY_TO } from '../../dev-stack/wallets.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { signMpp, signV1, signV2 } from '../../fixtures/payments/payment-headers.ts';
import { availableAt } from '../../fixtures/payments/presented.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { requireTool } from '../../fixtures/tools.ts';

const rig = await createRig();
const PAUPER = `0x${'42'.repeat(32)}` as const;
const { chain } = rig;
const { url } = await rig.start(t);
await rig.connect(t, url, { slots: [slotAt(1), slotAt(2)] });
const moneyOf = (): Promise<bigint> => chain.dollar.balanceOf(PAY_TO.address);
const before = await moneyOf();

// biome-ignore lint/suspicious/noExplicitAny: what a client wrote is changed in every way.
type Written = any;
type Change = (written: Written) => void;

interface Authorization {
  from: Hex;
  to: Hex;
  value: string;
  validAfter: string;
  validBefore: string;
  nonce: Hex;
}

const decoded = (header: string): Written => JSON.parse(Buffer.from(header, 'base64').toString());
const base64 = (written: Written): string => Buffer.from(JSON.stringify(written)).toString('base64');
const base64url = (written: Written): string => Buffer.from(JSON.stringify(written)).toString('base64url');

const [v1, v2, mpp] = await Promise.all([
  signV1(url, ALICE.privateKey).then(decoded),
  signV2(url, ALICE.privateKey).then(decoded),
  signMpp(url, ALICE.privateKey).then(decoded),
]);

function changed(written: Written, change: Change): Written {
  const copy = structuredClone(written);
  change(copy);
  return copy;
}

const DOMAIN = { name: 'USDC', version: '2', chainId: chain.chainId, verifyingContract: chain.dollar.asset };

/** The v1 payment with another authorization, signed for it. */
async function resigned(
  fields: Partial<Authorization>,
  { domain = {}, key = ALICE.privateKey }: { domain?: Partial<typeof DOMAIN>; key?: Hex } = {},
): Promise<Written> {
  const authorization: Authorization = { ...v1.payload.authorization, ...fields };
  const { value, validAfter, validBefore, ...rest } = authorization;
  const signature = await privateKeyToAccount(key).signTypedData({
    domain: { ...DOMAIN, ...domain },
    types: TRANSFER_WITH_AUTHORIZATION_TYPES,
    primaryType: 'TransferWithAuthorization',
    message: {
      ...rest,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
    },
  });
  return changed(v1, (payment) => {
    payment.payload = { signature, authorization };
  });
}

const inSeconds = (seconds: number): string => String(Math.floor(Date.now() / 1000) + seconds);
const NONCE = `0x${'11'.repeat(32)}` as const;

/** n - s with the other v: the same signature in its second form (EIP-2). */
function highS(signature: string): string {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const s = (order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0');
  return `${signature.slice(0, 66)}${s}${signature.endsWith('1b') ? '1c' : '1b'}`;
}

const fields = (authorization: Partial<Authorization>) => (payment: Written) =>
  Object.assign(payment.payload.authorization, authorization);
const signedAs = (signature: (text: string) => string) => (payment: Written) => {
  payment.payload.signature = signature(payment.payload.signature);
};
const accepted = (terms: object) => (payment: Written) => Object.assign(payment.accepted, terms);
const challenge = (parameters: object) => (credential: Written) =>
  Object.assign(credential.challenge, parameters);

type Row = [way: string, header: string, error: string];
const rows = (
  written: Written,
  encode: (changed: Written) => string,
  ways: [string, Change, string][],
): Row[] => ways.map(([way, change, error]) => [way, encode(changed(written, change)), error]);

const V1: Row[] = [
  ['not base64', '%%%', 'invalid_encoding'],
  ['not JSON', Buffer.from('hello').toString('base64'), 'invalid_encoding'],
  ['no object', base64('text'), 'invalid_encoding'],
  ['no payload', base64({ x402Version: 1 }), 'invalid_encoding'],
  ['very long', 'A'.repeat(9_000), 'invalid_encoding'],
  ...rows(v1, base64, [
    ['another version', (payment) => Object.assign(payment, { x402Version: 9 }), 'unsupported_version'],
    ['another scheme', (payment) => Object.assign(payment, { scheme: 'upto' }), 'unsupported_scheme'],
    ['another network', (payment) => Object.assign(payment, { network: 'base' }), 'unsupported_network'],
    ['another payee', fields({ to: BOB.address }), 'invalid_payee'],
    ['too little', fields({ value: '1799999999' }), 'invalid_amount'],
    ['too much', fields({ value: '1800000001' }), 'invalid_amount'],
    ['an amount in hexadecimal', fields({ value: '0x6b49d200' }), 'invalid_encoding'],
    ['an amount beyond 256 bits', fields({ value: '9'.repeat(78) }), 'invalid_encoding'],
    ['a short nonce', fields({ nonce: '0x11' }), 'invalid_encoding'],
    ['an address that is none', fields({ from: '0xalice' }), 'invalid_encoding'],
    ['another window than signed', fields({ validBefore: inSeconds(200) }), 'invalid_signature'],
    ['another payer than signed', fields({ from: BOB.address }), 'invalid_signature'],
    ['another nonce than signed', fields({ nonce: NONCE }), 'invalid_signature'],
    ['a short signature', signedAs(() => '0x1234'), 'invalid_signature'],
    ['a signature of zeros', signedAs(() => `0x${'00'.repeat(65)}`), 'invalid_signature'],
    ['a signature with a high s', signedAs(highS), 'invalid_signature'],
    ['a signature with v of 29', signedAs((text) => `${text.slice(0, 130)}1d`), 'invalid_signature'],
    ['a signature of 66 bytes', signedAs((text) => `${text}00`), 'invalid_signature'],
  ]),
  ['expired', base64(await resigned({ validBefore: '1000000000' })), 'authorization_expired'],
  ['about to expire', base64(await resigned({ validBefore: inSeconds(8) })), 'authorization_expired'],
  ['not yet valid', base64(await resigned({ validAfter: inSeconds(120) })), 'authorization_not_yet_valid'],
  ['valid for ever', base64(await resigned({ validBefore: '99999999999' })), 'authorization_too_long'],
  [
    'signed for another name',
    base64(await resigned({}, { domain: { name: 'USD Coin' } })),
    'invalid_signature',
  ],
  [
    'signed for another version',
    base64(await resigned({}, { domain: { version: '1' } })),
    'invalid_signature',
  ],
  [
    'signed for another chain',
    base64(await resigned({}, { domain: { chainId: 8453 } })),
    'invalid_signature',
  ],
  [
    'signed for another token',
    base64(await resigned({}, { domain: { verifyingContract: BOB.address } })),
    'invalid_signature',
  ],
  [
    'no money',
    base64(await resigned({ from: privateKeyToAccount(PAUPER).address }, { key: PAUPER })),
    'insufficient_funds',
  ],
];

const V2: Row[] = rows(v2, base64, [
  ['another version', (payment) => Object.assign(payment, { x402Version: 3 }), 'unsupported_version'],
  ['no offer', (payment) => Object.assign(payment, { accepted: undefined }), 'invalid_encoding'],
  ['another scheme', accepted({ scheme: 'upto' }), 'unsupported_scheme'],
  ['another network', accepted({ network: 'eip155:1' }), 'unsupported_network'],
  ['the name of a network of version 1', accepted({ network: 'base-sepolia' }), 'unsupported_network'],
  ['another asset', accepted({ asset: BOB.address }), 'unsupported_asset'],
  ['another payee', accepted({ payTo: BOB.address }), 'invalid_payee'],
  ['too little', accepted({ amount: '1799999999' }), 'invalid_amount'],
  ['too much', accepted({ amount: '1800000001' }), 'invalid_amount'],
  ['another domain', accepted({ extra: { name: 'USD Coin', version: '2' } }), 'invalid_domain'],
  ['less than it says', fields({ value: '1' }), 'invalid_amount'],
  ['to another one than it says', fields({ to: BOB.address }), 'invalid_payee'],
  ['another nonce than signed', fields({ nonce: NONCE }), 'invalid_signature'],
  ['a signature with a high s', signedAs(highS), 'invalid_signature'],
]);

const MPP: Row[] = [
  ['not base64url', '%%%', 'invalid_encoding'],
  ['not JSON', Buffer.from('hello').toString('base64url'), 'invalid_encoding'],
  ['very long', 'A'.repeat(9_000), 'invalid_encoding'],
  ...rows(mpp, base64url, [
    ['another method', challenge({ method: 'tempo' }), 'unsupported_method'],
    ['another intent', challenge({ intent: 'session' }), 'unsupported_method'],
    [
      'another kind of credential',
      ({ payload }) => Object.assign(payload, { type: 'hash' }),
      'unsupported_method',
    ],
    ['a challenge of another service', challenge({ id: 'A'.repeat(43) }), 'invalid_challenge'],
    ['another realm', challenge({ realm: 'example.com' }), 'invalid_challenge'],
    [
      'a price of its own',
      (credential) => {
        const { request } = credential.challenge;
        credential.challenge.request = base64url({
          ...JSON.parse(Buffer.from(request, 'base64url').toString()),
          amount: '1',
        });
      },
      'invalid_challenge',
    ],
    ['a later end of the challenge', challenge({ expires: '2999-01-01T00:00:00.000Z' }), 'invalid_challenge'],
    ['no date', challenge({ expires: 'soon' }), 'invalid_encoding'],
    ['another payee', ({ payload }) => Object.assign(payload, { to: BOB.address }), 'invalid_payee'],
    ['too little', ({ payload }) => Object.assign(payload, { value: '1' }), 'invalid_amount'],
    ['a nonce of its own', ({ payload }) => Object.assign(payload, { nonce: NONCE }), 'invalid_challenge'],
    [
      'a longer window',
      ({ payload }) => Object.assign(payload, { validBefore: inSeconds(9_999) }),
      'invalid_challenge',
    ],
    [
      'a shorter window than signed',
      ({ payload }) => Object.assign(payload, { validBefore: inSeconds(100) }),
      'invalid_signature',
    ],
  ]),
];

const HEADERS = {
  'x402 v1': (header: string) => ({ 'X-PAYMENT': header }),
  'x402 v2': (header: string) => ({ 'PAYMENT-SIGNATURE': header }),
  MPP: (header: string) => ({ Authorization: `Payment ${header}` }),
} as const;

/** The reasons of the standard, and the reader of results, from the packages of x402. */
const { ErrorReasons } = requireTool('x402/types') as { ErrorReasons: readonly string[] };
const reader = new x402HTTPClient(new x402Client());

async function refused(t: Test, headers: Record<string, string>, [way, , error]: Row): Promise<void> {
  const response = await fetch(`${url}/subscribe`, { method: 'POST', headers });
  t.equal(response.status, 402, way);
  t.match(response.headers.get('www-authenticate'), /^Payment id="/, way);
  const body = await response.clone().json();
  t.match(body, { x402Version: 1, error, message: /\.$/, accepts: [{ scheme: 'exact' }] }, way);
  if (headers['Authorization'] !== undefined) return;
  const { header, paymentStatus } = await reader.processResponse(response);
  t.equal(paymentStatus, 'settle_failed', way);
  t.match(header, { success: false, transaction: '', network: /^(?:base-sepolia|eip155:84532)$/ }, way);
  t.ok(ErrorReasons.includes(String((header as { errorReason?: string }).errorReason)), `${way}: its reason`);
}

for (const [protocol, table] of [
  ['x402 v1', V1],
  ['x402 v2', V2],
  ['MPP', MPP],
] as const) {
  t.test(protocol, async (t) => {
    for (const row of table) await refused(t, HEADERS[protocol](row[1]), row);
  });
}

t.test('the message names the value that the payer needs', async (t) => {
  const domain = /name "USDC", version "2", chainId 84532, verifyingContract 0x\w{40}\.$/;
  const poor = await resigned({ from: privateKeyToAccount(PAUPER).address }, { key: PAUPER });
  for (const [header, message] of [
    [base64(await resigned({}, { domain: { chainId: 8453 } })), domain],
    [base64(changed(v1, (payment) => Object.assign(payment, { network: 'base' }))), /offers base-sepolia\.$/],
    [base64(changed(v2, accepted({ network: 'eip155:1' }))), /offers eip155:84532\.$/],
    [base64(poor), /^The wallet 0x\w{40} has less than .+1,800 .+eip155:84532/],
  ] as const) {
    const response = await fetch(`${url}/subscribe`, { method: 'POST', headers: { 'X-PAYMENT': header } });
    t.match(await response.json(), { message });
  }
});

t.test('a result names the payer and the version of the payment', async (t) => {
  const resultOf = async (headers: Record<string, string>) => {
    const response = await fetch(`${url}/subscribe`, { method: 'POST', headers });
    return ['x-payment-response', 'payment-response'].map((name) => {
      const header = response.headers.get(name);
      return header === null ? null : decoded(header);
    });
  };
  const failed = { success: false, errorReason: 'invalid_exact_evm_payload_authorization_value' };
  const little = base64(changed(v1, fields({ value: '1' })));
  t.match(await resultOf({ 'X-PAYMENT': little }), [
    { ...failed, payer: ALICE.address, network: 'base-sepolia' },
    null,
  ]);
  const littleV2 = base64(changed(v2, fields({ value: '1' })));
  for (const name of ['PAYMENT-SIGNATURE', 'X-PAYMENT'])
    t.match(await resultOf({ [name]: littleV2 }), [
      null,
      { ...failed, payer: ALICE.address, network: 'eip155:84532' },
    ]);
  t.same(await resultOf({}), [null, null], 'no payment has no result');
});

t.test('a malformed payment names its wrong field', async (t) => {
  const fieldOf = async (headers: Record<string, string>) => {
    const response = await fetch(`${url}/subscribe`, { method: 'POST', headers });
    return ((await response.json()) as { field?: string }).field;
  };
  const nonce = 'payload.authorization.nonce';
  t.equal(await fieldOf({ 'X-PAYMENT': '%%%' }), 'X-PAYMENT');
  t.equal(await fieldOf({ 'PAYMENT-SIGNATURE': '%%%' }), 'PAYMENT-SIGNATURE');
  t.equal(await fieldOf({ Authorization: 'Payment %%%' }), 'Authorization');
  t.equal(await fieldOf({ 'X-PAYMENT': base64(changed(v1, fields({ nonce: '0x1' }))) }), nonce);
  t.equal(await fieldOf({ 'PAYMENT-SIGNATURE': base64(changed(v2, fields({ nonce: '0x1' }))) }), nonce);
  t.equal(
    await fieldOf({ 'PAYMENT-SIGNATURE': base64(changed(v2, accepted({ network: 'eip155:1' }))) }),
    'accepted.network',
  );
  const soon = base64url(changed(mpp, challenge({ expires: 'soon' })));
  t.equal(await fieldOf({ Authorization: `Payment ${soon}` }), 'challenge.expires');
  t.equal(await fieldOf({}), undefined);
  t.equal(
    await fieldOf({ 'X-PAYMENT': base64(changed(v1, fields({ value: '1' }))) }),
    undefined,
    'well-formed',
  );
});

t.test('refusals that only the token contract can give', async (t) => {
  const { dollar } = chain;
  const row = (way: string, error: string): Row => [way, base64(v1), error];
  const tried = (way: string, error: string) => refused(t, HEADERS['x402 v1'](base64(v1)), row(way, error));
  await dollar.administer('blacklist', [ALICE.address]);
  await tried('a blocked payer', 'payer_blocked');
  await dollar.administer('unBlacklist', [ALICE.address]);
  await dollar.administer('pause');
  await tried('a paused token', 'asset_paused');
  await dollar.administer('unpause');
});

t.test('a cancelled authorization', async (t) => {
  const nonce = v2.payload.authorization.nonce as Hex;
  const account = privateKeyToAccount(ALICE.privateKey);
  const signature = await account.signTypedData({
    domain: DOMAIN,
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: ALICE.address, nonce },
  });
  await chain.dollar.administer('cancelAuthorization', [ALICE.address, nonce, signature]);
  await refused(t, HEADERS['x402 v2'](base64(v2)), ['cancelled', '', 'authorization_used']);
});

t.test('several payment headers of one name are refused as several', async (t) => {
  const one = base64(v1);
  const other = base64(
    changed(v1, ({ payload }) => {
      payload.authorization.value = '1';
    }),
  );
  const credential = (value: string): string => `Payment ${value}`;
  for (const [name, values] of [
    ['X-PAYMENT', [one, other]],
    ['X-PAYMENT', [`${one}, ${other}`]],
    ['PAYMENT-SIGNATURE', [one, other]],
    ['Authorization', [credential(one), credential(other)]],
  ] as const)
    t.match(await presented({ [name]: [...values] }), {
      status: 400,
      body: {
        error: 'invalid_request',
        field: name,
        message: `The request has 2 ${name} headers. Send one payment.`,
      },
    });
  t.match(await presented({ 'X-PAYMENT': ['x', 'x'] }), { status: 402 }, 'the same value twice is one');
  t.match(
    await presented({ 'X-PAYMENT': [JSON.stringify(v1)] }),
    { status: 402, body: { error: 'invalid_encoding' } },
    'JSON has commas',
  );
});

/** `fetch` would join headers of one name. */
async function presented(headers: Record<string, string[]>): Promise<{ status: number; body: unknown }> {
  const sent = request(`${url}/subscribe`, { method: 'POST', headers });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const body = await json(response);
  return { status: Number(response.statusCode), body };
}

t.test('no refusal moves money or reserves a number, and the valid payment still works', async (t) => {
  t.equal(await moneyOf(), before);
  t.equal(await availableAt(url), 2);
  // Some wallets write the recovery bit without 27.
  const plain = changed(
    v1,
    signedAs((text) => `${text.slice(0, 130)}0${text.endsWith('1b') ? 0 : 1}`),
  );
  const response = await fetch(`${url}/subscribe`, {
    method: 'POST',
    headers: { 'X-PAYMENT': base64(plain) },
  });
  t.equal(response.status, 200);
});
