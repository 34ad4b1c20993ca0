// The command line of `npm run package:…`: builds the packages of one program.
import { execFileSync } from 'node:child_process';
import * as z from 'zod';
import { messageOf } from '#shared/error-message.ts';
import { readOptions, switchOption } from '#shared/process/options.ts';
import { VERSION } from '#shared/process/version.ts';
import { PROJECT } from './bundle.ts';
import type { BuiltPackage, PackageBuild } from './debian/debian-package.ts';
import { buildImage, type ImageContents } from './oci-image.ts';

interface PackageCommand<A extends string> {
  /** Name of the npm script. */
  readonly script: string;
  /** The program in words: "node daemon". */
  readonly program: string;
  readonly architectures: readonly [A, ...A[]];
  readonly image: ImageContents;
  build(options: PackageBuild & { architecture: A }): Promise<BuiltPackage>;
}

/** Runs the command and prints the packages. Ends the process with 1 and one line if that fails. `sourceDate`: SOURCE_DATE_EPOCH. */
export async function runPackageCommand<A extends string>(
  { script, program, architectures, image, build }: PackageCommand<A>,
  sourceDate: string | undefined,
): Promise<void> {
  const options = readOptions(`npm run ${script} --`, `Build the Debian package of the ${program}.`, {
    arch: {
      about: `Architecture: ${architectures.join(' or ')}; default all of them`,
      schema: z.enum(architectures, { error: `must be one of ${architectures.join(', ')}` }).optional(),
    },
    out: { about: 'Folder for the packages', schema: z.string().min(1).default('dist') },
    image: switchOption(
      'Also make an OCI image, for the architecture of this host; needs mmdebstrap and umoci',
    ),
    packageVersion: {
      about: 'Version of the packages',
      schema: z
        .string()
        .regex(/^\d[A-Za-z0-9.+~]*$/, 'must be the version of a native Debian package, such as 1.2.3')
        .default(VERSION),
    },
  });
  try {
    const builtAt = dateOfSources(sourceDate);
    for (const architecture of options.arch === undefined ? architectures : [options.arch as A]) {
      const { out, packageVersion: version } = options;
      const { file, bytes } = await build({ architecture, version, out, builtAt });
      process.stdout.write(`${file} ${(bytes / 1024 / 1024).toFixed(2)} MiB\n`);
      if (options.image && (architecture === 'all' || architecture === hostArchitecture()))
        process.stdout.write(`${buildImage(image, { file, version, out, builtAt })}\n`);
    }
  } catch (error) {
    process.stderr.write(`error: ${messageOf(error)}\n`);
    process.exitCode = 1;
  }
}

/** Returns the date of the sources in seconds since 1970, so that the same sources give identical packages (reproducible-builds.org). */
function dateOfSources(given: string | undefined): number {
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

/** Debian's name of it. */
const hostArchitecture = (): string => (process.arch === 'x64' ? 'amd64' : process.arch);
