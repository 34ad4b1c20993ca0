// Another key for the relayer while payments are under way: each key finishes what it has sent, and no money moves twice.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { PAY_TO } from '../../../dev-stack/wallets.ts';
import { PRICE } from '../../../fixtures/chain/paid-chain.ts';
import { startRpcProxy } from '../../../fixtures/chain/rpc-proxy.ts';
import { ManualClock } from '../../../fixtures/clocks/manual-clock.ts';
import { slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import {
  fundedRelayer,
  holdBlocks,
  isSubscribed,
  payerHeader,
  present,
  watchMoney,
} from '../../../fixtures/payments/relayer-rotation.ts';
import { runCommand } from '../../../fixtures/run-command.ts';
import { startAlerting } from '../../../fixtures/service/alerting-service.ts';
import { MINUTE_MS } from '../../../fixtures/service/housekeeping.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { startServiceProcess } from '../../../fixtures/service/service-process.ts';
import { temporaryFolder } from '../../../fixtures/temporary-folder.ts';
import { until } from '../../../fixtures/until.ts';

const TIMEOUT = { timeout: 120_000 };
const rig = await createRig();
const chain = rig.chain.control;
const SLOTS = [1, 2, 3, 4].map((index) => slotAt(index));
const PATIENT = { heartbeatMs: 1_000 * MINUTE_MS, settlementWaitMs: 500 };

/** A payment in a transaction that no block has, and whose service, with the key of `old`, has stopped. */
async function leftBehind(t: Test) {
  const [old, next] = [await fundedRelayer(rig), await fundedRelayer(rig)];
  const clock = new ManualClock();
  const { databaseUrl, service, url } = await rig.start(t, { ...PATIENT, clock, relayerKey: old.key });
  const node = await rig.connect(t, url, { slots: SLOTS });
  const money = await watchMoney(t, rig, databaseUrl);
  const { header, key } = await payerHeader(rig, url);
  await holdBlocks(t, rig);
  t.equal(await present(url, header), 503);
  const [sent] = await money.rows();
  await node.drop();
  await service.stop();
  return { clock, databaseUrl, header, key, money, next, old, sent };
}

t.test('killed with payments under way, and started with the next key', TIMEOUT, async (t) => {
  const old = await fundedRelayer(rig);
  const folder = temporaryFolder(t);
  const [oldFile, newFile] = [join(folder, 'relayer.key'), join(folder, 'relayer-2.key')];
  writeFileSync(oldFile, `${old.key}\n`, { mode: 0o600 });
  const databaseUrl = await rig.postgres.createMigrated();
  const rpc = await startRpcProxy(t, rig.chain.rpcUrl);
  const first = await startServiceProcess(t, {
    databaseUrl,
    rpcUrl: rpc.url,
    env: { RELAYER_KEY: '', RELAYER_KEY_FILE: oldFile, SETTLEMENT_WAIT_MS: '500' },
  });
  const node = await rig.connect(t, first.url, { slots: SLOTS });
  const money = await watchMoney(t, rig, databaseUrl);
  const [alice, bob, carol] = [
    await payerHeader(rig, first.url),
    await payerHeader(rig, first.url),
    await payerHeader(rig, first.url),
  ];
  await holdBlocks(t, rig);
  t.equal(await present(first.url, alice.header), 503, 'sent, and in no block');
  // The second is stored, and dies before the chain hears of it.
  rpc.interfere = async (method, forward) => {
    if (method !== 'eth_sendRawTransaction') return forward();
    process.kill(first.pid, 'SIGKILL');
    throw new Error('no answer');
  };
  await t.rejects(present(first.url, bob.header));
  await until('the service is dead', () => !first.isAlive());
  rpc.interfere = undefined;
  await node.drop();
  t.equal((await money.waiting(old)).length, 1, 'the chain has the first only');
  t.match(await money.rows(), [{ state: 'in_flight' }, { state: 'in_flight' }]);

  const env = {
    DATABASE_URL: databaseUrl,
    DATA_DIR: temporaryFolder(t),
    RPC_URL: rig.chain.rpcUrl,
    PAY_TO: PAY_TO.address,
    RELAYER_KEY_FILE: oldFile,
  };
  const rotated = await runCommand(['relayer', 'rotate', newFile], env);
  t.match(rotated, { status: 0, stderr: '' });
  const newKey = readFileSync(newFile, 'utf8').trim() as Hex;
  const next = { address: privateKeyToAccount(newKey).address, key: newKey };
  t.equal(statSync(newFile).mode & 0o777, 0o600);
  t.equal(readFileSync(oldFile, 'utf8'), `${old.key}\n`, 'the present key stays');
  t.match(rotated.stdout, new RegExp(`^${next.address} is the new relayer`));
  t.match(
    rotated.stdout,
    new RegExp(`${old.address}\n {2}balance {3}1 ether.*\n {2}waiting {3}1 tr.*\n {2}payments {2}2 in`),
  );
  t.match(rotated.stdout, `RELAYER_KEY_FILE=${newFile}\n     RELAYER_FORMER_KEY_FILE=${oldFile}\n`);
  t.notOk(rotated.stdout.includes(newKey) || rotated.stdout.includes(old.key));
  t.match(await runCommand(['relayer', 'rotate', newFile], env), {
    status: 1,
    stderr: /exists, and may contain a key/,
  });
  t.equal(readFileSync(newFile, 'utf8').trim(), newKey);

  await chain.setBalance({ address: next.address, value: 10n ** 18n });
  const clock = new ManualClock();
  const keys = { relayerKey: undefined, relayerKeyFile: newKey, relayerFormerKeyFile: [old.key] };
  const { url } = await rig.start(t, { ...PATIENT, clock, databaseUrl, ...keys });
  await rig.connect(t, url, { slots: SLOTS });
  t.equal(await present(url, carol.header), 503);
  t.equal((await money.waiting(next)).length, 1, 'a new payment is sent by the new key');
  await until('the stored one is sent', async () => {
    clock.advance(MINUTE_MS);
    return (await money.waiting(old)).length === 2;
  });
  const shown = await runCommand(['relayer', 'show'], {
    ...env,
    RELAYER_KEY_FILE: newFile,
    RELAYER_FORMER_KEY_FILE: oldFile,
  });
  t.match(shown.stdout, new RegExp(`${next.address}\n(.*\n){2} {2}payments {2}1 in flight`));
  t.match(
    shown.stdout,
    new RegExp(`${old.address} {2}former\n.*\n {2}waiting {3}2 .*\n {2}payments {2}2 in flight`),
  );
  await chain.mine({ blocks: 1 });
  await until('all have their year', async () => {
    clock.advance(MINUTE_MS);
    const years = await Promise.all([alice, bob, carol].map(({ key }) => isSubscribed(url, key)));
    return years.every(Boolean);
  });
  t.equal(await money.paid(), 3n * PRICE, 'each once');
  t.same([await money.mined(old), await money.mined(next)], [2, 1], 'no transaction in vain');
  t.same(
    await money.senders(),
    [old, old, next].map(({ address }) => address.toLowerCase()),
  );
  for (const { header } of [alice, bob, carol]) t.equal(await present(url, header), 409);
  t.equal(await money.paid(), 3n * PRICE);
});

t.test('fees rise: the former key raises what it has sent', TIMEOUT, async (t) => {
  const { clock, databaseUrl, key, money, next, old, sent } = await leftBehind(t);
  const keys = { relayerKey: next.key, relayerFormerKeyFile: [old.key] };
  const { url } = await rig.start(t, { ...PATIENT, clock, databaseUrl, ...keys });
  const { maxFeePerGas = 0n } = await chain.getTransaction({ hash: sent?.transaction_hash as Hex });
  await chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 2n * maxFeePerGas });
  await chain.mine({ blocks: 1 });
  t.equal(await money.paid(), 0n, 'too little for this block');
  await until('replaced', async () => {
    clock.advance(MINUTE_MS);
    const [row] = await money.rows();
    return row?.transaction_hash !== sent?.transaction_hash;
  });
  await until('mined', async () => {
    await chain.mine({ blocks: 1 });
    return (await money.paid()) > 0n;
  });
  await until('a year', async () => {
    clock.advance(MINUTE_MS);
    return isSubscribed(url, key);
  });
  t.equal(await money.paid(), PRICE);
  t.same([await money.mined(old), await money.mined(next)], [1, 0]);
  t.same(await money.senders(), [old.address.toLowerCase()]);
});

t.test('the former key is missing: an alert, and the payment waits for it', TIMEOUT, async (t) => {
  const { clock, databaseUrl, header, key, money, next, old, sent } = await leftBehind(t);
  const { maxFeePerGas = 0n } = await chain.getTransaction({ hash: sent?.transaction_hash as Hex });
  await chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 2n * maxFeePerGas });
  await chain.mine({ blocks: 1 });

  const alone = await startAlerting(t, rig, { ...PATIENT, clock, databaseUrl, relayerKey: next.key });
  await alone.pass(4 * MINUTE_MS);
  t.match(await money.rows(), [{ state: 'in_flight', transaction_hash: sent?.transaction_hash }]);
  const reported = (): string[] => alone.hook.reported().filter((line) => line.includes('relayer_key'));
  t.same(reported(), ['+relayer_key_missing 84532']);
  const alert = alone.hook.taken
    .flatMap(({ body }) => body.data.raised)
    .find(({ kind }) => kind === 'relayer_key_missing');
  t.match(alert, { severity: 'critical', advice: /Set RELAYER_FORMER_KEY_FILE/ });
  t.match(alert?.summary, /^1 payment waits on chain 84532: .* no key of their relayer 0x\w{4}…\w{4}$/);
  t.notMatch(JSON.stringify(alone.hook.taken), new RegExp(old.address, 'i'));
  t.equal(await present(alone.url, header), 503, 'never an invitation to pay again');
  t.same([await money.mined(old), await money.mined(next)], [0, 0]);
  await alone.stop();

  const keys = { relayerKey: next.key, relayerFormerKeyFile: [old.key] };
  const { hook } = alone;
  const both = await startAlerting(t, rig, { ...PATIENT, hook, clock, databaseUrl, ...keys });
  await until('a year', async () => {
    await both.pass(MINUTE_MS);
    await chain.mine({ blocks: 1 });
    return isSubscribed(both.url, key);
  });
  await both.pass(3 * MINUTE_MS);
  t.same(reported(), ['+relayer_key_missing 84532', '-relayer_key_missing 84532']);
  t.equal(await money.paid(), PRICE);
  t.same([await money.mined(old), await money.mined(next)], [1, 0]);
});

t.test(
  'the former key is missing, and its fee is enough: the stored transaction finishes',
  TIMEOUT,
  async (t) => {
    const { clock, databaseUrl, key, money, next, old, sent } = await leftBehind(t);
    // The network has forgotten it.
    await chain.dropTransaction({ hash: sent?.transaction_hash as Hex });
    t.same(await money.waiting(old), []);
    const { url } = await rig.start(t, {
      ...PATIENT,
      clock,
      databaseUrl,
      relayerKey: next.key,
    });
    await until('a year', async () => {
      clock.advance(MINUTE_MS);
      await chain.mine({ blocks: 1 });
      return isSubscribed(url, key);
    });
    t.equal(await money.paid(), PRICE);
    t.same([await money.mined(old), await money.mined(next)], [1, 0]);
  },
);

t.test('the former account used the nonce otherwise: the new key signs again', TIMEOUT, async (t) => {
  const { clock, databaseUrl, key, money, next, old, sent } = await leftBehind(t);
  await chain.dropTransaction({ hash: sent?.transaction_hash as Hex });
  // An operator, or a thief, moves the ether away.
  await chain.sendTransaction({
    account: privateKeyToAccount(old.key),
    chain: null,
    to: next.address,
    value: 10n ** 17n,
    nonce: Number(sent?.transaction_nonce),
    gas: 21_000n,
  });
  await chain.mine({ blocks: 1 });
  const { url } = await rig.start(t, {
    ...PATIENT,
    clock,
    databaseUrl,
    relayerKey: next.key,
  });
  await until('a year', async () => {
    clock.advance(MINUTE_MS);
    await chain.mine({ blocks: 1 });
    return isSubscribed(url, key);
  });
  t.equal(await money.paid(), PRICE);
  t.same(await money.senders(), [next.address.toLowerCase()]);
  t.same([await money.mined(old), await money.mined(next)], [1, 1]);
});

t.test('the service does not start with a key that is present and former', TIMEOUT, async (t) => {
  const { key } = await fundedRelayer(rig);
  await t.rejects(rig.start(t, { relayerKey: key, relayerFormerKeyFile: [key] }), /has the present key/);
  await t.rejects(
    rig.start(t, { relayerKey: undefined, relayerFormerKeyFile: [key] }),
    /needs the present key/,
  );
});
