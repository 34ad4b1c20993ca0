// Loaded into the service before its own code: answers each line on standard input with its memory after a collection of garbage.
import { createInterface } from 'node:readline';

/** One collection leaves what weak references and finalizers held. */
const COLLECTIONS = 3;

createInterface({ input: process.stdin }).on('line', async () => {
  for (let turn = 0; turn < COLLECTIONS; turn += 1) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  process.stdout.write(`${JSON.stringify(process.memoryUsage())}\n`);
});
process.stdin.unref();
