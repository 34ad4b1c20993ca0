// The control-plane program: the service and the operator commands. Each loads what it needs: a command takes less time than all of it.
import { helpOf, runCommand } from '#shared/process/commands.ts';
import { METRICS_PATH } from '#shared/process/metrics-server.ts';
import { notifySocket } from '#shared/process/notify-socket.ts';
import { runProgram } from '#shared/process/run.ts';
import { commandsFor } from './operator/cli/all-commands.ts';

const [, , word] = process.argv;
if (word === undefined || word.startsWith('-')) await runService();
else await runCommand('control-plane', await commandsFor(word));

async function runService(): Promise<void> {
  const isHelp = process.argv.some((argument) => argument === '--help' || argument === '-h');
  const { readConfig } = await import('./config/config.ts');
  const config = readConfig(isHelp ? helpOf(await commandsFor(undefined)) : '');
  const { createLogger } = await import('#shared/process/logger.ts');
  const log = createLogger('control-plane', config);
  await runProgram(log, async () => {
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
