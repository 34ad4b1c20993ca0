// Asks programs of the system: whether they are there, and for their output.
import { execFile } from 'node:child_process';

const ANSWER_TIMEOUT_MS = 3_000;

/** The output of a program; `undefined` when it is not there, fails, or takes longer than 3 s. */
function outputOf(program: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: ANSWER_TIMEOUT_MS, killSignal: 'SIGKILL' }, (error, output) =>
      resolve(error === null ? output.trim() : undefined),
    );
  });
}

/** Whether the system's clock follows a time server; `undefined` when the system does not say. */
export async function isClockSynchronized(): Promise<boolean | undefined> {
  const told = await outputOf('timedatectl', ['show', '--property=NTPSynchronized', '--value']);
  return told === 'yes' ? true : told === 'no' ? false : undefined;
}

/** Which of the programs for sound cards are missing. */
export async function missingSoundPrograms(): Promise<string[]> {
  const programs = ['arecord', 'aplay'];
  const outputs = await Promise.all(programs.map((program) => outputOf(program, ['--version'])));
  return programs.filter((_, position) => outputs[position] === undefined);
}
