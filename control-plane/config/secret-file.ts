// A secret as an option that names a file.
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { fileProblem } from '#shared/process/file-problem.ts';

const FILE_BYTES_MAX = 64 * 1024;

/** Its contents. */
export const secretFileSchema = z.string().transform((path, context): string => {
  const problem = (message: string): never => {
    context.addIssue(message);
    return z.NEVER;
  };
  // The name is not shown: it may be the secret itself.
  try {
    const text = readFileSync(path, 'utf8');
    return text.length > FILE_BYTES_MAX ? problem('the file is too long') : text;
  } catch (error) {
    return problem(`the file ${fileProblem(error)}`);
  }
});
