// Runs programs of the system.
import { execFile } from 'node:child_process';

const ANSWER_TIMEOUT_MS = 3_000;

/** Returns the output of a program; `undefined` if it is not installed, fails, or takes longer than 3 s. */
function outputOf(program: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: ANSWER_TIMEOUT_MS, killSignal: 'SIGKILL' }, (error, output) =>
      resolve(error === null ? output.trim() : undefined),
    );
  });
}

/** Returns whether the system clock is synchronized with a time server; `undefined` if unknown. */
export async function isClockSynchronized(): Promise<boolean | undefined> {
  const output = await outputOf('timedatectl', ['show', '--property=NTPSynchronized', '--value']);
  return output === 'yes' ? true : output === 'no' ? false : undefined;
}

/** Returns the names of the missing programs for sound cards. */
export async function missingSoundPrograms(): Promise<string[]> {
  const programs = ['arecord', 'aplay'];
  const outputs = await Promise.all(programs.map((program) => outputOf(program, ['--version'])));
  return programs.filter((_, position) => outputs[position] === undefined);
}
