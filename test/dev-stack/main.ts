// `npm start`: everything up on loopback, a walk-through, everything down on Ctrl-C.
import { silentLogger } from '#shared/log.ts';
import { runProgram } from '#shared/process/run.ts';
import { startDevStack } from './dev-stack.ts';
import { readDevStackOptions } from './options.ts';
import { walkThrough } from './walk-through.ts';

/** The programs stop one after the other. */
const STOP_TIMEOUT_MS = 45_000;

const PARENT_POLL_MS = 500;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

const options = readDevStackOptions();
say('starting: chain, control plane, simulated modems, node daemon …');
// npm that is killed forwards nothing: without it no Ctrl-C reaches this process.
if (process.env['npm_lifecycle_event'] === 'start') {
  const npm = process.ppid;
  const poll = setInterval(() => {
    if (process.ppid === npm) return;
    // Once: a second signal would end the process while it stops the others.
    clearInterval(poll);
    process.kill(process.pid, 'SIGTERM');
  }, PARENT_POLL_MS).unref();
}

const start = async () => {
  const stack = await startDevStack(options, say);
  say(walkThrough(stack.file, stack.path));
  return stack;
};
await runProgram(silentLogger, start, STOP_TIMEOUT_MS);
