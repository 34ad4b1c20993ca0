// `node-daemon simulate`: runs a rack of simulated modems and a daemon, for people without a modem.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import type { LogLevel } from '#shared/log.ts';
import { OperatorError } from '#shared/operator/operator-error.ts';
import { programCommand } from '#shared/process/commands.ts';
import { integerOption } from '#shared/process/options.ts';
import { ownCommand } from '#shared/process/own-command.ts';
import { DEFAULT_CONFIG } from '../config/node-config.ts';
import { daemonOptions } from '../config/options.ts';
import { print } from '../operator/cli/with-operator.ts';

/** Not every package contains it. */
const SIMULATOR = join(import.meta.dirname, '../../dist/hardware-sim/main.js');
const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 5_000;

export const SIMULATE_COMMAND = programCommand({
  usage: 'simulate',
  about: 'Run simulated modems and a daemon that uses them, until Ctrl-C.',
  options: {
    modems: { about: 'Number of modems', schema: integerOption(1, 64, 4) },
    dir: {
      about: 'Folder of the simulated rack and its daemon’s data',
      schema: z.string().min(1, 'must be a path').default('data/simulated'),
    },
    logLevel: daemonOptions.logLevel,
    logFormat: daemonOptions.logFormat,
  },
  async run({ modems, dir, logFormat, logLevel = 'warn' }) {
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
    const recentLog = new RecentLog();
    const log = createLogger('node-daemon', { logLevel, logFormat }, recentLog.take);
    const dataDir = join(resolve(dir), 'node');
    await runProgram(log, async () => {
      const simulator = await startSimulator(modems, join(dir, 'rack'), logLevel);
      const settings = {
        dataDir,
        logLevel,
        config: DEFAULT_CONFIG,
        sysfsRoot: join(simulator.dir, 'sys'),
        devRoot: join(simulator.dir, 'dev'),
      };
      const daemon = await startDaemon(settings, { log, recentLog }).catch(async (error) => {
        await simulator.stop();
        throw error;
      });
      print(introduction(modems, dataDir, simulator.url));
      return {
        async stop() {
          await daemon.stop();
          await simulator.stop();
        },
      };
    });
  },
});

interface SimulatorProcess {
  readonly url: string;
  readonly dir: string;
  stop(): Promise<void>;
}

/** Starts the simulator as a process that ends with this one, even if this one is killed. */
async function startSimulator(modems: number, dir: string, logLevel: LogLevel): Promise<SimulatorProcess> {
  const args = [SIMULATOR, '--modems', String(modems), '--dir', dir, '--log-level', logLevel];
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
  if (line === undefined) throw new OperatorError('unavailable', 'the simulator did not start');
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

const introduction = (
  modems: number,
  dataDir: string,
  url: string,
): string => `${modems} simulated modems and their daemon run until Ctrl-C. In another terminal:

  ${ownCommand('node-daemon')} watch --data-dir ${dataDir}
  ${ownCommand('node-daemon')} list --data-dir ${dataDir}
  ${ownCommand('node-daemon')} at 1-1.1 AT+CSQ --data-dir ${dataDir}
  ${ownCommand('node-daemon')} ussd 1-1.1 '*100#' --data-dir ${dataDir}

To simulate messages, calls and faults, use the rack's HTTP API: ${url} (docs/simulator/carrier-http.md)`;
