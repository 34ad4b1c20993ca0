// `npm run package:client`: builds the npm package of the client library.
import * as z from 'zod';
import { messageOf } from '#shared/error-message.ts';
import { readOptions } from '#shared/process/options.ts';
import { buildNpmPackage } from './npm-package.ts';

const { out } = readOptions('npm run package:client --', 'Build the npm package of the client library.', {
  out: { about: 'Folder for the package', schema: z.string().min(1).default('dist') },
});

try {
  const { file, packedBytes, unpackedBytes } = await buildNpmPackage(out);
  const kib = (bytes: number): string => `${(bytes / 1024).toFixed(0)} KiB`;
  process.stdout.write(`${file} ${kib(packedBytes)}, ${kib(unpackedBytes)} unpacked\n`);
} catch (error) {
  process.stderr.write(`error: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
