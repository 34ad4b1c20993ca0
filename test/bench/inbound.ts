// From the modem's +CMTI to the row being claimable, and what the programs weigh with 16 modems.
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { PAY_TO, RELAYER } from '../dev-stack/wallets.ts';
import { deliver } from '../fixtures/agent.ts';
import { LINK_SECRET } from '../fixtures/control-plane.ts';
import { startPaidChain } from '../fixtures/paid-chain.ts';
import { startPostgres } from '../fixtures/postgres.ts';
import { subscribeInStore } from '../fixtures/subscribed.ts';
import { until } from '../fixtures/until.ts';
import { residentMegabytes, startChild } from './child.ts';
import { eventsOf } from './event-source.ts';
import type { Measurement } from './report.ts';
import { percentile } from './report.ts';
import { withTemporaryFolder } from './temporary-folder.ts';

const ROUNDS = 5;
const MODEMS = 16;
/** Messages of a round: one modem gets all, or each modem its share at the same instant. */
const MESSAGES = 160;
const GAP_MS = 20;
const IDLE_MS = 5_000;

interface Modem {
  number: string;
  imei: string;
  slot: string;
  ports: { at: string };
}

export function benchInbound(): Promise<Measurement[]> {
  return withTemporaryFolder(async (folder) => {
    const [chain, postgres] = await Promise.all([startPaidChain(), startPostgres()]);
    const databaseUrl = await postgres.createDatabase();
    const simulator = await startChild('hardware-sim/main.ts', {
      MODEMS: String(MODEMS),
      RACK_DIR: `${folder}/rack`,
      SIMULATOR_PORT: '0',
    });
    const simulatorUrl = String(simulator.ready['simulator_url']);
    const service = await startChild('control-plane/main.ts', {
      PORT: '0',
      DATABASE_URL: databaseUrl,
      RPC_URL: chain.rpcUrl,
      PAY_TO: PAY_TO.address,
      RELAYER_KEY: RELAYER.privateKey,
      LINK_SECRET,
    });
    const modems = (await (await fetch(`${simulatorUrl}/modems`)).json()) as Modem[];
    const daemon = await startChild('node-daemon/main.ts', {
      CONTROL_PLANE_URL: String(service.ready['base_url']),
      MODEM_PORTS: modems.map(({ slot, ports }) => `${slot}=${ports.at}`).join(','),
      DATA_DIR: `${folder}/node`,
      LINK_SECRET,
    });
    try {
      await until('all modems are registered', async () => {
        const response = await fetch(`${service.ready['base_url']}/availability`);
        return ((await response.json()) as { available: number }).available === MODEMS;
      });
      await subscribeAll(databaseUrl, modems);
      const latency = await latencyMeter(simulatorUrl, databaseUrl);
      const measurements = [
        ...(await benchLatency('1 modem', latency, simulatorUrl, modems.slice(0, 1))),
        ...(await benchLatency(`${MODEMS} modems at once`, latency, simulatorUrl, modems)),
      ];
      await latency.close();
      await pause(IDLE_MS);
      return [
        ...measurements,
        memory(`node-daemon RSS, ${MODEMS} modems, idle`, daemon.pid, 120),
        memory('control-plane RSS on Postgres', service.pid, 200),
      ];
    } finally {
      for (const child of [daemon, service, simulator]) await child.stop();
      await Promise.all([chain.stop(), postgres.stop()]);
    }
  });
}

async function subscribeAll(databaseUrl: string, modems: readonly Modem[]): Promise<void> {
  for (const [index, { number }] of modems.entries()) {
    const address = `0x${String(index).padStart(12, '0')}${'0'.repeat(28)}` as const;
    await subscribeInStore(databaseUrl, { address }, number);
  }
}

interface LatencyMeter {
  /** Milliseconds of each message since the last call, by its text. */
  take(count: number): Promise<number[]>;
  close(): Promise<void>;
}

/**
 * Pairs two instants of one machine's clock: the simulator's event as it raises +CMTI (whole
 * milliseconds), and Postgres' notification of the commit that made the row claimable.
 */
async function latencyMeter(simulatorUrl: string, databaseUrl: string): Promise<LatencyMeter> {
  const listener = new Client({ connectionString: databaseUrl });
  await listener.connect();
  await listener.query(`
    create function tell() returns trigger language plpgsql as
      $$ begin perform pg_notify('inserted', new.to_number || ' ' || new.id); return new; end $$;
    create trigger tell after insert on messages for each row execute function tell();
    listen inserted`);
  listener.on('error', () => undefined);
  // Equal notifications of one transaction are sent once, so each has the row's id. Of one number the order is kept, so its nth +CMTI and its nth row are the same message.
  const raised = new Map<string, number[]>();
  const committed = new Map<string, number[]>();
  const note = (notes: Map<string, number[]>, key: string, at: number): void => {
    notes.set(key, [...(notes.get(key) ?? []), at]);
  };
  listener.on('notification', ({ payload }) => note(committed, String(payload?.split(' ')[0]), Date.now()));
  const numbers = new Map(
    ((await (await fetch(`${simulatorUrl}/modems`)).json()) as Modem[]).map(({ imei, number }) => [
      imei,
      number,
    ]),
  );
  const events = await eventsOf(`${simulatorUrl}/events`, ({ event, data }) => {
    if (event === 'sms_delivered') {
      note(raised, String(numbers.get(String(data['imei']))), Date.parse(String(data['at'])));
    }
  });
  const total = (notes: Map<string, number[]>): number => [...notes.values()].flat().length;
  return {
    async take(count) {
      await until(
        'all rows are committed',
        () => total(committed) >= count && total(raised) >= count,
        60_000,
      );
      const latencies = [...raised].flatMap(([number, times]) =>
        times.map((at, index) => (committed.get(number)?.[index] ?? Number.NaN) - at),
      );
      raised.clear();
      committed.clear();
      return latencies;
    },
    async close() {
      events.close();
      await listener.end();
    },
  };
}

async function benchLatency(
  name: string,
  meter: LatencyMeter,
  simulatorUrl: string,
  modems: readonly Modem[],
): Promise<Measurement[]> {
  const p50: number[] = [];
  const p99: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (let sent = 0; sent < MESSAGES; sent += modems.length) {
      await Promise.all(
        modems.map(({ number }) =>
          deliver(simulatorUrl, { from: '+13105550188', to: number, body: `n ${sent}` }),
        ),
      );
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

function memory(name: string, pid: number, atMost: number): Measurement {
  return { name, rounds: [residentMegabytes(pid)], unit: 'MB', target: { atMost } };
}
