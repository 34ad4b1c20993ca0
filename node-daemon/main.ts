// The node daemon's program: reads its options and runs until a signal; and `enrol` beside it.
import { helpOf, runCommand } from '#shared/process/commands.ts';
import { createLogger } from '#shared/process/logger.ts';
import { readOptions } from '#shared/process/options.ts';
import { runProgram } from '#shared/process/run.ts';
import { daemonOptions, type Settings, settingsOf } from './config.ts';
import { ENROL_COMMAND } from './link/enrol-command.ts';
import { nodeNameOf } from './link/identity.ts';

if (!(await runCommand('node-daemon', [ENROL_COMMAND]))) {
  const settings = readSettings();
  const log = createLogger('node-daemon', settings.logLevel);
  await runProgram(log, async () => {
    const { startDaemon } = await import('./daemon.ts');
    const daemon = await startDaemon(settings, { log });
    process.stdout.write(`${JSON.stringify({ node_id: nodeNameOf(settings.dataDir) })}\n`);
    return {
      async stop() {
        await daemon.stop();
        // An exit waits for every thread, and no signal but this one ends those that hang in a port.
        if (daemon.hasHangingPorts()) process.kill(process.pid, 'SIGKILL');
      },
    };
  });
}

function readSettings(): Settings {
  const options = readOptions(
    'node-daemon',
    `Runs the modems of one host and keeps its link to the control plane.\n\n${helpOf([ENROL_COMMAND])}`,
    daemonOptions,
  );
  try {
    return settingsOf(options);
  } catch (error) {
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}
