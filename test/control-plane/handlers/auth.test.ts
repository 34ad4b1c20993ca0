// POST /auth/nonce and POST /auth, through HTTP on a real Postgres.
import t, { type Test } from 'tap';
import { privateKeyToAccount } from 'viem/accounts';
import { ALICE, BOB } from '../../dev-stack/wallets.ts';
import { jsonPost } from '../../fixtures/agents/json-post.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { recoverToken } from '../../fixtures/payments/payer.ts';
import { createRig } from '../../fixtures/service/rig.ts';

const rig = await createRig();

async function setup(t: Test) {
  const clock = new ManualClock();
  const { url, databaseUrl } = await rig.start(t, { clock, serviceDomain: 'numbers.example' });
  await rig.connect(t, url);
  const account = await subscribeInStore(databaseUrl, ALICE, String(slotAt(1).number), new Date(clock.now()));
  return { url, clock, account };
}

async function newNonce(url: string): Promise<{ nonce: string; expires_in: number; message: string }> {
  const response = await fetch(`${url}/auth/nonce`, { method: 'POST' });
  return (await response.json()) as { nonce: string; expires_in: number; message: string };
}

function signIn(url: string, body: unknown): Promise<Response> {
  return fetch(`${url}/auth`, jsonPost(body));
}

const numberOf = (url: string, token: string): Promise<Response> =>
  fetch(`${url}/number`, { headers: { Authorization: `Bearer ${token}` } });

t.test('a nonce lives 300 seconds and comes with the exact text to sign', async (t) => {
  const { url } = await setup(t);
  const { nonce, expires_in, message } = await newNonce(url);
  t.equal(expires_in, 300);
  t.equal(message, `Sign in to numbers.example SMS\nNonce: ${nonce}`);
  t.not((await newNonce(url)).nonce, nonce);
});

t.test('a signature recovers the number, and every older token is revoked', async (t) => {
  const { url, account } = await setup(t);
  const first = (await (await recoverToken(url, ALICE.privateKey)).json()) as { token: string };
  t.match(first, { token: /^simrack_/, number: account.number, expires_at: String });
  t.equal((await numberOf(url, account.token)).status, 401);
  t.equal((await numberOf(url, first.token)).status, 200);
});

t.test('both spacings of the text, and any letter case of the wallet, are accepted', async (t) => {
  const { url } = await setup(t);
  const account = privateKeyToAccount(ALICE.privateKey);
  for (const [space, wallet] of [
    [' ', account.address.toLowerCase()],
    ['', `0x${account.address.slice(2).toUpperCase()}`],
  ] as const) {
    const { nonce } = await newNonce(url);
    const message = `Sign in to numbers.example SMS\nNonce:${space}${nonce}`;
    const signature = await account.signMessage({ message });
    t.equal((await signIn(url, { wallet, nonce, signature })).status, 200, `"${space}"`);
  }
});

t.test('any attempt uses the nonce up', async (t) => {
  const { url } = await setup(t);
  const account = privateKeyToAccount(ALICE.privateKey);
  const { nonce, message } = await newNonce(url);
  const wrong = await privateKeyToAccount(BOB.privateKey).signMessage({ message });
  const refused = await signIn(url, { wallet: account.address, nonce, signature: wrong });
  t.equal(refused.status, 401);
  t.match(await refused.json(), { error: 'signature_mismatch', message: String });
  const signature = await account.signMessage({ message });
  t.equal((await signIn(url, { wallet: account.address, nonce, signature })).status, 401);
});

t.test('fifty attempts at once with one nonce: one token', async (t) => {
  const { url } = await setup(t);
  const account = privateKeyToAccount(ALICE.privateKey);
  const { nonce, message } = await newNonce(url);
  const signature = await account.signMessage({ message });
  const body = { wallet: account.address, nonce, signature };
  const answers = await Promise.all(Array.from({ length: 50 }, () => signIn(url, body)));
  const statuses = answers.map(({ status }) => status);
  t.same(statuses.sort(), [200, ...Array(49).fill(401)]);
  const tokens = (await Promise.all(answers.map((answer) => answer.json()))) as { token?: string }[];
  const [token] = tokens.flatMap((body) => body.token ?? []);
  t.equal((await numberOf(url, String(token))).status, 200);
});

t.test('a nonce that is over, or was never issued, is 401', async (t) => {
  const { url, clock } = await setup(t);
  const account = privateKeyToAccount(ALICE.privateKey);
  const { nonce, message } = await newNonce(url);
  clock.advance(300_000);
  const signature = await account.signMessage({ message });
  for (const tried of [nonce, 'never issued']) {
    const response = await signIn(url, { wallet: account.address, nonce: tried, signature });
    t.equal(response.status, 401);
    t.match(await response.json(), { error: 'signature_mismatch' });
  }
});

t.test('a wallet without a subscription is 402 with a warning; so is one whose year is over', async (t) => {
  const { url, clock } = await setup(t);
  const stranger = await recoverToken(url, BOB.privateKey);
  t.equal(stranger.status, 402);
  t.match(await stranger.json(), { error: 'no_active_subscription', message: String, warning: /wallet/ });
  clock.advance(366 * 86_400_000);
  t.equal((await recoverToken(url, ALICE.privateKey)).status, 402);
});

t.test('a token is refused from the second in which the year is over', async (t) => {
  const { url, clock, account } = await setup(t);
  clock.advance(365 * 86_400_000 - 1);
  t.equal((await numberOf(url, account.token)).status, 200);
  clock.advance(1);
  const response = await numberOf(url, account.token);
  t.equal(response.status, 401);
  t.equal(response.headers.get('www-authenticate'), 'Bearer');
  t.match(await response.json(), { error: 'unauthorized', message: String });
});

t.test('a malformed body is 400 invalid_request and costs no nonce', async (t) => {
  const { url } = await setup(t);
  const account = privateKeyToAccount(ALICE.privateKey);
  const { nonce, message } = await newNonce(url);
  const signature = await account.signMessage({ message });
  const good = { wallet: account.address, nonce, signature };
  for (const bad of [
    {},
    { ...good, wallet: undefined },
    { ...good, wallet: 'alice.eth' },
    { ...good, wallet: '0x1234' },
    { ...good, nonce: undefined },
    { ...good, nonce: '' },
    { ...good, nonce: 7 },
    { ...good, signature: undefined },
    { ...good, signature: 'zz' },
    null,
    [],
    'text',
  ]) {
    const response = await signIn(url, bad);
    t.equal(response.status, 400, JSON.stringify(bad));
    t.match(await response.json(), { error: 'invalid_request', message: String });
  }
  t.equal((await signIn(url, good)).status, 200);
});
