// The licenses of the package: ours, and the licenses of bundled packages with their texts.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

const manifestSchema = z.object({ name: z.string(), version: z.string(), license: z.string() });
const LICENCE_FILE = /^(licen[cs]e|copying)/i;

const HEAD = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Simrack

Files: *
Copyright: Simrack
License: proprietary
 All rights reserved.
`;

/**
 * Returns the file `copyright` (Debian policy §12.5) of a program, with these package folders in it. `program`: its folder on the host.
 * Throws for a package without a license.
 */
export function copyright(program: string, folders: readonly string[]): string {
  return [HEAD, ...folders.map((folder) => paragraphOf(program, folder))].join('\n');
}

function paragraphOf(program: string, folder: string): string {
  const { name, version, license } = manifestSchema.parse(
    JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')),
  );
  const text = licenceOf(folder, name, license);
  const holders = [...text.matchAll(/^.*copyright.*(?:\(c\)|©|\d{4}).*$/gim)].map(([line]) => line.trim());
  return [
    `Files: ${program}/*`,
    `Copyright: ${holders[0] ?? `the authors of ${name}`}`,
    `License: ${license} (${name} ${version})`,
    ...text
      .trim()
      .split(/\r?\n/)
      .map((line) => (line.trim() === '' ? ' .' : ` ${line.trimEnd()}`)),
    '',
  ].join('\n');
}

/** Returns the text of a license. Debian systems have the text of the Apache license. */
function licenceOf(folder: string, name: string, license: string): string {
  const file = readdirSync(folder).find((each) => LICENCE_FILE.test(each));
  if (license === 'Apache-2.0')
    return 'On Debian systems, the text is in /usr/share/common-licenses/Apache-2.0.';
  return file === undefined ? `See the npm package ${name}.` : readFileSync(join(folder, file), 'utf8');
}
