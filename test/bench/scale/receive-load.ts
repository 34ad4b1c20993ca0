// Clients that ask for texts at a steady pace, whatever the answers take. A request whose connection breaks is sent again, as clients do.
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Subscriber } from './subscribers.ts';

const EVERY_MS = 10;
const RETRY_MS = 20;
const GIVE_UP_MS = 20_000;

export interface Load {
  /** Milliseconds from when a request was due to its answer. */
  times: number[];
  /** Requests that were sent more than once. */
  repeated: number;
}

/** Asks until `signal` is aborted. */
export async function receiveLoad(
  url: string,
  subscribers: readonly Subscriber[],
  signal: AbortSignal,
): Promise<Load> {
  const agent = new Agent({ keepAlive: true });
  const load: Load = { times: [], repeated: 0 };
  const open: Array<Promise<void>> = [];
  const startedAt = performance.now();
  for (let count = 0; !signal.aborted; count += 1) {
    const dueAt = startedAt + count * EVERY_MS;
    const waitMs = dueAt - performance.now();
    if (waitMs > 0) await pause(waitMs);
    const { headers } = subscribers[count % subscribers.length] ?? { headers: {} };
    open.push(ask({ agent, url, headers }, load).then(() => void load.times.push(performance.now() - dueAt)));
  }
  await Promise.all(open);
  agent.destroy();
  return load;
}

interface Asked {
  agent: Agent;
  url: string;
  headers: Record<string, string>;
}

async function ask(asked: Asked, load: Load): Promise<void> {
  const startedAt = performance.now();
  for (let attempt = 0; ; attempt += 1) {
    const status = await statusOf(asked).catch(() => 0);
    if (status === 200) return;
    if (status !== 0 && status !== 503) throw new Error(`/sms/receive answered ${status}`);
    if (performance.now() - startedAt > GIVE_UP_MS) throw new Error('/sms/receive gives no answer');
    if (attempt === 0) load.repeated += 1;
    await pause(RETRY_MS);
  }
}

function statusOf({ agent, url, headers }: Asked): Promise<number> {
  return new Promise((resolve, reject) => {
    request(`${url}/sms/receive`, { agent, headers }, (response: IncomingMessage) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
      response.once('error', reject);
    })
      .once('error', reject)
      .setTimeout(GIVE_UP_MS)
      .end();
  });
}
