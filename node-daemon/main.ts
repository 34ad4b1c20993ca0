// The program node-daemon: runs an operator's command, or the daemon until a signal.
import { systemClock } from '#shared/clock.ts';
import type { LogFormat, Logger } from '#shared/log.ts';
import { helpOf, runCommand } from '#shared/process/commands.ts';
import { ConfigFileError } from '#shared/process/config-file.ts';
import { type OptionsOf, readOptions } from '#shared/process/options.ts';
import { runProgram } from '#shared/process/run.ts';
import { errorLine } from '#shared/process/terminal.ts';
import { COMMANDS } from './commands.ts';
import { type DaemonSettings, daemonOptions, settingsOf } from './config/options.ts';
import type { Daemon } from './daemon/daemon.ts';
import { nodeNameOf } from './link/identity.ts';
import { RecentLog } from './operator/recent-log.ts';
import { ServiceManager } from './service-manager/service-manager.ts';

if (!(await runCommand('node-daemon', COMMANDS))) {
  const settings = readSettings();
  const recentLog = new RecentLog();
  // Commands log nothing.
  const { createLogger } = await import('#shared/process/logger.ts');
  const log = createLogger('node-daemon', settings, recentLog.take);
  await runProgram(log, async () => {
    const { startDaemon } = await import('./daemon/daemon.ts');
    const manager = new ServiceManager({
      environment: process.env,
      pid: process.pid,
      clock: systemClock,
      log,
    });
    const daemon = await startDaemon(settings, { log, recentLog });
    await manager.ready(daemon);
    process.stdout.write(`${JSON.stringify({ node_id: nodeNameOf(settings.dataDir) })}\n`);
    return {
      drain(signal) {
        manager.stopping();
        return daemon.drain(signal);
      },
      // A terminal that closes ends the daemon.
      ...(process.stdout.isTTY ? {} : { reload: () => reload(daemon, log) }),
      async stop() {
        await daemon.stop();
        await manager.stopped();
        // An exit waits for every thread, and only this signal ends threads that hang in a port.
        if (daemon.hasHangingPorts()) process.kill(process.pid, 'SIGKILL');
      },
    };
  });
}

/** A bad file changes nothing. */
async function reload(daemon: Daemon, log: Logger): Promise<void> {
  try {
    await daemon.reload(settingsOf(readDaemonOptions()));
  } catch (error) {
    if (error instanceof ConfigFileError)
      log.error({ problems: error.message.split('\n') }, 'configuration not reloaded: the file has errors');
    else log.error({ err: error }, 'configuration not reloaded');
  }
}

function readDaemonOptions(): OptionsOf<typeof daemonOptions> {
  return readOptions(
    'node-daemon',
    `Run the modems of one host and keep its link to the control plane.\n\n${helpOf(COMMANDS)}`,
    daemonOptions,
  );
}

function readSettings(): DaemonSettings & { logFormat: LogFormat } {
  const options = readDaemonOptions();
  try {
    return { ...settingsOf(options), logFormat: options.logFormat };
  } catch (error) {
    process.stderr.write(errorLine(error));
    process.exit(1);
  }
}
