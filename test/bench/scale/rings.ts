// A ring at one instance, for the watchers of others.
import { once } from 'node:events';
import WebSocket from 'ws';
import type { ScriptedLine } from '../../fixtures/scripted-line.ts';
import type { Account } from '../../fixtures/subscribed.ts';
import { until } from '../../fixtures/until.ts';
import { type Measurement, percentile } from '../report.ts';

const ROUNDS = 5;
const SOCKETS = 1_000;
const RINGS = 10;

export async function benchRings(
  urls: readonly string[],
  { headers, number }: Account,
  line: ScriptedLine,
): Promise<Measurement[]> {
  const heard = new Map<string, number[]>();
  const sockets: WebSocket[] = [];
  for (let index = 0; index < SOCKETS; index += 1) {
    const url = String(urls[index % urls.length]).replace('http', 'ws');
    const socket = new WebSocket(`${url}/voice/presence/${number}`, { headers, perMessageDeflate: false });
    socket.on('message', (data: Buffer) => {
      const at = performance.now();
      const { kind, call_id: callId } = JSON.parse(data.toString()) as { kind: string; call_id: string };
      if (kind === 'ringing') heard.get(callId)?.push(at);
    });
    sockets.push(socket);
    await once(socket, 'open');
  }
  const rounds: number[][] = [];
  for (let round = -1; round < ROUNDS; round += 1) {
    const waits: number[] = [];
    for (let ring = 0; ring < RINGS; ring += 1) {
      const callId = `in-scale-${round + 1}-${ring}`;
      const times: number[] = [];
      heard.set(callId, times);
      const rangAt = performance.now();
      const call = line.ring('+13105550188', callId);
      await until('all have heard it', () => times.length === SOCKETS);
      waits.push(...times.map((at) => at - rangAt));
      line.end(call, { reason: 'cancelled', cause: 16 });
    }
    if (round >= 0) rounds.push(waits);
  }
  for (const socket of sockets) socket.terminate();
  return [50, 99].map((percent) => ({
    name: `ring at one instance → ${SOCKETS} clients of two others, p${percent}`,
    rounds: rounds.map((waits) => percentile(waits, percent)),
    unit: 'ms',
    remark: 'clients are one process',
    ...(percent === 99 ? { target: { atMost: 40 } } : {}),
  }));
}
