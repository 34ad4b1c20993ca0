// Plays compiled test files one after another in one process. Each is a test of its own, with a time-out of its own.
import { pathToFileURL } from 'node:url';
import t, * as tap from 'tap';

/** Makes a test the `t` that a file which is imported next gets; `test/build.mjs` adds it to tap. */
const { playAs } = tap as unknown as { playAs(test: typeof t | tap.Test): void };

const timeoutMs = Number(process.env['TAP_TIMEOUT']) * 1000;
// The binding changes with each file.
const root = t;
root.setTimeout(0);
// A file may wait for something that keeps no process alive: its time-out ends it, not the end of the process.
const alive = setInterval(() => undefined, timeoutMs);
root.teardown(() => clearInterval(alive));
for (const file of process.argv.slice(2))
  void root.test(file, { timeout: timeoutMs }, async (each) => {
    playAs(each);
    await import(pathToFileURL(file).href);
  });
