// Clients that watch presence, and how long a ring takes from the node's frame to each of them.
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import WebSocket from 'ws';
import type { Account } from '../../fixtures/agents/subscribed.ts';
import type { ScriptedLine } from '../../fixtures/nodes/scripted-line.ts';
import { until } from '../../fixtures/until.ts';
import { type Measurement, percentile } from '../report.ts';

const ROUNDS = 5;
/** Between two calls of a line. */
const REST_MS = 5;

export interface PresenceWatch {
  /** When each client heard a ring (performance.now), by call. */
  heard: Map<string, number[]>;
  stop(): void;
}

/** One socket for each client. */
export async function watchPresence(
  clients: ReadonlyArray<{ url: string; account: Account }>,
): Promise<PresenceWatch> {
  const heard = new Map<string, number[]>();
  const sockets: WebSocket[] = [];
  for (const { url, account } of clients) {
    const { headers, number } = account;
    const address = `${url.replace('http', 'ws')}/voice/presence/${number}`;
    const socket = new WebSocket(address, { headers, perMessageDeflate: false });
    socket.on('message', (data: Buffer) => {
      const at = performance.now();
      const { kind, call_id: callId } = JSON.parse(data.toString()) as { kind: string; call_id: string };
      if (kind === 'ringing') heard.get(callId)?.push(at);
    });
    sockets.push(socket);
    await once(socket, 'open');
  }
  return {
    heard,
    stop: () => {
      for (const socket of sockets) socket.terminate();
    },
  };
}

/** Milliseconds until each client's frame, by round; the first round warms up. `iccidOf`: the SIM that the ring of this index is for. */
export async function ringTimes(
  line: ScriptedLine,
  { heard }: PresenceWatch,
  {
    name,
    rings,
    perRing,
    iccidOf,
  }: { name: string; rings: number; perRing: number; iccidOf: (ring: number) => string | null },
): Promise<number[][]> {
  const rounds: number[][] = [];
  for (let round = -1; round < ROUNDS; round += 1) {
    const waits: number[] = [];
    for (let ring = 0; ring < rings; ring += 1) {
      const callId = `in-${name}-${round + 1}-${ring}`;
      const times: number[] = [];
      heard.set(callId, times);
      const rangAt = performance.now();
      const call = line.ring('+13105550188', callId, iccidOf(ring));
      await until('all have heard it', () => times.length === perRing);
      waits.push(...times.map((at) => at - rangAt));
      line.end(call, { reason: 'cancelled', cause: 16 });
      await pause(REST_MS);
    }
    if (round >= 0) rounds.push(waits);
  }
  return rounds;
}

/** `targets`: of p50 and p99. */
export const ringMeasurements = (
  name: string,
  rounds: readonly number[][],
  { remark, targets = [] }: { remark: string; targets?: readonly (number | undefined)[] },
): Measurement[] =>
  [50, 99].map((percent, index) => {
    const atMost = targets[index];
    return {
      name: `${name} p${percent}`,
      rounds: rounds.map((each) => percentile(each, percent)),
      unit: 'ms',
      remark,
      ...(atMost === undefined ? {} : { target: { atMost } }),
    };
  });
