// Builds the npm package of the client: one file of code for `import` and one for `require`, declarations for both, and a README.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build, type Format } from 'esbuild';
import * as z from 'zod';
import { VERSION } from '#shared/process/version.ts';
import { declarations } from './declarations.ts';

const PROJECT = join(import.meta.dirname, '../../..');

export const PACKAGE_NAME = 'simrack-client';

const FORMATS = [
  ['esm', 'js', 'd.ts'],
  ['cjs', 'cjs', 'd.cts'],
] as const satisfies ReadonlyArray<[Format, string, string]>;

const packedSchema = z
  .tuple([z.object({ filename: z.string(), size: z.number(), unpackedSize: z.number() })])
  .transform(([packed]) => packed);

/** Builds the tarball in `out`, as `npm pack` names it. Throws an error if esbuild, TypeScript or npm fails. */
export async function buildNpmPackage(
  out: string,
): Promise<{ file: string; packedBytes: number; unpackedBytes: number }> {
  const destination = resolve(out);
  await mkdir(destination, { recursive: true });
  const folder = await mkdtemp(join(tmpdir(), `${PACKAGE_NAME}-`));
  try {
    await Promise.all([writeCode(folder), writeDeclarations(folder)]);
    await copyFile(join(import.meta.dirname, 'README.md'), join(folder, 'README.md'));
    await writeFile(join(folder, 'package.json'), `${JSON.stringify(await manifest(), null, 2)}\n`);
    const args = ['pack', '--json', '--offline', '--pack-destination', destination];
    const { stdout } = await promisify(execFile)('npm', args, { cwd: folder });
    const { filename, size, unpackedSize } = packedSchema.parse(JSON.parse(stdout));
    return { file: join(destination, filename), packedBytes: size, unpackedBytes: unpackedSize };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeCode(folder: string): Promise<void> {
  for (const [format, extension] of FORMATS) {
    await build({
      absWorkingDir: PROJECT,
      entryPoints: ['control-plane/client/package/entry.ts'],
      outfile: join(folder, `client.${extension}`),
      format,
      bundle: true,
      // No API of Node is in the code: a browser runs it, too.
      platform: 'neutral',
      mainFields: ['module', 'main'],
      target: ['es2022', 'node20'],
      charset: 'utf8',
      legalComments: 'inline',
      logLevel: 'warning',
      external: ['ws'],
    });
  }
}

async function writeDeclarations(folder: string): Promise<void> {
  const types = join(folder, 'types');
  await mkdir(types);
  for (const [, extension, declarationExtension] of FORMATS) {
    for (const [name, text] of declarations(PROJECT, extension))
      await writeFile(join(types, `${name}.${declarationExtension}`), text);
  }
}

async function manifest(): Promise<Record<string, unknown>> {
  const project = z
    .object({ dependencies: z.object({ ws: z.string() }), engines: z.object({ node: z.string() }) })
    .parse(JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8')));
  return {
    name: PACKAGE_NAME,
    version: VERSION,
    description: 'Real US mobile numbers for agents: buy one with a wallet, text and call',
    keywords: ['sms', 'phone', 'voice', 'agents', 'x402', 'mcp'],
    license: 'UNLICENSED',
    type: 'module',
    sideEffects: false,
    engines: project.engines,
    main: './client.cjs',
    module: './client.js',
    types: './types/entry.d.cts',
    exports: {
      '.': {
        import: { types: './types/entry.d.ts', default: './client.js' },
        require: { types: './types/entry.d.cts', default: './client.cjs' },
      },
      './package.json': './package.json',
    },
    dependencies: { ws: project.dependencies.ws },
    peerDependencies: { viem: '*' },
    peerDependenciesMeta: { viem: { optional: true } },
  };
}
