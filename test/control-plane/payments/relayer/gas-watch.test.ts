// The relayer's balance for gas: measured, with one warning before it runs dry.
import t from 'tap';
import { parseEther } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { ManualClock } from '../../../fixtures/clocks/manual-clock.ts';
import { recordedLog } from '../../../fixtures/recorded-log.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { until } from '../../../fixtures/until.ts';

const rig = await createRig();
const MINUTE_MS = 60_000;
const ENOUGH = parseEther('1');

t.test('a relayer that runs out of gas is a warning, then an error, and shown in the metrics', async (t) => {
  const relayerKey = generatePrivateKey();
  const { address } = privateKeyToAccount(relayerKey);
  const give = (value: bigint) => rig.chain.control.setBalance({ address, value });
  const clock = new ManualClock();
  const { log, lines } = recordedLog();
  await give(ENOUGH);
  const { service } = await rig.start(t, {
    clock,
    log,
    relayerKey,
    metricsPort: 0,
    relayerTransfersMin: 100,
  });
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${service.metricsPort}/metrics`)).text();
    return Number(new RegExp(`^${name}{chain="84532"} (\\S+)$`, 'm').exec(text)?.[1]);
  };
  /** Looks every minute until the metric is so. */
  const shown = (name: string, isSo: (value: number) => boolean) =>
    until(name, async () => {
      clock.advance(MINUTE_MS);
      return isSo(await metric(name));
    });
  const reported = (): string[] =>
    lines.filter(({ fields }) => 'relayer' in fields).map(({ message }) => message);

  await shown('simrack_relayer_balance_ether', (ether) => ether === 1);
  const transfers = await metric('simrack_relayer_transfers_left');
  t.ok(transfers > 100, `${transfers} transfers`);
  t.same(reported(), []);

  await give(ENOUGH / BigInt(Math.ceil(transfers / 50)));
  await shown('simrack_relayer_transfers_left', (left) => left > 0 && left < 100);
  await shown('simrack_relayer_transfers_left', (left) => left > 0 && left < 100);
  t.same(reported(), ['relayer is low on gas: send ether to it'], 'once');

  await give(1n);
  await shown('simrack_relayer_transfers_left', (left) => left === 0);
  t.same(reported().slice(1), [
    'relayer cannot pay for gas: send ether to it; until then payments do not settle',
  ]);
  t.notOk(JSON.stringify(lines).includes(relayerKey.slice(2)), 'the key is in no line');

  await give(ENOUGH);
  await shown('simrack_relayer_transfers_left', (left) => left > 100);
  await give(1n);
  await shown('simrack_relayer_transfers_left', (left) => left === 0);
  t.equal(reported().length, 3, 'reported again after it had enough');
});

t.test('a port of metrics that is taken stops the start, with its option', async (t) => {
  const { service } = await rig.start(t, { metricsPort: 0 });
  await t.rejects(rig.start(t, { metricsPort: service.metricsPort }), {
    message: /^METRICS_PORT: port \d+ is already in use/,
  });
});
