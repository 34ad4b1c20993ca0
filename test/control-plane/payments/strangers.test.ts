// Strangers without money from hundreds of addresses, whose accounts burn gas and answer with a lot of data: each payer and each customer is
// served meanwhile. A run plays one of the two attacks.
import t, { type Test } from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { jsonPost } from '../../fixtures/agents/json-post.ts';
import { signTransfer } from '../../fixtures/chain/authorizations.ts';
import { PRICE } from '../../fixtures/chain/paid-chain.ts';
import { type SmartAccount, startSmartAccounts } from '../../fixtures/chain/smart-accounts.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { flood, STRANGERS } from '../../fixtures/payments/flood.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { someOf } from '../../fixtures/sweep.ts';

const rig = await createRig();
const accounts = await startSmartAccounts(rig.chain);

/** Payers of each kind. A busy machine needs half of the time that one may wait. */
const PAYERS = 10;

const addressOf = (client: number): string => `10.${client >> 16}.${(client >> 8) & 255}.${client & 255}`;

async function setUp(t: Test) {
  const { url } = await rig.start(t, { proxyHops: 1 });
  const slots = Array.from({ length: 2 * PAYERS }, (_, index) => slotAt(index + 1));
  await rig.connect(t, url, { slots });
  let clients = 0;
  const post = async (path: string, client: number, init: RequestInit = {}) => {
    const headers = { ...(init.headers as Record<string, string>), 'X-Forwarded-For': addressOf(client) };
    const response = await fetch(url + path, { method: 'POST', ...init, headers });
    const body = (await response.json()) as Record<string, unknown>;
    return { body, outcome: `${response.status} ${String(body['error'] ?? 'ok')}` };
  };
  const newClient = (): number => {
    clients += 1;
    return clients;
  };
  const pay = async (client: number, header: string): Promise<string> =>
    (await post('/subscribe', client, { headers: { 'X-PAYMENT': header } })).outcome;
  const signInAs = async (
    client: number,
    { address, signMessage }: Pick<SmartAccount, 'address' | 'signMessage'>,
  ): Promise<string> => {
    const { nonce, message } = (await post('/auth/nonce', client)).body as { nonce: string; message: string };
    const signature = await signMessage({ message });
    return (await post('/auth', client, jsonPost({ wallet: address, nonce, signature }))).outcome;
  };
  return { newClient, pay, signInAs };
}

const countOf = (outcomes: readonly string[]): Record<string, number> =>
  Object.fromEntries(
    [...new Set(outcomes)].map((one) => [one, outcomes.filter((each) => each === one).length]),
  );

const several = <T>(make: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: PAYERS }, (_, index) => make(index)));

/** Safes with the money for that many years. */
async function fundedSafes(years: bigint): Promise<SmartAccount[]> {
  const safes: SmartAccount[] = [];
  for (let made = 0; made < PAYERS; made += 1) {
    const safe = await accounts.safe();
    await safe.fund(years * PRICE);
    safes.push(safe);
  }
  return safes;
}

async function payAmongPayments(t: Test): Promise<void> {
  const { newClient, pay } = await setUp(t);
  const safes = await fundedSafes(1n);
  const keys = Array.from({ length: PAYERS }, () => privateKeyToAccount(generatePrivateKey()));
  for (const { address } of keys) await rig.chain.dollar.fund(address, PRICE);
  const hostile = [
    await accounts.loud1271(200_000, 'reverts'),
    await accounts.lying1271({ trigger: 'always', misdeed: 'burn' }),
    await accounts.lying1271({ trigger: 'always', misdeed: 'waste' }),
    await accounts.lyingFactory6492({ trigger: 'always', misdeed: 'waste' }),
  ];
  const headers = await Promise.all(
    hostile.map(async (each) => (await signTransfer(each, rig.chain)).header),
  );
  const clients = Array.from({ length: STRANGERS }, newClient);
  await flood(t, (stranger) => pay(clients[stranger] ?? 0, headers[stranger % headers.length] ?? ''));
  const signed = await Promise.all(
    [...keys, ...safes].map(async (payer) => (await signTransfer(payer, rig.chain)).header),
  );
  const outcomes = await Promise.all(signed.map((header) => pay(newClient(), header)));
  t.same(countOf(outcomes.slice(0, PAYERS)), { '200 ok': PAYERS }, 'payers with a key');
  t.same(countOf(outcomes.slice(PAYERS)), { '200 ok': PAYERS }, 'payers with an account');
}

async function signInAmongSignIns(t: Test): Promise<void> {
  const { newClient, pay, signInAs } = await setUp(t);
  const safes = await fundedSafes(2n);
  const headerOf = async (safe: SmartAccount): Promise<string> =>
    (await signTransfer(safe, rig.chain)).header;
  for (const safe of safes) t.equal(await pay(newClient(), await headerOf(safe)), '200 ok');
  const trap = await accounts.lyingFactory6492({ trigger: 'always', misdeed: 'waste' });
  const clients = Array.from({ length: STRANGERS }, newClient);
  await flood(t, (stranger) => {
    // Half of them attack one customer, the others all of them.
    const victim = safes[stranger % 2 === 0 ? 0 : stranger % PAYERS] ?? trap;
    return signInAs(clients[stranger] ?? 0, { address: victim.address, signMessage: trap.signMessage });
  });
  const renewed = several(async (index) => {
    const safe = safes[index];
    return safe === undefined ? 'none' : pay(newClient(), await headerOf(safe));
  });
  const entered = several(async (index) => {
    const safe = safes[index];
    return safe === undefined ? 'none' : signInAs(newClient(), safe);
  });
  t.same(countOf(await entered), { '200 ok': PAYERS }, 'sign-ins of the customers');
  t.same(countOf(await renewed), { '200 ok': PAYERS }, 'payments of the customers');
}

const ATTACKS: Array<[claim: string, play: (t: Test) => Promise<void>]> = [
  ['payments of accounts that burn and shout delay no payer', payAmongPayments],
  ['sign-ins as customers, with factories that burn, delay no sign-in and no payment', signInAmongSignIns],
];

for (const [claim, play] of someOf(t, ATTACKS, 1)) t.test(claim, play);
