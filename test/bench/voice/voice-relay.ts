// Measures the cost of a frame of audio through the control plane, beside a server that only passes messages on.
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import WebSocket from 'ws';
import { encodeCapture, FRAME_BYTES, FRAME_MS } from '#shared/voice/media.ts';
import type { ScriptedMedia } from '../../fixtures/nodes/scripted-media.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { until } from '../../fixtures/until.ts';
import { processorSeconds, startChild } from '../child.ts';
import type { Measurement } from '../report.ts';
import { startVoiceService, type VoiceService } from './voice-service.ts';

const CALLS = 16;
const ROUNDS = 7;
const WARM_UPS = 2;
const ROUND_MS = 5_000;

/** Both ends of the path of one call. */
interface Way {
  client: WebSocket;
  node: WebSocket;
  /** One frame each way. */
  step(): void;
}

export async function benchVoiceRelay(): Promise<Measurement[]> {
  const plane = await startVoiceService(CALLS);
  const bare = await startChild('test/bench/voice/bare-relay.ts');
  try {
    const ours = await Promise.all(plane.accounts.map((_, index) => openCall(plane, index)));
    const theirs = await Promise.all(
      plane.accounts.map((_, index) => openPair(`ws://127.0.0.1:${bare.ready['port']}/${index}`)),
    );
    const rounds: number[] = [];
    let remark = '';
    for (let round = -WARM_UPS; round < ROUNDS; round += 1) {
      const a = await microsecondsPerFrame(plane.service.pid, ours);
      const b = await microsecondsPerFrame(bare.pid, theirs);
      if (round >= 0) rounds.push(a / b);
      remark = `${CALLS} calls in real time; last round ${a.toFixed(1)} µs a frame against ${b.toFixed(1)} µs`;
    }
    const name = 'relay, processor a frame : bare ws relay';
    return [{ name, rounds, unit: '×', target: { atMost: 1.3 }, remark }];
  } finally {
    await Promise.all([plane.stop(), bare.stop()]);
  }
}

/** Processor time of the program for one frame of 20 ms in one direction. */
async function microsecondsPerFrame(pid: number, ways: readonly Way[]): Promise<number> {
  let [sent, received] = [0, 0];
  const count = (data: Buffer): void => {
    if (data.length >= FRAME_BYTES) received += 1;
  };
  for (const { client, node } of ways) for (const socket of [client, node]) socket.on('message', count);
  const before = processorSeconds(pid);
  const startedAt = performance.now();
  for (let tick = 1; tick * FRAME_MS <= ROUND_MS; tick += 1) {
    for (const way of ways) way.step();
    sent += 2 * ways.length;
    await pause(Math.max(0, startedAt + tick * FRAME_MS - performance.now()));
  }
  await until('all came through', () => received >= sent - 2 * ways.length);
  const used = processorSeconds(pid) - before;
  for (const { client, node } of ways) for (const socket of [client, node]) socket.off('message', count);
  return (used * 1_000_000) / received;
}

async function openCall({ url, line, accounts }: VoiceService, index: number): Promise<Way> {
  const account = accounts[index];
  const { call_id: callId } = line.ring('+13105550188', `in-bench-${index}`, slotAt(index + 1).iccid);
  await pause(500);
  const media = line.mediaOf(callId);
  const client = await opened(`${url.replace('http', 'ws')}/voice/stream/${callId}`, account?.headers ?? {});
  const { socket: node }: ScriptedMedia = await media;
  await until('answered', () => line.calls.find(({ call_id }) => call_id === callId)?.state === 'active');
  const audio = Buffer.alloc(FRAME_BYTES, 1);
  let sequence = 0;
  return {
    client,
    node,
    step() {
      // As the modem's clock has it: all that was sent is played, six frames more may come.
      node.send(encodeCapture({ sequence, played: Math.max(0, sequence - 2), granted: sequence + 6, audio }));
      client.send(audio);
      sequence += 1;
    },
  };
}

/** Messages as long as those of a call. */
async function openPair(url: string): Promise<Way> {
  const client = await opened(url);
  const node = await opened(url);
  const [capture, playout] = [Buffer.alloc(12 + FRAME_BYTES, 1), Buffer.alloc(FRAME_BYTES, 1)];
  return {
    client,
    node,
    step() {
      node.send(capture);
      client.send(playout);
    },
  };
}

async function opened(url: string, headers: Record<string, string> = {}): Promise<WebSocket> {
  const socket = new WebSocket(url, { headers, perMessageDeflate: false });
  await once(socket, 'open');
  return socket;
}
