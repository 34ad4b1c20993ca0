// Calls through all of it: clients, control plane, daemon and simulated modems, each a program of its own.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import WebSocket from 'ws';
import type { Account } from '../../fixtures/agents/subscribed.ts';
import { enrollFolder } from '../../fixtures/nodes/enrolled-node.ts';
import { until } from '../../fixtures/until.ts';
import { startChild } from '../child.ts';
import { SimulatedRack } from '../modems/simulated-rack.ts';
import { startBenchService } from './voice-service.ts';

/** One call: its stream, the far end in the simulator, and what the simulator and the service know of it. */
export interface BenchCall {
  client: WebSocket;
  far: WebSocket;
  /** Frames between modem and host behind an id, oldest first. */
  frames(direction: 'to_host' | 'from_host', since: number): Promise<LineFrame[]>;
  /** As `GET /calls/{id}` of the simulator shows the modem's side. */
  line(): Promise<Record<string, number>>;
  /** Hangs up; resolves with the record of `GET /voice/calls`. */
  hangUp(): Promise<Record<string, unknown>>;
}

interface LineFrame {
  id: number;
  at_ms: number;
  arrived_at_ms?: number;
  peak: number;
}

interface VoiceRack {
  calls: BenchCall[];
  stop(): Promise<void>;
}

/** Starts everything and has each modem call a far end that answers at once. */
export async function startVoiceRack(folder: string, modems: number): Promise<VoiceRack> {
  const plane = await startBenchService();
  const rack = await SimulatedRack.start({ folder, modems });
  const dataDir = join(folder, 'node');
  mkdirSync(dataDir);
  await enrollFolder(plane.url, 'bench', dataDir);
  const config = join(dataDir, 'node-daemon.yaml');
  writeFileSync(config, 'discover: true\n');
  const daemon = await startChild('node-daemon/main.ts', {
    NODE_CONFIG: config,
    DATA_DIR: dataDir,
    LOG_LEVEL: 'error',
    SYSFS_ROOT: join(folder, 'rack', 'sys'),
    DEV_ROOT: join(folder, 'rack', 'dev'),
  });
  const accounts = await plane.hold(rack.modems.map(({ number }) => number));
  const calls = await Promise.all(
    accounts.map((account, index) => openCall({ url: plane.url, simulatorUrl: rack.url, account, index })),
  );
  return {
    calls,
    async stop() {
      for (const { client, far } of calls) {
        client.terminate();
        far.terminate();
      }
      await daemon.stop();
      await rack.stop();
      await plane.stop();
    },
  };
}

async function openCall(parts: {
  url: string;
  simulatorUrl: string;
  account: Account;
  index: number;
}): Promise<BenchCall> {
  const { url, simulatorUrl, account, index } = parts;
  const headers = { ...account.headers, 'Content-Type': 'application/json' };
  const to = `+131055501${String(index).padStart(2, '0')}`;
  const ask = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    const answer = (await response.json()) as Record<string, unknown>;
    if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer;
  };
  const callId = String((await ask('/voice/dial', { phone_number: account.number, to }))['call_id']);
  const client = await opened(`${url.replace('http', 'ws')}/voice/stream/${callId}`, account.headers);
  const simulated = async (path: string): Promise<unknown> => (await fetch(simulatorUrl + path)).json();
  const { id } = await until('the call at the carrier', async () =>
    ((await simulated('/calls')) as { id: number; to: string; state: string }[]).find(
      (call) => call.to === to && call.state === 'answered',
    ),
  );
  const far = await opened(`${simulatorUrl.replace('http', 'ws')}/calls/${id}/audio`);
  return {
    client,
    far,
    frames: async (direction, since) =>
      (await simulated(`/calls/${id}/frames?direction=${direction}&since=${since}`)) as LineFrame[],
    line: async () =>
      ((await simulated(`/calls/${id}`)) as { origin: { audio: Record<string, number> } }).origin.audio,
    async hangUp() {
      await ask('/voice/hangup', { call_id: callId });
      return until('the record', async () => {
        const response = await fetch(`${url}/voice/calls`, { headers: account.headers });
        const { calls } = (await response.json()) as { calls: Record<string, unknown>[] };
        return calls.find((call) => call['call_id'] === callId && call['ended_at'] !== null);
      });
    },
  };
}

async function opened(url: string, headers: Record<string, string> = {}): Promise<WebSocket> {
  const socket = new WebSocket(url, ['voice.v1'], { headers, perMessageDeflate: false });
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  return socket;
}
