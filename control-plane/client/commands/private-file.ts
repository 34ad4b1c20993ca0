// Small JSON files that only their owner can read: tokens, and payments whose end is not known.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type * as z from 'zod';
import { UsageError } from './failures.ts';

/** Undefined where there is none. Throws `UsageError` for one that others can read, or that holds something else. */
export function readPrivate<S extends z.ZodType>(file: string, schema: S): z.output<S> | undefined {
  let text: string;
  try {
    if ((statSync(file).mode & 0o077) !== 0)
      throw new UsageError(`${file} can be read by others: chmod 600 it`);
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error instanceof UsageError ? error : new UsageError(`${file}: ${(error as Error).message}`);
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new UsageError(`${file} is not a file of this program`);
  }
}

/** All of it or nothing, also when the process is killed. Throws `UsageError`. */
export function writePrivate(file: string, value: unknown): void {
  const fresh = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(fresh, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true });
    renameSync(fresh, file);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw new UsageError(`${file}: ${(error as Error).message}`);
  }
}
