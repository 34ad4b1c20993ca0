// How long a ring takes from the node's frame to the clients that watch, with a thousand of them.
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import WebSocket from 'ws';
import { slotAt } from '../fixtures/scripted-node.ts';
import { until } from '../fixtures/until.ts';
import { type Measurement, percentile } from './report.ts';
import { startVoiceService, type VoiceService } from './voice-service.ts';

const SOCKETS = 1_000;
const NUMBERS = 100;
const ROUNDS = 5;
const RINGS_A_ROUND = 100;
const RINGS_OF_ALL = 10;

export async function benchVoicePresence(): Promise<Measurement[]> {
  const plane = await startVoiceService(NUMBERS);
  try {
    const spread = await watch(plane, (index) => index % NUMBERS);
    const few = await latencies(plane, spread, { rings: RINGS_A_ROUND, perRing: SOCKETS / NUMBERS });
    for (const socket of spread.sockets) socket.terminate();
    const one = await watch(plane, () => 0);
    const all = await latencies(plane, one, { rings: RINGS_OF_ALL, perRing: SOCKETS, isOne: true });
    for (const socket of one.sockets) socket.terminate();
    const remark = `${SOCKETS} sockets open, ${SOCKETS / NUMBERS} a number`;
    return [
      ...reported('ring → client', few, { remark, targets: [5, 25] }),
      ...reported('ring → each of 1000 clients of one number', all, { remark: 'clients are one process' }),
    ];
  } finally {
    await plane.stop();
  }
}

function reported(
  name: string,
  rounds: readonly number[][],
  { remark, targets = [] }: { remark: string; targets?: number[] },
): Measurement[] {
  return [50, 99].map((percent, index) => ({
    name: `${name} p${percent}`,
    rounds: rounds.map((each) => percentile(each, percent)),
    unit: 'ms',
    remark,
    ...(targets[index] === undefined ? {} : { target: { atMost: targets[index] } }),
  }));
}

interface Watch {
  sockets: WebSocket[];
  /** When each frame of the round came (performance.now), by call. */
  heard: Map<string, number[]>;
}

async function watch({ url, accounts }: VoiceService, numberOf: (index: number) => number): Promise<Watch> {
  const heard = new Map<string, number[]>();
  const sockets: WebSocket[] = [];
  for (let index = 0; index < SOCKETS; index += 1) {
    const account = accounts[numberOf(index)];
    const socket = new WebSocket(`${url.replace('http', 'ws')}/voice/presence/${account?.number}`, {
      headers: account?.headers ?? {},
      perMessageDeflate: false,
    });
    socket.on('message', (data: Buffer) => {
      const at = performance.now();
      const { kind, call_id: callId } = JSON.parse(data.toString()) as { kind: string; call_id: string };
      if (kind === 'ringing') heard.get(callId)?.push(at);
    });
    sockets.push(socket);
    await once(socket, 'open');
  }
  return { sockets, heard };
}

/** Milliseconds of each client's frame, by round. */
async function latencies(
  { line }: VoiceService,
  { heard }: Watch,
  { rings, perRing, isOne = false }: { rings: number; perRing: number; isOne?: boolean },
): Promise<number[][]> {
  const rounds: number[][] = [];
  for (let round = -1; round < ROUNDS; round += 1) {
    const waits: number[] = [];
    for (let ring = 0; ring < rings; ring += 1) {
      const callId = `in-${isOne ? 'one' : 'few'}-${round + 1}-${ring}`;
      const times: number[] = [];
      heard.set(callId, times);
      const rangAt = performance.now();
      const call = line.ring('+13105550188', callId, slotAt((isOne ? 0 : ring % NUMBERS) + 1).iccid);
      await until('all have heard it', () => times.length === perRing);
      waits.push(...times.map((at) => at - rangAt));
      line.end(call, { reason: 'cancelled', cause: 16 });
      await pause(5);
    }
    if (round >= 0) rounds.push(waits);
  }
  return rounds;
}
