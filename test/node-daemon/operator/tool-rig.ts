// A simulated rack, and the operator's tools on it, with or without the daemon.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { type Simulator, type SimulatorOptions, startSimulator } from '#hardware-sim/simulator.ts';
import { writeIdentity } from '../../fixtures/nodes/enrolled-node.ts';
import { runNodeCommand } from '../../fixtures/run-node-command.ts';
import { type Ran, runProgram } from '../../fixtures/run-program.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';
import { ScriptedControlPlane } from '../link/scripted-control-plane.ts';

const START_TIMEOUT_MS = 60_000;

export interface ToolRig {
  readonly simulator: Simulator;
  readonly dataDir: string;
  readonly env: Record<string, string>;
  readonly plane: ScriptedControlPlane;
  /** Runs a tool to its end, in this process. */
  tool(...args: string[]): Promise<Ran>;
  /** Runs a tool in a process of its own, which `onStart` is given. */
  toolWith(args: readonly string[], onStart: (child: ChildProcess) => void): Promise<Ran>;
  /** Starts the daemon and waits until its slots are registered. */
  startDaemon(): Promise<ChildProcess>;
}

/** `config`: text of the configuration file. */
export async function startToolRig(
  t: Test,
  rack: Omit<SimulatorOptions, 'dir'>,
  config = '',
): Promise<ToolRig> {
  const folder = temporaryFolder(t);
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  const configFile = join(folder, 'node.yaml');
  writeFileSync(configFile, config.replaceAll('%DIR%', folder));
  const simulator = await startSimulator({ ...rack, dir: join(folder, 'rack') });
  t.teardown(() => simulator.stop());
  const plane = await ScriptedControlPlane.start();
  t.teardown(() => plane.stop());
  writeIdentity(dataDir, plane.url);
  const env = {
    DATA_DIR: dataDir,
    NODE_CONFIG: configFile,
    SYSFS_ROOT: join(simulator.dir, 'sys'),
    DEV_ROOT: join(simulator.dir, 'dev'),
  };
  return {
    simulator,
    dataDir,
    env,
    plane,
    tool: (...args) => runNodeCommand(args, env),
    toolWith: (args, onStart) => runProgram('node-daemon', args, env, onStart),
    async startDaemon() {
      const before = plane.frames.length;
      const child = spawn(process.execPath, [join(PROJECT_FOLDER, 'node-daemon/bin.cjs')], {
        env: { PATH: String(process.env['PATH']), ...env, LOG_LEVEL: 'info' },
        stdio: ['ignore', 'ignore', process.env['DAEMON_LOG'] === undefined ? 'ignore' : 'inherit'],
      });
      t.teardown(() => ended(child, 'SIGKILL'));
      await until(
        'the daemon serves all modems',
        () => {
          if (child.exitCode !== null) throw new Error(`the daemon has ended with ${child.exitCode}`);
          const hasReported = plane.frames.slice(before).some(({ type }) => type === 'hello');
          return (
            hasReported &&
            simulator.modems.every(({ identity }) => plane.modemState(identity.imei) === 'registered')
          );
        },
        START_TIMEOUT_MS,
      );
      return child;
    },
  };
}

/** Ends a process, and resolves when it is gone. */
export async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}
