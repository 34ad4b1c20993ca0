// `npm run package:node-daemon`: builds the Debian packages of the daemon.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import * as z from 'zod';
import { readOptions } from '#shared/process/options.ts';
import { VERSION } from '#shared/process/version.ts';
import { ARCHITECTURES, buildPackage } from './debian-package.ts';

const PROJECT = join(import.meta.dirname, '../..');

const options = readOptions(
  'npm run package:node-daemon --',
  'Build the Debian packages of the node daemon.',
  {
    arch: {
      about: `Architecture: ${ARCHITECTURES.join(' or ')}; default all of them`,
      schema: z.enum(ARCHITECTURES, { error: `must be one of ${ARCHITECTURES.join(', ')}` }).optional(),
    },
    out: { about: 'Folder for the packages', schema: z.string().min(1).default('dist') },
    packageVersion: {
      about: 'Version of the packages',
      schema: z
        .string()
        .regex(/^\d[A-Za-z0-9.+~]*$/, 'must be the version of a native Debian package, such as 1.2.3')
        .default(VERSION),
    },
  },
);

try {
  const builtAt = sourceDate(process.env['SOURCE_DATE_EPOCH']);
  for (const arch of options.arch === undefined ? ARCHITECTURES : [options.arch]) {
    const { out, packageVersion: version } = options;
    const { file, bytes } = await buildPackage({ arch, version, out, builtAt });
    process.stdout.write(`${file} ${(bytes / 1024 / 1024).toFixed(2)} MiB\n`);
  }
} catch (error) {
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

/** Returns the date of the sources in seconds since 1970, so that the same sources give identical packages (reproducible-builds.org). */
function sourceDate(given: string | undefined): number {
  if (given !== undefined && given !== '') {
    if (/^\d{1,10}$/.test(given)) return Number(given);
    throw new Error('SOURCE_DATE_EPOCH: must be seconds since 1970');
  }
  try {
    return Number(
      execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: PROJECT, encoding: 'utf8', stdio: 'pipe' }),
    );
  } catch (cause) {
    throw new Error('git has no commit date for the sources: set SOURCE_DATE_EPOCH', { cause });
  }
}
