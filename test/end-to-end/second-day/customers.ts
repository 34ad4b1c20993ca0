// The customers of the second day: they buy, and some of them text all the time.
import { setTimeout as pause } from 'node:timers/promises';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { Agent } from '../../fixtures/agents/agent.ts';
import { PRICE } from '../../fixtures/chain/paid-chain.ts';
import { buyNumber, type Subscribed } from '../../fixtures/payments/payer.ts';
import { until } from '../../fixtures/until.ts';
import type { Fleet } from './fleet.ts';

export const WAIT_MS = 120_000;
export const OUTSIDE = '+13105550188';
/** Pause in the loops of traffic, so that they leave time for all else. */
const PACE_MS = 100;

export interface Customer {
  key: Hex;
  wallet: string;
  agent: Agent;
  number: string;
}

/** Buys in turns: a relayer sends one transaction after the other. */
export async function sell({ chain, url }: Fleet, count: number): Promise<Customer[]> {
  const customers: Customer[] = [];
  while (customers.length < count) {
    const key = generatePrivateKey();
    const { address } = privateKeyToAccount(key);
    await chain.dollar.fund(address, PRICE);
    const bought: Subscribed = await buyNumber(url, key);
    customers.push({
      key,
      wallet: address.toLowerCase(),
      agent: new Agent(url, bought),
      number: bought.number,
    });
  }
  return customers;
}

/** A few customers send texts all the time. Keeps what the service accepted, and each answer that a client cannot handle. */
export function startTraffic(customers: readonly Customer[]) {
  const accepted: string[] = [];
  const strange: string[] = [];
  const ending = new AbortController();
  const loops = customers.map(async ({ agent }, index) => {
    for (let n = 0; !ending.signal.aborted; n += 1) {
      const body = `day two, ${index}-${n}`;
      const answer = await agent.send(OUTSIDE, body).catch(() => undefined);
      if (answer?.status === 200) accepted.push(body);
      else if (answer !== undefined && ![500, 502, 503].includes(answer.status))
        strange.push(`${answer.status} ${JSON.stringify(answer.body)}`);
      await pause(PACE_MS);
    }
  });
  return {
    accepted,
    strange,
    flows: async (what: string): Promise<void> => {
      const before = accepted.length;
      await until(`texts flow after ${what}`, () => accepted.length > before + customers.length, WAIT_MS);
    },
    async stop(): Promise<void> {
      ending.abort();
      await Promise.all(loops);
    },
  };
}
