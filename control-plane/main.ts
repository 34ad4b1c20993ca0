// The control-plane program: the service and the operator commands.
import { helpOf, runCommand } from '#shared/process/commands.ts';
import { METRICS_PATH } from '#shared/process/metrics-server.ts';
import { notifySocket } from '#shared/process/notify-socket.ts';
import { runProgram } from '#shared/process/run.ts';
import { readConfig } from './config/config.ts';
import { COMMANDS } from './operator/cli/all-commands.ts';

if (!(await runCommand('control-plane', COMMANDS))) {
  const config = readConfig(helpOf(COMMANDS));
  // Commands log nothing.
  const { createLogger } = await import('#shared/process/logger.ts');
  const log = createLogger('control-plane', config);
  await runProgram(log, async () => {
    // Loaded on demand: the other commands need little of it.
    const { startService } = await import('./service/service.ts');
    const service = await startService(config, { log });
    const { consoleUrl, metricsPort: port, url } = service;
    const metrics =
      port === undefined ? {} : { metrics_url: `http://${config.metricsHost}:${port}${METRICS_PATH}` };
    const console = consoleUrl === undefined ? {} : { console_url: consoleUrl };
    process.stdout.write(`${JSON.stringify({ base_url: url, ...metrics, ...console })}\n`);
    const { NOTIFY_SOCKET: socket = '' } = process.env;
    if (socket !== '') await notifySocket(socket, log)({ READY: 1, STATUS: `serves ${url}` });
    return service;
  });
}
