// The daemon as a program beside the bench: nothing of this machine's configuration, no limits, no discovery.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Child, startChild } from '../child.ts';
import type { RackModem } from './simulated-rack.ts';

/** A configuration without limits: as many messages as the modems take. */
const CONFIGURATION = 'discover: false\n';

/** Where a daemon whose things are below `folder` has its identity and journal; made when it is not there. */
export function daemonFolder(folder: string): string {
  const path = join(folder, 'node');
  mkdirSync(path, { recursive: true });
  return path;
}

/** Starts the daemon of `daemonFolder(folder)`, which must have an identity. */
export function startDaemonChild(folder: string, modems: readonly RackModem[]): Promise<Child> {
  const dataDir = daemonFolder(folder);
  const config = join(dataDir, 'node-daemon.yaml');
  writeFileSync(config, CONFIGURATION);
  return startChild('node-daemon/bin.cjs', {
    NODE_CONFIG: config,
    MODEM_PORTS: modems.map(({ slot, ports }) => `${slot}=${ports.at}`).join(','),
    DATA_DIR: dataDir,
    // Bursts fill storages, of which it warns.
    LOG_LEVEL: 'error',
  });
}
