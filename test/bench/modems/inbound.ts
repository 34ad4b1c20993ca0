// From the modem's +CMTI to the row being claimable, beside other programs, and what ours weigh with 16 modems.
import { setTimeout as pause } from 'node:timers/promises';
import { PAY_TO, RELAYER } from '../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { startPaidChain } from '../../fixtures/chain/paid-chain.ts';
import { AS_DEPLOYED, startPostgres } from '../../fixtures/database/postgres.ts';
import { enrollFolder } from '../../fixtures/nodes/enrolled-node.ts';
import { until } from '../../fixtures/until.ts';
import { residentMegabytes, startChild } from '../child.ts';
import { type LatencyMeter, latencyMeter } from '../latency-meter.ts';
import type { Measurement } from '../report.ts';
import { percentile } from '../report.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';
import { daemonFolder, startDaemonChild } from './daemon-child.ts';
import { OTHER_PROGRAMS_MAX, type SmsProgram, startOtherPrograms } from './other-programs.ts';
import { type RackModem, SimulatedRack } from './simulated-rack.ts';

const ROUNDS = 5;
const MODEMS = 16;
/** Messages of a round: one modem gets all, or each modem its share at the same instant. */
const MESSAGES = 160;
const GAP_MS = 20;
const IDLE_MS = 5_000;
const BURST = 60;

/** Other programs look once a second or two. */
const OTHERS_MESSAGES = 15;
const OTHERS_CYCLE_MS = 2_000;
const OTHERS_TIMEOUT_MS = 30_000;

export function benchInbound(): Promise<Measurement[]> {
  return withTemporaryFolder(async (folder) => {
    const [chain, postgres] = await Promise.all([startPaidChain(), startPostgres(AS_DEPLOYED)]);
    const databaseUrl = await postgres.createDatabase();
    const rack = await SimulatedRack.start({ folder, modems: MODEMS + OTHER_PROGRAMS_MAX });
    const modems = rack.modems.slice(0, MODEMS);
    const service = await startChild('control-plane/bin.mjs', {
      PORT: '0',
      DATABASE_URL: databaseUrl,
      RPC_URL: chain.rpcUrl,
      PAY_TO: PAY_TO.address,
      RELAYER_KEY: RELAYER.privateKey,
      ADMIT_NEW_SIMS: 'true',
    });
    const url = String(service.ready['base_url']);
    await enrollFolder(url, 'bench', daemonFolder(folder), { databaseUrl, dataDir: folder });
    const daemon = await startDaemonChild(folder, modems);
    try {
      await until('all modems are registered', async () => {
        const response = await fetch(`${url}/availability`);
        return ((await response.json()) as { available: number }).available === MODEMS;
      });
      await subscribeAll(databaseUrl, modems);
      const meter = await latencyMeter(rack, databaseUrl);
      const latencies = [
        ...(await benchLatency('1 modem', meter, rack, modems.slice(0, 1))),
        ...(await benchLatency(`${MODEMS} modems at once`, meter, rack, modems)),
        await benchBurst(meter, rack, rack.modem(0)),
      ];
      await meter.close();
      await pause(IDLE_MS);
      return [
        ...latencies,
        ...(await othersLatency(rack, folder, rack.modems.slice(MODEMS))),
        memory(`node-daemon RSS, ${MODEMS} modems, idle`, daemon.pid, 110),
        memory('control-plane RSS on Postgres', service.pid, 200),
      ];
    } finally {
      for (const program of [daemon, service, rack]) await program.stop();
      await Promise.all([chain.stop(), postgres.stop()]);
    }
  });
}

async function subscribeAll(databaseUrl: string, modems: readonly RackModem[]): Promise<void> {
  for (const [index, { number }] of modems.entries()) {
    const address = `0x${String(index).padStart(12, '0')}${'0'.repeat(28)}` as const;
    await subscribeInStore(databaseUrl, { address }, number);
  }
}

async function benchLatency(
  name: string,
  meter: LatencyMeter,
  rack: SimulatedRack,
  modems: readonly RackModem[],
): Promise<Measurement[]> {
  const p50: number[] = [];
  const p99: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (let sent = 0; sent < MESSAGES; sent += modems.length) {
      await Promise.all(modems.map((modem) => rack.deliver(modem, `n ${sent}`)));
      await pause(GAP_MS * Math.sqrt(modems.length));
    }
    const latencies = await meter.take(MESSAGES);
    // The first round warms up.
    if (round === 0) continue;
    p50.push(percentile(latencies, 50));
    p99.push(percentile(latencies, 99));
  }
  return [
    { name: `+CMTI to claimable p50, ${name}`, rounds: p50, unit: 'ms', target: { atMost: 15 } },
    { name: `+CMTI to claimable p99, ${name}`, rounds: p99, unit: 'ms', target: { atMost: 60 } },
  ];
}

/** All messages come at once: every one must be claimable, and none twice. */
async function benchBurst(meter: LatencyMeter, rack: SimulatedRack, modem: RackModem): Promise<Measurement> {
  const rounds: number[] = [];
  let slowestMs = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    await rack.holdBack(modem, BURST);
    await rack.release(modem);
    const latencies = await meter.take(BURST);
    rounds.push(latencies.length);
    slowestMs = Math.max(slowestMs, ...latencies);
  }
  const target = { atLeast: BURST };
  const remark = `slowest ${slowestMs.toFixed(0)} ms after its +CMTI`;
  return { name: `claimable of a burst of ${BURST}`, rounds, unit: 'SMS', target, remark };
}

/** The same cost with programs that poll: from +CMTI to the file in their folder. */
async function othersLatency(
  rack: SimulatedRack,
  folder: string,
  modems: readonly RackModem[],
): Promise<Measurement[]> {
  const programs = startOtherPrograms(folder, modems);
  try {
    // They read what they set up first, which takes seconds.
    await Promise.all(programs.map((program) => storedAfterMs(rack, program)));
    return await Promise.all(
      programs.map(async (program) => {
        const rounds: number[] = [];
        for (let message = 0; message < OTHERS_MESSAGES; message += 1) {
          // Anywhere in their cycle.
          await pause(Math.random() * OTHERS_CYCLE_MS);
          rounds.push(await storedAfterMs(rack, program));
        }
        return { name: `+CMTI to stored, ${program.name}`, rounds, unit: 'ms' };
      }),
    );
  } finally {
    for (const program of programs) await program.stop();
  }
}

async function storedAfterMs(
  rack: SimulatedRack,
  { modem, name, receivedCount }: SmsProgram,
): Promise<number> {
  const before = receivedCount();
  const startedAt = performance.now();
  await rack.deliver(modem, 'one');
  await until(`${name} has stored the message`, () => receivedCount() > before, OTHERS_TIMEOUT_MS);
  return performance.now() - startedAt;
}

function memory(name: string, pid: number, atMost: number): Measurement {
  return { name, rounds: [residentMegabytes(pid)], unit: 'MB', target: { atMost } };
}
