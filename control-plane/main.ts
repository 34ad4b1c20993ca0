// The control plane as a program.
import { createLogger } from '#shared/process/logger.ts';
import { runProgram } from '#shared/process/run.ts';
import { readConfig } from './config.ts';
import { startService } from './service.ts';

const config = readConfig();
const log = createLogger('control-plane', config.logLevel);
await runProgram(log, async () => {
  const service = await startService(config, { log });
  process.stdout.write(`${JSON.stringify({ base_url: service.url })}\n`);
  return service;
});
