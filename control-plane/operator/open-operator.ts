// What an operator works with, from outside the service: on the same Postgres, or through the service that has the
// embedded database, or on that database itself while no service runs.
import { join } from 'node:path';
import { systemClock } from '#shared/clock.ts';
import { createNodeReach } from '../nodes/node-reach.ts';
import { createNodeRegistry } from '../nodes/registry.ts';
import { openDatabase } from '../store/database.ts';
import { tellInstances } from '../store/shared-bus.ts';
import { COMMAND_LINE, createDesk, type Desk } from './desk.ts';
import { connectOperator } from './operator-socket.ts';
import { publicRegistry, type UrlRegistry } from './url-registry.ts';

export interface OperatorOptions {
  databaseUrl: string | undefined;
  dataDir: string;
  /** Base URL that nodes are told, where no running service says it. */
  url: string;
}

export interface Operator {
  registry: UrlRegistry;
  desk: Desk;
  close(): Promise<void>;
}

export async function openOperator({ databaseUrl, dataDir, url }: OperatorOptions): Promise<Operator> {
  if (databaseUrl === undefined) {
    const running = await connectOperator(dataDir);
    if (running !== undefined) return { ...running, close: async () => undefined };
  }
  const { db, close } = await openDatabase(
    databaseUrl === undefined ? { folder: join(dataDir, 'pglite') } : { url: databaseUrl, connectionsMax: 1 },
  );
  const parts = { db, clock: systemClock };
  const tell = (nodeId: string): Promise<void> => tellInstances(db, { kind: 'node_asked', nodeId });
  const nodes = createNodeReach({ ...parts, tell });
  const desk = createDesk({ ...parts, nodes, actor: COMMAND_LINE });
  return { registry: publicRegistry(createNodeRegistry(parts), url), desk, close };
}
