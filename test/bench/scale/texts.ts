// A text through the instance that has the node's link, and through another one.
import { jsonPost } from '../../fixtures/agents/json-post.ts';
import type { Account } from '../../fixtures/agents/subscribed.ts';
import { type Measurement, percentile } from '../report.ts';

const ROUNDS = 5;
const TEXTS = 150;

export async function benchTexts(
  [own, other]: readonly [string, string],
  { headers }: Account,
): Promise<Measurement[]> {
  const send = async (url: string): Promise<number> => {
    const startedAt = performance.now();
    const response = await fetch(`${url}/sms/send`, jsonPost({ to: '+13105550188', body: 'hello' }, headers));
    if (!response.ok) throw new Error(`not sent: ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
    return performance.now() - startedAt;
  };
  const rounds: Array<{ own: number[]; other: number[] }> = [];
  for (let round = -1; round < ROUNDS; round += 1) {
    const times = { own: [] as number[], other: [] as number[] };
    for (let text = 0; text < TEXTS; text += 1) {
      times.own.push(await send(own));
      times.other.push(await send(other));
    }
    if (round >= 0) rounds.push(times);
  }
  return [50, 99].map((percent, index) => ({
    name: `a text through another instance, more than through the link's own, p${percent}`,
    rounds: rounds.map((times) => percentile(times.other, percent) - percentile(times.own, percent)),
    unit: 'ms',
    target: { atMost: [2, 8][index] ?? 0 },
    remark: `${rounds.map((times) => percentile(times.own, percent).toFixed(1)).join(', ')} ms through its own`,
  }));
}
