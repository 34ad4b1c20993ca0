// The version of the program: that of the Debian package, or of the sources.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Defined by `shared/packaging/bundle.ts`. */
declare const PACKAGED_VERSION: string | undefined;

/** Whether this is the Debian package. */
export const IS_PACKAGED = typeof PACKAGED_VERSION === 'string';

export const VERSION: string = typeof PACKAGED_VERSION === 'string' ? PACKAGED_VERSION : versionOfSources();

function versionOfSources(): string {
  const text = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
