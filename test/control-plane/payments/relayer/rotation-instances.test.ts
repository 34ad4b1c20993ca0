// Instances on one database during a rotation: one has the old key only, the other the next key and the former one.
import t from 'tap';
import { PRICE } from '../../../fixtures/chain/paid-chain.ts';
import { ManualClock } from '../../../fixtures/clocks/manual-clock.ts';
import { slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { availableAt } from '../../../fixtures/payments/presented.ts';
import {
  fundedRelayer,
  holdBlocks,
  isSubscribed,
  payerHeader,
  present,
  watchMoney,
} from '../../../fixtures/payments/relayer-rotation.ts';
import { MINUTE_MS } from '../../../fixtures/service/housekeeping.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { until } from '../../../fixtures/until.ts';

const PAYERS = 12;
const rig = await createRig({ hasInstances: true });
const chain = rig.chain.control;

t.test('no two transactions collide, and each payment is settled once', { timeout: 120_000 }, async (t) => {
  const [old, next] = [await fundedRelayer(rig), await fundedRelayer(rig)];
  const clock = new ManualClock();
  const patient = { clock, heartbeatMs: 1_000 * MINUTE_MS, settlementWaitMs: 500 };
  const rotatedKeys = { relayerKey: next.key, relayerFormerKeyFile: [old.key] };
  const { url: before, databaseUrl } = await rig.start(t, { ...patient, relayerKey: old.key });
  const { url: rotated } = await rig.start(t, { ...patient, databaseUrl, ...rotatedKeys });
  const money = await watchMoney(t, rig, databaseUrl);
  await rig.connect(t, before, { slots: Array.from({ length: PAYERS }, (_, index) => slotAt(index + 1)) });
  await until('all numbers are on sale', async () => (await availableAt(before)) === PAYERS);
  const payers: Array<Awaited<ReturnType<typeof payerHeader>>> = [];
  for (let index = 0; index < PAYERS; index += 1) payers.push(await payerHeader(rig, before));
  await holdBlocks(t, rig);
  const answers = await Promise.all(
    payers.map(({ header }, index) => present(index % 2 === 0 ? before : rotated, header)),
  );
  t.same([...new Set(answers)], [503], 'all wait for a block');
  // Both instances work on all of them, each with its keys: fees must be raised, and what was lost sent again.
  const [first] = await money.waiting(next);
  await chain.dropTransaction({ hash: first?.hash as `0x${string}` });
  await chain.setNextBlockBaseFeePerGas({ baseFeePerGas: 2n * BigInt(first?.maxFeePerGas ?? 0) });
  await chain.mine({ blocks: 1 });
  t.equal(await money.paid(), 0n);
  for (let minute = 0; minute < 4; minute += 1) {
    clock.advance(MINUTE_MS);
    await until('sent again', async () => (await money.waiting(old, next)).length === PAYERS);
  }
  await until('all have their year', async () => {
    clock.advance(MINUTE_MS);
    await chain.mine({ blocks: 1 });
    const years = await Promise.all(payers.map(({ key }) => isSubscribed(rotated, key)));
    return years.every(Boolean);
  });
  t.equal(await money.paid(), BigInt(PAYERS) * PRICE);
  t.same([await money.mined(old), await money.mined(next)], [PAYERS / 2, PAYERS / 2], 'none in vain');
  const rows = await money.rows();
  const nonces = rows.map((row) => `${row.transaction_sender} ${row.transaction_nonce}`);
  t.equal(new Set(nonces).size, PAYERS, 'no nonce of an account twice');
  t.equal(new Set(rows.map(({ transfer_hash }) => transfer_hash)).size, PAYERS);
});
