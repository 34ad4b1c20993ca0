// Small JSON files that only their owner can read: tokens, and payments with an unknown outcome.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type * as z from 'zod';
import { UsageError } from './failures.ts';

/** Undefined if there is none. Throws `UsageError` for a file that others can read, or that has other contents. */
export function readPrivate<S extends z.ZodType>(file: string, schema: S): z.output<S> | undefined {
  let text: string;
  try {
    if ((statSync(file).mode & 0o077) !== 0)
      throw new UsageError(`${file} can be read by other users: run chmod 600 on it`);
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error instanceof UsageError ? error : new UsageError(`${file}: ${(error as Error).message}`);
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new UsageError(`${file} was not written by this program`);
  }
}

/** Writes all of it or nothing, even if the process is killed. Throws `UsageError`. */
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
