// `node-daemon simulate`: runs a rack of simulated modems and a daemon, for people without a modem.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import type { LogLevel } from '#shared/log.ts';
import { OperatorError } from '#shared/operator/operator-error.ts';
import { programCommand } from '#shared/process/commands.ts';
import { listen } from '#shared/process/listen.ts';
import { integerOption, LOG_LEVEL_OPTION, optionalInteger } from '#shared/process/options.ts';
import { ownCommand, quoted } from '#shared/process/own-command.ts';
import { DEFAULT_CONFIG_PATH, readConfigFile } from '../config/config-file.ts';
import { enrollCommand } from '../config/enroll-command.ts';
import { DEFAULT_CONFIG } from '../config/node-config.ts';
import { type DaemonSettings, daemonOptions } from '../config/options.ts';
import { nodeNameOf } from '../link/identity.ts';
import { print } from '../operator/cli/with-operator.ts';
import { SlotNames } from '../slot/slot-names.ts';

/** Not every package contains it. */
const SIMULATOR = join(import.meta.dirname, '../../dist/hardware-sim/main.js');
/** That of the package. */
const METRICS_PORT = 9464;
/** The most modems of "npm start". */
const FIRST_MODEM = 64;
/** A telephone of the simulated carrier. */
const FAR_END = '+13105550188';
const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 5_000;
const LINK_POLL_MS = 500;
/** A rack that runs has its port, its folder and its numbers. */
const BESIDE_ANOTHER =
  'To run a rack beside another one, give it a --metrics-port, a --dir and a --first-modem of its own';

export const SIMULATE_COMMAND = programCommand({
  usage: 'simulate',
  about: 'Run simulated modems and a daemon that uses them, until Ctrl-C.',
  options: {
    modems: { about: 'Number of modems', schema: integerOption(1, 64, 4) },
    firstModem: {
      about: `Position of the first modem among those of all simulated racks: it decides IMEIs, SIMs and numbers. The default is past those of "npm start", so that one service takes both`,
      schema: integerOption(0, 9_000, FIRST_MODEM),
    },
    dir: {
      about: 'Folder of the simulated rack and its daemon’s data',
      schema: z.string().min(1, 'must be a path').default('data/simulated'),
    },
    config: {
      about: `Configuration file of the daemon; without it, the daemon uses the defaults. It does not read ${DEFAULT_CONFIG_PATH}`,
      schema: z.string().min(1, 'must be a path').optional(),
    },
    metricsPort: {
      about: `Port of the status page and the metrics, on 127.0.0.1; default: that of the configuration file, else ${METRICS_PORT}`,
      schema: optionalInteger(1, 65_535).optional(),
    },
    logLevel: {
      ...daemonOptions.logLevel,
      about: `${LOG_LEVEL_OPTION.about}; default: that of the configuration file, else warn`,
    },
    logFormat: daemonOptions.logFormat,
  },
  async run({ config: configFile, dir, firstModem, logFormat, metricsPort, modems, ...given }) {
    if (!existsSync(SIMULATOR)) {
      throw new OperatorError(
        'unavailable',
        'This package does not contain the simulator. In a clone of the repository, run "npm ci" and "npx --no-install node-daemon simulate".',
      );
    }
    const { createLogger } = await import('#shared/process/logger.ts');
    const { runProgram } = await import('#shared/process/run.ts');
    const { RecentLog } = await import('../operator/recent-log.ts');
    const { startDaemon } = await import('./daemon.ts');
    const config = configFile === undefined ? DEFAULT_CONFIG : readConfigFile(configFile);
    const logLevel = given.logLevel ?? config.logLevel ?? 'warn';
    const port = metricsPort ?? config.metricsPort ?? METRICS_PORT;
    const recentLog = new RecentLog();
    const log = createLogger('node-daemon', { logLevel, logFormat }, recentLog.take);
    const dataDir = join(resolve(dir), 'node');
    await runProgram(log, async () => {
      await refuseUsedPort(port);
      const simulator = await startSimulator({ modems, firstModem, dir: join(dir, 'rack'), logLevel });
      const settings = {
        dataDir,
        logLevel,
        config: { ...config, metricsPort: port },
        sysfsRoot: join(simulator.dir, 'sys'),
        devRoot: join(simulator.dir, 'dev'),
      };
      const daemon = await startDaemon(settings, { log, recentLog }).catch(async (error) => {
        await simulator.stop();
        throw error;
      });
      const { url } = simulator;
      const { number, usbPath, imei } = await firstModemAt(url);
      const names = new SlotNames(config.slots);
      const slot = names.nameOf({ imei, usbPath }) ?? names.defaultName(usbPath);
      print(introduction({ modems, slot, number, port, ...settings, url }));
      const poll = setInterval(() => {
        if (daemon.status().link !== 'linked') return;
        clearInterval(poll);
        print(`linked as ${nodeNameOf(dataDir) ?? 'a node'}`);
      }, LINK_POLL_MS);
      return {
        async stop() {
          clearInterval(poll);
          await daemon.stop();
          await simulator.stop();
        },
      };
    });
  },
});

/** Before anything is started or written: the status page only warns. Rejects with an error that names the option. */
async function refuseUsedPort(port: number): Promise<void> {
  const { stop } = await listen(createServer(), { port, option: '--metrics-port' }).catch((cause: Error) => {
    throw new OperatorError('refused', `${cause.message}. ${BESIDE_ANOTHER}`, cause);
  });
  await stop();
}

interface SimulatorProcess {
  readonly url: string;
  readonly dir: string;
  stop(): Promise<void>;
}

/** Starts the simulator as a process that ends with this one, even if this one is killed. */
async function startSimulator({
  dir,
  firstModem,
  logLevel,
  modems,
}: {
  dir: string;
  firstModem: number;
  logLevel: LogLevel;
  modems: number;
}): Promise<SimulatorProcess> {
  const size = ['--modems', String(modems), '--first-modem', String(firstModem)];
  const args = [SIMULATOR, ...size, '--dir', dir, '--log-level', logLevel];
  const child = spawn(process.execPath, [...args, '--port', '0', '--end-with-input', 'yes'], {
    // Ctrl-C must reach this process only, which stops the daemon first.
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  const lines = createInterface(child.stdout);
  const firstLine = once(lines, 'line', { signal: AbortSignal.timeout(START_TIMEOUT_MS) });
  const ended = closed.then(() => [undefined]);
  const [line] = (await Promise.race([firstLine, ended]).catch(() => [undefined])) as [string | undefined];
  if (line === undefined)
    throw new OperatorError('unavailable', `the simulator did not start. ${BESIDE_ANOTHER}`);
  const { simulator_url: url, dir: folder } = JSON.parse(line) as { simulator_url: string; dir: string };
  return {
    url,
    dir: folder,
    async stop() {
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      child.kill('SIGTERM');
      await closed;
      clearTimeout(timer);
    },
  };
}

/** `number`: of its card. */
async function firstModemAt(url: string): Promise<{ number: string; usbPath: string; imei: string }> {
  const answer = await fetch(`${url}/modems`, { signal: AbortSignal.timeout(START_TIMEOUT_MS) });
  const modems = (await answer.json()) as Array<{ number: string; imei: string; usb: { path: string } }>;
  const [first] = modems;
  if (first === undefined) throw new OperatorError('unavailable', 'the simulator has no modem');
  return { number: first.number, usbPath: first.usb.path, imei: first.imei };
}

interface Introduced extends Pick<DaemonSettings, 'dataDir' | 'sysfsRoot' | 'devRoot'> {
  readonly modems: number;
  /** Slot of the first modem. */
  readonly slot: string;
  /** Number of its card. */
  readonly number: string;
  readonly port: number;
  readonly url: string;
}

function introduction(introduced: Introduced): string {
  const { modems, slot, number, dataDir, sysfsRoot, devRoot, port, url } = introduced;
  const ours = (command: string): string =>
    `  ${ownCommand('node-daemon')} ${command} --data-dir ${quoted(dataDir)}`;
  const rack =
    modems === 1 ? 'A simulated modem and its daemon' : `${modems} simulated modems and their daemon`;
  return `${rack} run until Ctrl-C. In another terminal:

${ours('watch')}
${ours('list')}
${ours(`doctor --sysfs-root ${quoted(sysfsRoot)} --dev-root ${quoted(devRoot)}`)}
${ours(`send ${slot} ${FAR_END} 'Hello from the rack'`)}
${ours(`sms ${slot}`)}
${ours(`at ${slot} AT+CSQ`)}
${ours(`ussd ${slot} '*100#'`)}

${serviceText(dataDir)}

Status page: http://127.0.0.1:${port}/   Metrics: http://127.0.0.1:${port}/metrics
To simulate messages, calls and faults, use the rack's HTTP API: ${url} (docs/simulator/carrier-http.md). A text to the first modem:

  curl -s ${url}/sms -d '{"from":"${FAR_END}","to":"${number}","body":"Hello, rack"}'`;
}

function serviceText(dataDir: string): string {
  const node = nodeNameOf(dataDir);
  if (node !== null) return `It is enrolled as ${node}: its daemon connects to the service by itself.`;
  return `To connect it to a service, run "${ownCommand('control-plane')} node add rack-7" there, then here with its URL and code:

  ${enrollCommand(dataDir)}`;
}
