// Payers at all instances at once.
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { PRICE } from '../../fixtures/chain/paid-chain.ts';
import { ScriptedNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { signPaymentHeader } from '../../fixtures/payments/payer.ts';
import { availableAt } from '../../fixtures/payments/presented.ts';
import { until } from '../../fixtures/until.ts';
import { type Measurement, percentile } from '../report.ts';
import type { BenchService } from '../voice/voice-service.ts';

const PAYERS = 48;

export async function benchPayers(
  urls: readonly string[],
  { chain, url }: BenchService,
): Promise<Measurement> {
  const keys = Array.from({ length: PAYERS }, () => generatePrivateKey());
  for (const key of keys) await chain.dollar.fund(privateKeyToAccount(key).address, PRICE);
  const slots = keys.map((_, index) => slotAt(index + 2));
  const node = await ScriptedNode.connect(url, { nodeId: 'sells', slots });
  await until('all are on sale', async () => (await availableAt(url)) === PAYERS);
  const payments = await Promise.all(
    keys.map(async (key, index) => {
      const at = String(urls[index % urls.length]);
      return { at, header: await signPaymentHeader(at, key) };
    }),
  );
  const startedAt = performance.now();
  const times = await Promise.all(
    payments.map(async ({ at, header }) => {
      const response = await fetch(`${at}/subscribe`, { method: 'POST', headers: { 'X-PAYMENT': header } });
      if (!response.ok) throw new Error(`not sold: ${response.status} ${await response.text()}`);
      return performance.now() - startedAt;
    }),
  );
  await node.drop();
  return {
    name: `slowest of ${PAYERS} payers at ${urls.length} instances at once`,
    rounds: [Math.max(...times) / 1000],
    unit: 's',
    target: { atMost: 3 },
    remark: `median ${(percentile(times, 50) / 1000).toFixed(1)} s`,
  };
}
