// Runs a program of the operator: input on its standard input, output from its standard output, both bounded. Never a shell.
import { spawn } from 'node:child_process';
import type { Clock } from '#shared/clock.ts';

/** The program did not do its work; the message says why, without its input. */
export class ProgramError extends Error {
  override name = 'ProgramError';
}

interface ProgramOptions {
  clock: Clock;
  timeoutMs: number;
  outputBytesMax: number;
  signal: AbortSignal;
}

/** Characters of a failed program's standard error that the log keeps. */
const STDERR_CHARACTERS_MAX = 300;

/** Without the variables of the service: they hold its secrets. */
const ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LANG: 'C.UTF-8',
};

/** The program and its arguments, which spaces separate. */
const argumentsOf = (command: string): string[] => command.split(' ').filter((word) => word !== '');

/** Returns all that the program writes. Throws `ProgramError`, and the signal's reason; the program is killed then. */
export function runSpeechProgram(
  command: string,
  input: string | Uint8Array,
  { clock, outputBytesMax, signal, timeoutMs }: ProgramOptions,
): Promise<Buffer> {
  const [program = '', ...args] = argumentsOf(command);
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    // A group of its own, so that what it starts ends with it.
    const child = spawn(program, args, { stdio: 'pipe', detached: true, env: ENVIRONMENT });
    const output: Buffer[] = [];
    let bytes = 0;
    let errorText = '';
    const finish = (outcome: () => void): void => {
      timer.cancel();
      signal.removeEventListener('abort', onAbort);
      if (child.pid !== undefined) killGroup(child.pid);
      outcome();
    };
    const fail = (reason: string): void => finish(() => reject(new ProgramError(`${program} ${reason}`)));
    const onAbort = (): void => finish(() => reject(signal.reason));
    const timer = clock.after(timeoutMs, () => fail(`took longer than ${timeoutMs} ms`));
    signal.addEventListener('abort', onAbort, { once: true });
    child.on('error', (error) => fail(`cannot be run: ${error.message}`));
    child.stdout.on('data', (data: Buffer) => {
      bytes += data.length;
      if (bytes > outputBytesMax) fail(`wrote more than ${outputBytesMax} bytes`);
      else output.push(data);
    });
    child.stderr.on('data', (data: Buffer) => {
      errorText = (errorText + data.toString()).slice(0, STDERR_CHARACTERS_MAX);
    });
    child.on('close', (code, signalName) => {
      if (code === 0) finish(() => resolve(Buffer.concat(output)));
      else fail(`ended with ${signalName ?? `exit code ${code}`}: ${errorText.trim()}`);
    });
    // It may not read all.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
