// The control plane as a program: the service, and an operator's commands beside it.
import { helpOf, runCommand } from '#shared/process/commands.ts';
import { createLogger } from '#shared/process/logger.ts';
import { runProgram } from '#shared/process/run.ts';
import { readConfig } from './config.ts';
import { NODE_COMMANDS } from './operator/node-commands.ts';

if (!(await runCommand('control-plane', NODE_COMMANDS))) {
  const config = readConfig(helpOf(NODE_COMMANDS));
  const log = createLogger('control-plane', config.logLevel);
  await runProgram(log, async () => {
    // Commands beside it need little of this.
    const { startService } = await import('./service.ts');
    const service = await startService(config, { log });
    process.stdout.write(`${JSON.stringify({ base_url: service.url })}\n`);
    return service;
  });
}
