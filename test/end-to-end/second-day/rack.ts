// A rack: a simulator and a daemon, each a process of its own. Its host can be killed; both are started again.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { enroll } from '#node-daemon/link/enroll.ts';
import { Program, type ProgramSpec } from '../../dev-stack/program.ts';
import { deliver } from '../../fixtures/agents/agent.ts';
import { freePort } from '../../fixtures/network/free-port.ts';
import { type Reply, request } from '../../fixtures/network/json-request.ts';
import { until } from '../../fixtures/until.ts';
import { post } from '../../hardware-sim/fixtures/http.ts';

const BACK_TIMEOUT_MS = 120_000;

export interface RackModem {
  slot: string;
  imei: string;
  iccid: string | null;
  imsi: string | null;
  number: string | null;
}

export interface Card {
  iccid: string;
  imsi: string;
  number: string;
}

interface RackOptions {
  name: string;
  /** Positions of its modems among those of all racks. */
  firstModem: number;
  modems: number;
  dataDir: string;
  /** URL of the service. */
  url: string;
  /** For the enrollment. */
  code: string;
  keep: (program: Program) => Program;
}

export type Rack = Awaited<ReturnType<typeof startRack>>;

export async function startRack({ name, firstModem, modems, dataDir, url, code, keep }: RackOptions) {
  const programOf = (program: ProgramSpec['program'], label: string, env: Record<string, string>): Program =>
    keep(
      new Program({
        program,
        name: label,
        env: { LOG_LEVEL: 'info', ...env },
        logFile: join(dataDir, `${label}.log`),
      }),
    );
  const rackDir = join(dataDir, `${name}-modems`);
  const port = await freePort();
  const simulatorUrl = `http://127.0.0.1:${port}`;
  const simulator = programOf('hardware-sim', `${name}-simulator`, {
    SIMULATOR_PORT: String(port),
    MODEMS: String(modems),
    FIRST_MODEM: String(firstModem),
    RACK_DIR: rackDir,
  });
  const ready = await simulator.start();

  const folder = join(dataDir, name);
  mkdirSync(folder);
  await enroll({ folder, url, code });
  const config = join(dataDir, `${name}.yaml`);
  const slots = (ready['modems'] as RackModem[])
    .map(({ slot, imei }) => `  - {name: ${slot}, imei: "${imei}"}\n`)
    .join('');
  writeFileSync(config, `discover: false\ndrain_seconds: 0\nslots:\n${slots}`);
  const daemon = programOf('node-daemon', name, {
    DATA_DIR: folder,
    NODE_CONFIG: config,
    SYSFS_ROOT: join(rackDir, 'sys'),
    DEV_ROOT: join(rackDir, 'dev'),
    UV_THREADPOOL_SIZE: '64',
  });
  await daemon.start();

  const asked = async (answer: Promise<Reply>): Promise<unknown> => {
    const { status, body } = await answer;
    if (status >= 300) throw new Error(`${name}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  return {
    name,
    daemon,
    modems: async () => (await asked(request(`${simulatorUrl}/modems`))) as RackModem[],
    /** Puts the card into the modem of a slot; null takes it out. `urc`: the modem announces it. */
    putCard: (slot: string, iccid: string | null, urc = false) =>
      asked(post(`${simulatorUrl}/modems/${slot}/sim`, { iccid, urc })),
    /** Has the carrier make a card for the number, or brings one from another rack. */
    issueCard: async (card: Partial<Card> & { number: string }) =>
      (await asked(post(`${simulatorUrl}/sims`, card))) as Card,
    deliver: (sms: Parameters<typeof deliver>[1]) => deliver(simulatorUrl, sms),
    /** kill -9 of the daemon, and its modems lose power. Resolves when both programs are there again. */
    async kill(): Promise<void> {
      const killed = [daemon, simulator].map((program) => ({ program, pid: program.pid }));
      for (const { pid } of killed) process.kill(pid, 'SIGKILL');
      await until(
        `${name} is back`,
        async () =>
          killed.every(({ program, pid }) => program.pid !== pid) &&
          (await request(`${simulatorUrl}/modems`).catch(() => undefined)),
        BACK_TIMEOUT_MS,
      );
    },
  };
}
