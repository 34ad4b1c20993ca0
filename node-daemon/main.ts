// The node daemon's program: reads its options and runs until a signal.
import { createLogger } from '#shared/process/logger.ts';
import { readOptions } from '#shared/process/options.ts';
import { runProgram } from '#shared/process/run.ts';
import { daemonOptions } from './config.ts';
import { startDaemon } from './daemon.ts';

const { logLevel, ...options } = readOptions(
  'node-daemon',
  'Runs the modems of one host and keeps its link to the control plane.',
  daemonOptions,
);
const log = createLogger('node-daemon', logLevel);
await runProgram(log, async () => {
  const daemon = await startDaemon(options, { log });
  process.stdout.write(`${JSON.stringify({ node_id: options.nodeId })}\n`);
  return daemon;
});
