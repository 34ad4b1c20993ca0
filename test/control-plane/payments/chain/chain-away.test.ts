// An RPC that is away, at the start or later, or answers for another chain: texts and calls go on, nothing is sold, payments are finished later.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { NETWORKS } from '#shared/api/payment-networks.ts';
import { plantTestDollar } from '../../../dev-stack/test-dollar.ts';
import { BOB, CAROL, PAY_TO } from '../../../dev-stack/wallets.ts';
import { FAR_END, telephone } from '../../../fixtures/agents/telephone.ts';
import { PRICE, startPaidChain } from '../../../fixtures/chain/paid-chain.ts';
import { type RpcProxy, startRpcProxy } from '../../../fixtures/chain/rpc-proxy.ts';
import { ManualClock } from '../../../fixtures/clocks/manual-clock.ts';
import { request } from '../../../fixtures/network/json-request.ts';
import { slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { buyNumber, recoverToken, signPaymentHeader } from '../../../fixtures/payments/payer.ts';
import { recordedLog } from '../../../fixtures/recorded-log.ts';
import { randomFrom } from '../../../fixtures/seeded-random.ts';
import { startControlPlane } from '../../../fixtures/service/control-plane.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { alertBy, startWebhookReceiver } from '../../../fixtures/service/webhook-receiver.ts';
import { temporaryFolder } from '../../../fixtures/temporary-folder.ts';
import { until } from '../../../fixtures/until.ts';

const rig = await createRig();
const MINUTE_MS = 60_000;
const STARTS = 30;
/** Tries of one call whose connection breaks each time. */
const TRIES = 8;
const SEED = 15;
const QUIET = { heartbeatMs: 10_000 * MINUTE_MS };

const lost = (): Promise<never> => Promise.reject(new Error('lost'));
const paid = (): Promise<bigint> => rig.chain.dollar.balanceOf(PAY_TO.address);

const proxied = (t: Test): Promise<RpcProxy> => startRpcProxy(t, rig.chain.rpcUrl);

const subscribe = async (url: string, payment?: string) => {
  const headers = payment === undefined ? {} : { 'X-PAYMENT': payment };
  const response = await fetch(`${url}/subscribe`, { method: 'POST', headers });
  const body = (await response.json()) as { error?: string; accepts?: { network: string }[] };
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body };
};

const NOTHING_SOLD = { status: 503, retryAfter: /^\d+$/, body: { error: 'settlement_unavailable' } };

const ready = (url: string) => request<{ status: string }>(`${url}/health/ready`);

/** Lets time pass until it is so, and sets the clock right again: payments that were signed before are still good. */
async function passUntil(clock: ManualClock, what: string, isSo: () => boolean | Promise<boolean>) {
  const step = () => {
    clock.advance(5_000);
    return isSo();
  };
  await until(what, step, 30_000);
  clock.set(Date.now());
}

t.test(`${STARTS} starts on an RPC that drops 30 % of all calls`, { timeout: 120_000 }, async (t) => {
  const rpc = await proxied(t);
  const random = randomFrom(SEED);
  rpc.interfere = (_, forward) => (random(10) < 3 ? lost() : forward());
  const databaseUrl = await rig.postgres.createMigrated();
  let open = 0;
  for (let start = 0; start < STARTS; start += 1) {
    const service = await startControlPlane(rig.chain, { databaseUrl, rpcUrl: rpc.url });
    const { status } = await subscribe(service.url);
    t.ok(status === 402 || status === 503, `start ${start}: ${status}`);
    if (status === 402) open += 1;
    await service.stop();
  }
  t.ok(open > 0, `${open} could sell at once`);
});

t.test('an RPC that is dead at the start, and comes back', { timeout: 120_000 }, async (t) => {
  const rpc = await proxied(t);
  const databaseUrl = await rig.postgres.createMigrated();
  // An earlier life: a transfer is mined, and the process ends before it knows.
  const early = await startControlPlane(rig.chain, { databaseUrl, rpcUrl: rpc.url, settlementWaitMs: 300 });
  const node = await rig.connect(t, early.url, { slots: [slotAt(2), slotAt(3)] });
  const before = await paid();
  const inFlight = await signPaymentHeader(early.url, BOB.privateKey);
  const fresh = await signPaymentHeader(early.url, CAROL.privateKey);
  rpc.interfere = (method, forward) => (method === 'eth_getTransactionReceipt' ? lost() : forward());
  t.match(await subscribe(early.url, inFlight), { status: 503, body: { error: 'settlement_pending' } });
  await early.stop();
  await node.drop();

  rpc.interfere = lost;
  const clock = new ManualClock();
  const { log, lines } = recordedLog();
  const hook = await startWebhookReceiver(t);
  hook.now = () => clock.now();
  const options = { databaseUrl, rpcUrl: rpc.url, clock, log, alertPoolMin: 0, ...alertBy(hook), ...QUIET };
  const phone = await telephone(t, rig, { slots: [slotAt(1), slotAt(2), slotAt(3)], service: options });
  const { url } = phone;
  t.match(await phone.ask('/sms/send', { to: FAR_END, body: 'hi' }), { status: 200 });
  t.match(await phone.ask('/sms/receive'), { status: 200 });
  t.match(await phone.dial(), { status: 200 });

  t.match(await subscribe(url), NOTHING_SOLD);
  t.match(await subscribe(url, fresh), NOTHING_SOLD);
  t.match(await subscribe(url, 'nonsense'), NOTHING_SOLD);
  const pending = await subscribe(url, inFlight);
  t.match(pending, { status: 503, body: { error: 'settlement_pending' } }, 'not: nothing was charged');
  for (const path of ['/llms.txt', '/openapi.json', '/.well-known/x402', '/'])
    t.equal((await fetch(url + path, { headers: { Accept: 'text/html, */*' } })).status, 200, path);
  t.match(await (await fetch(`${url}/llms.txt`)).text(), '1,800 USDC');
  t.match(await ready(url), {
    status: 200,
    body: {
      status: 'warn',
      checks: { payments: { status: 'warn', output: /unavailable: eip155:84532 unreach/ } },
    },
  });
  const reported = () => lines.filter(({ message }) => message.startsWith('payment network'));
  await passUntil(clock, 'the alert', () => hook.reported().length > 0);
  t.same([...new Set(hook.reported())], ['+chain_unavailable 84532']);
  t.match(reported(), [{ level: 'warn', message: 'payment network closed: its RPC does not respond' }]);
  t.equal(reported().length, 1, 'once');

  rpc.interfere = undefined;
  await passUntil(clock, 'it sells', async () => (await subscribe(url)).status === 402);
  await passUntil(clock, 'the earlier payment is applied', async () => {
    return (await recoverToken(url, BOB.privateKey)).status === 200;
  });
  t.equal((await paid()) - before, PRICE, 'paid once');
  t.match(await subscribe(url, fresh), { status: 200 }, 'the payment that was refused');
  t.match(await ready(url), {
    status: 200,
    body: { status: 'pass', checks: { payments: { status: 'pass' } } },
  });
  await passUntil(clock, 'the alert is over', () => hook.reported().includes('-chain_unavailable 84532'));
  // A webhook whose answer the moved clock did not wait for comes twice.
  t.same([...new Set(hook.reported())], ['+chain_unavailable 84532', '-chain_unavailable 84532']);
});

t.test('an RPC that goes later, and comes back', { timeout: 120_000 }, async (t) => {
  const rpc = await proxied(t);
  const clock = new ManualClock();
  const { log, lines } = recordedLog();
  const { url } = await rig.start(t, { clock, log, rpcUrl: rpc.url, ...QUIET });
  await rig.connect(t, url);
  t.equal((await subscribe(url)).status, 402);
  const payment = await signPaymentHeader(url, BOB.privateKey);
  let calls = 0;
  rpc.interfere = (_, forward) => {
    calls += 1;
    return calls <= TRIES ? lost() : forward();
  };
  clock.advance(30_000);
  await until('it was asked', () => calls >= TRIES);
  t.equal((await subscribe(url)).status, 402, 'one call that is lost closes nothing');

  rpc.interfere = lost;
  await passUntil(clock, 'it sells nothing', async () => (await subscribe(url)).status === 503);
  t.match(await subscribe(url), NOTHING_SOLD);
  t.match(await subscribe(url, payment), NOTHING_SOLD);
  t.match(await ready(url), { status: 200, body: { status: 'warn' } });
  rpc.interfere = undefined;
  await passUntil(clock, 'it sells', async () => (await subscribe(url)).status === 402);
  t.match(await subscribe(url, payment), { status: 200 });
  t.same(
    lines.filter(({ message }) => message.startsWith('payment network')).map(({ message }) => message),
    ['payment network closed: its RPC does not respond'],
  );
});

t.test('a chain that is found to be another one later stays closed', { timeout: 120_000 }, async (t) => {
  const rpc = await proxied(t);
  rpc.interfere = lost;
  const clock = new ManualClock();
  const { log, lines } = recordedLog();
  const hook = await startWebhookReceiver(t);
  hook.now = () => clock.now();
  const options = { clock, log, rpcUrl: rpc.url, alertPoolMin: 0, ...alertBy(hook), ...QUIET };
  const { url } = await rig.start(t, options);
  rpc.interfere = async (method, forward) =>
    method === 'eth_chainId' ? { jsonrpc: '2.0', id: 1, result: '0x1' } : forward();
  await passUntil(clock, 'it is found out', () => lines.some(({ level }) => level === 'error'));
  t.match(
    lines.filter(({ level }) => level === 'error'),
    [
      {
        message: 'payment network closed: the chain does not match the configuration',
        fields: { err: /serves chain 1, not 84532/ },
      },
    ],
  );
  await passUntil(clock, 'the alert', () => hook.reported().length > 0);
  t.match(hook.taken[0]?.body.data.raised, [
    { severity: 'critical', summary: /does not match the configuration/ },
  ]);
  for (let step = 0; step < 20; step += 1) {
    clock.advance(MINUTE_MS);
    t.match(await subscribe(url), NOTHING_SOLD);
  }
  t.match(await ready(url), { body: { checks: { payments: { output: /misconfigured/ } } } });
});

t.test('one of two networks is closed: the other one sells', { timeout: 120_000 }, async (t) => {
  const base = await startPaidChain(8453);
  t.teardown(() => base.stop());
  const other = await plantTestDollar(rig.chain.rpcUrl, 84532, {
    address: '0x00000000000000000000000000000000000d0115',
    name: 'Other Dollar',
  });
  await other.fund(BOB.address, PRICE);
  const rpc = await proxied(t);
  const folder = temporaryFolder(t);
  const paymentsFile = join(folder, 'payments.yaml');
  writeFileSync(
    paymentsFile,
    `networks:
  - chain_id: 84532
    rpc_url: ${rpc.url}
    assets:
      - { pay_to: "${PAY_TO.address}", price_atomic: ${PRICE} }
      - { asset: "0x00000000000000000000000000000000000d0115", pay_to: "${PAY_TO.address}", price_atomic: ${PRICE} }
  - chain_id: 8453
    rpc_url: ${base.rpcUrl}
    assets: [{ pay_to: "${PAY_TO.address}", price_atomic: ${PRICE} }]
`,
  );
  const clock = new ManualClock();
  const options = { paymentsFile, rpcUrl: undefined, payTo: undefined, clock, ...QUIET };
  const first = await rig.start(t, options);
  const payment = await signPaymentHeader(first.url, BOB.privateKey);
  await first.service.stop();

  rpc.interfere = lost;
  const { url } = await rig.start(t, options);
  await rig.connect(t, url, { slots: [slotAt(1), slotAt(2)] });
  const networksIn = async () => (await subscribe(url)).body.accepts?.map(({ network }) => network);
  t.same(await networksIn(), ['base']);
  t.match(await ready(url), { status: 200, body: { checks: { payments: { output: /^some .*84532/ } } } });
  t.match(await subscribe(url, payment), NOTHING_SOLD, 'no 402 for what is taken here at other times');
  const foreign = JSON.parse(Buffer.from(payment, 'base64').toString());
  foreign.payload.authorization.value = '1';
  const unreadable = Buffer.from(JSON.stringify(foreign)).toString('base64');
  t.match(
    await subscribe(url, unreadable),
    { status: 503, body: { error: 'unavailable' } },
    'maybe of the token that is unknown',
  );
  t.notMatch(await (await fetch(`${url}/llms.txt`)).text(), 'Other Dollar');
  t.match(await (await fetch(`${url}/.well-known/x402`)).text(), NETWORKS[84532].usdc.address);
  await buyNumber(url, CAROL.privateKey);

  rpc.interfere = undefined;
  await passUntil(clock, 'both are open', async () => (await networksIn())?.length === 3);
  t.match(await (await fetch(`${url}/llms.txt`)).text(), 'Other Dollar', 'documents follow');
  t.match(await subscribe(url, payment), { status: 200 });
});
