// Plays compiled test files one after another in one process. Each is a test of its own, with a time-out of its own.
import { readdirSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import t, * as tap from 'tap';

/** Makes a test the `t` that a file which is imported next gets; `test/build.mjs` adds it to tap. */
const { playAs } = tap as unknown as { playAs(test: typeof t | tap.Test): void };

/** For what the last file has stopped to end. */
const END_MS = 90_000;

const files = process.argv.slice(2);
const timeoutMs = Number(process.env['TAP_TIMEOUT']) * 1000;
// The binding changes with each file.
const root = t;
// Each file has its own time-out, and the runner has one for all of them.
root.setTimeout(files.length * timeoutMs);
// A file may wait for something that keeps no process alive: its time-out ends it, not the end of the process.
const alive = setInterval(() => undefined, timeoutMs);
root.teardown(() => {
  clearInterval(alive);
  setTimeout(endAnyway, END_MS).unref();
});
// Postgres' package sets the code when a database opens and closes.
process.once('exit', () => {
  process.exitCode = root.passing() ? 0 : 1;
});
for (const file of files)
  void root.test(file, { timeout: timeoutMs }, async (each) => {
    playAs(each);
    await import(pathToFileURL(file).href);
  });

/** A program or a socket that a file left behind would keep the process, and the whole run, for ever: it is named, and left. */
function endAnyway(): void {
  const resources = process.getActiveResourcesInfo().join(', ');
  const commands = readdirSync('/proc').filter(isChild).map(commandOf).join('; ');
  process.stderr.write(`left behind: ${resources}; programs: ${commands}\n`);
  process.exit();
}

const ofProcess = (pid: string, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // It has ended.
    return '';
  }
};
const isChild = (pid: string): boolean => ofProcess(pid, 'status').includes(`PPid:\t${process.pid}\n`);
const commandOf = (pid: string): string => ofProcess(pid, 'cmdline').replaceAll('\0', ' ').trim();
