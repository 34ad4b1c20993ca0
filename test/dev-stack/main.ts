// `npm start`: everything up on loopback, a walk-through, everything down on Ctrl-C.
import { silentLogger } from '#shared/log.ts';
import { runProgram } from '#shared/process/run.ts';
import { startDevStack } from './dev-stack.ts';
import { readDevStackOptions } from './options.ts';
import { walkThrough } from './walk-through.ts';

/** Four programs stop one after the other. */
const STOP_TIMEOUT_MS = 45_000;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const options = readDevStackOptions();
say('starting: chain, control plane, simulated modems, node daemon …');
const start = async () => {
  const stack = await startDevStack(options, say);
  say(walkThrough(stack.file, stack.path));
  return stack;
};
await runProgram(silentLogger, start, STOP_TIMEOUT_MS);
