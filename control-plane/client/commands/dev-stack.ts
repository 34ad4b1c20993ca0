// Reads the file in which `npm start` describes the running service and its wallets with test dollars.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { UsageError } from './failures.ts';

const devStackSchema = z.object({
  base_url: z.string(),
  wallets: z.array(z.object({ private_key: z.string() })),
});
export type DevStack = z.output<typeof devStackSchema>;

export const devStackFile = (dataDir: string): string => join(dataDir, 'dev-stack.json');

/** Undefined while it does not run. Throws `UsageError` for any other file. */
export function readDevStack(dataDir: string): DevStack | undefined {
  const file = devStackFile(dataDir);
  if (!existsSync(file)) return undefined;
  try {
    return devStackSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    throw new UsageError(`${file} was not written by npm start`);
  }
}
