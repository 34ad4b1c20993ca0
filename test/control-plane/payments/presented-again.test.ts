// A payment that is presented again: a canceled one costs the service next to nothing, and one that moved money is never refused with 402.
import t, { type Test } from 'tap';
import { toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { ALICE, BOB, CAROL, DAVE, MINTER, PAY_TO } from '../../dev-stack/wallets.ts';
import { signCancellation, signTransfer } from '../../fixtures/chain/authorizations.ts';
import { PRICE, SAFE_LAG_BLOCKS } from '../../fixtures/chain/paid-chain.ts';
import { startRpcProxy } from '../../fixtures/chain/rpc-proxy.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { signMpp, signV1, signV2 } from '../../fixtures/payments/payment-headers.ts';
import { fundedRelayer, isSubscribed } from '../../fixtures/payments/relayer-rotation.ts';
import { MINUTE_MS } from '../../fixtures/service/housekeeping.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { ofOneInstance } from '../../fixtures/service/several-instances.ts';

const TIMEOUT = { timeout: 180_000, skip: ofOneInstance('each instance remembers for itself') };
const REPEATS = 40;
/** The service searches no further back. */
const SEARCHED_BLOCKS = 45_000;
/** The RPC is asked for this many blocks at a time, and for two kinds of events in each. */
const SEARCH_CALLS = 2 * Math.ceil(SEARCHED_BLOCKS / 9_000);

const rig = await createRig();
const chain = rig.chain.control;

async function attacked(t: Test) {
  const rpc = await startRpcProxy(t, rig.chain.rpcUrl);
  const clock = new ManualClock();
  const { url } = await rig.start(t, { clock, rpcUrl: rpc.url, heartbeatMs: 1_000 * MINUTE_MS });
  await rig.connect(t, url, { slots: [slotAt(1)] });
  const { key } = await fundedRelayer(rig);
  const attacker = privateKeyToAccount(key);
  await rig.chain.dollar.fund(attacker.address, PRICE);
  const validBefore = Math.floor(clock.now() / 1000) + 300;
  const present = async (header: string) => {
    const response = await fetch(`${url}/subscribe`, { method: 'POST', headers: { 'X-PAYMENT': header } });
    return { status: response.status, error: ((await response.json()) as { error: string }).error };
  };
  /** The calls to the RPC that `work` causes. */
  const callsOf = async (work: () => Promise<unknown>) => {
    const before = rpc.asked.length;
    await work();
    const calls = rpc.asked.slice(before);
    return { logs: calls.filter((method) => method === 'eth_getLogs').length, all: calls.length };
  };
  const repeated = async (headers: readonly string[], answer: object) => {
    for (let turn = 0; turn < REPEATS; turn += 1)
      t.match(await present(String(headers[turn % headers.length])), answer);
  };
  return { attacker, key, callsOf, clock, present, repeated, rpc, url, validBefore };
}

const send = async (data: `0x${string}`): Promise<void> => {
  const account = privateKeyToAccount(MINTER.privateKey);
  const hash = await chain.sendTransaction({ account, chain: null, to: rig.chain.dollar.asset, data });
  await chain.waitForTransactionReceipt({ hash });
};

t.test('canceled, and valid or expired: one search, whatever its validity period', TIMEOUT, async (t) => {
  const { attacker, callsOf, clock, present, repeated, validBefore } = await attacked(t);
  const first = await signTransfer(attacker, rig.chain, { validBefore });
  // The same nonce, signed for other periods.
  const { nonce } = first;
  const others = await Promise.all(
    [1, 2, 3].map((later) => signTransfer(attacker, rig.chain, { nonce, validBefore: validBefore + later })),
  );
  await send(await signCancellation(attacker, rig.chain, nonce));
  await chain.mine({ blocks: SAFE_LAG_BLOCKS });
  const headers = [first, ...others].map(({ header }) => header);
  const used = { status: 402, error: 'authorization_used' };
  const search = await callsOf(async () => t.match(await present(first.header), used));
  t.ok(search.logs > 0, `${search.logs} searches in the log`);
  const valid = await callsOf(() => repeated(headers, used));
  t.equal(valid.logs, 0);
  t.ok(valid.all <= 4 * REPEATS, `${valid.all} calls`);
  clock.advance(10 * MINUTE_MS);
  await callsOf(() => present(first.header));
  const expired = await callsOf(() => repeated(headers, used));
  t.equal(expired.logs, 0);
  // The rounds of each minute have ended by then; the state of the authorization is read each time.
  t.ok(expired.all <= 2 * REPEATS, `${expired.all} calls`);
});

t.test('canceled before all blocks that are searched', TIMEOUT, async (t) => {
  const { attacker, callsOf, clock, present, repeated, rpc, validBefore } = await attacked(t);
  const { header, nonce } = await signTransfer(attacker, rig.chain, { validBefore });
  await send(await signCancellation(attacker, rig.chain, nonce));
  await chain.mine({ blocks: SAFE_LAG_BLOCKS });
  clock.advance(10 * MINUTE_MS);
  // A chain that has gone on for longer than the search goes back: no searched block has the event.
  rpc.interfere = (method, forward) => {
    const result = { eth_getLogs: [], eth_blockNumber: toHex(2 * SEARCHED_BLOCKS) }[method];
    return result === undefined ? forward() : Promise.resolve({ jsonrpc: '2.0', id: 1, result });
  };
  const used = { status: 409, error: 'payment_already_used' };
  const search = await callsOf(() => Promise.all(Array.from({ length: 8 }, () => present(header))));
  t.ok(search.logs >= SEARCH_CALLS, `${search.logs} searches in the log`);
  t.ok(search.logs <= SEARCH_CALLS + 2, 'one search for eight at once');
  const again = await callsOf(() => repeated([header], used));
  t.equal(again.logs, 0);
  t.ok(again.all <= 2 * REPEATS, `${again.all} calls`);
  // An RPC that had lost its log may have it again.
  clock.advance(11 * MINUTE_MS);
  const later = await callsOf(() => repeated([header], used));
  t.ok(later.logs >= SEARCH_CALLS && later.logs <= SEARCH_CALLS + 2, `${later.logs}: one more search`);
});

t.test('a cancellation that a reorganization reverts is not remembered', TIMEOUT, async (t) => {
  const { attacker, clock, key, present, url, validBefore } = await attacked(t);
  const before = await rig.chain.dollar.balanceOf(PAY_TO.address);
  const { header, nonce, data } = await signTransfer(attacker, rig.chain, { validBefore });
  const id = await chain.snapshot();
  await send(await signCancellation(attacker, rig.chain, nonce));
  t.match(await present(header), { status: 402, error: 'authorization_used' });
  await chain.revert({ id });
  await send(data);
  clock.advance(10 * MINUTE_MS);
  t.match(await present(header), { status: 409, error: 'payment_already_used' });
  t.equal((await rig.chain.dollar.balanceOf(PAY_TO.address)) - before, PRICE);
  t.ok(await isSubscribed(url, key), 'the transfer bought a year');
});

t.test(
  'the terms changed since: a payment under way is pending, and one that moved money is used',
  TIMEOUT,
  async (t) => {
    const first = await rig.start(t, { settlementWaitMs: 300, heartbeatMs: 1_000 * MINUTE_MS });
    await rig.connect(t, first.url, { slots: [slotAt(1), slotAt(2), slotAt(3), slotAt(4)] });
    const paidBy = async (headers: Record<string, string>, url = first.url) => {
      const answer = await fetch(`${url}/subscribe`, { method: 'POST', headers });
      return { status: answer.status, error: ((await answer.json()) as { error?: string }).error };
    };
    const applied = [
      { 'X-PAYMENT': await signV1(first.url, ALICE.privateKey) },
      { 'PAYMENT-SIGNATURE': await signV2(first.url, BOB.privateKey) },
      { Authorization: `Payment ${await signMpp(first.url, CAROL.privateKey)}` },
    ];
    for (const headers of applied) t.equal((await paidBy(headers)).status, 200);
    const underWay = { 'X-PAYMENT': await signV1(first.url, DAVE.privateKey) };
    t.teardown(() => chain.setAutomine(true));
    await chain.setAutomine(false);
    const pending = { status: 503, error: 'settlement_pending' };
    t.match(await paidBy(underWay), pending);
    await first.service.stop();
    const used = { status: 409, error: 'payment_already_used' };
    for (const change of [
      { priceAtomic: PRICE + 1n },
      { payTo: MINTER.address },
      { publicUrl: 'https://elsewhere.example' },
    ]) {
      const { databaseUrl } = first;
      const { url, service } = await rig.start(t, { databaseUrl, heartbeatMs: 1_000 * MINUTE_MS, ...change });
      const here = `http://127.0.0.1:${service.port}`;
      t.match(await paidBy(underWay, here), pending, url);
      for (const headers of applied) t.match(await paidBy(headers, here), used, Object.keys(headers).join());
      const tampered = JSON.parse(Buffer.from(underWay['X-PAYMENT'], 'base64').toString());
      tampered.payload.authorization.nonce = toHex(7n, { size: 32 });
      const unknown = { 'X-PAYMENT': Buffer.from(JSON.stringify(tampered)).toString('base64') };
      t.equal((await paidBy(unknown, here)).status, 402, 'another nonce is another payment');
      await service.stop();
    }
  },
);
