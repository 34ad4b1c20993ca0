// The registry of nodes from outside the service: on the same Postgres, or through the service that has the
// embedded database, or on that database itself while no service runs.
import { join } from 'node:path';
import { systemClock } from '#shared/clock.ts';
import { createNodeRegistry } from '../nodes/registry.ts';
import { openDatabase } from '../store/database.ts';
import { connectOperator } from './operator-socket.ts';
import { publicRegistry, type UrlRegistry } from './url-registry.ts';

export interface RegistryOptions {
  databaseUrl: string | undefined;
  dataDir: string;
  /** Base URL that nodes are told, where no running service says it. */
  url: string;
}

export async function openRegistry({
  databaseUrl,
  dataDir,
  url,
}: RegistryOptions): Promise<{ registry: UrlRegistry; close(): Promise<void> }> {
  if (databaseUrl === undefined) {
    const registry = await connectOperator(dataDir);
    if (registry !== undefined) return { registry, close: async () => undefined };
  }
  const { db, close } = await openDatabase(
    databaseUrl === undefined ? { folder: join(dataDir, 'pglite') } : { url: databaseUrl, connectionsMax: 1 },
  );
  return { registry: publicRegistry(createNodeRegistry({ db, clock: systemClock }), url), close };
}
