// The files of the package besides the program, and their places on a host.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

const HERE = import.meta.dirname;

interface PackedFile {
  /** Path below the root of the host. */
  readonly path: string;
  readonly text: string;
  readonly mode?: number;
  /** Whether to compress it as gzip -9n does. */
  readonly isCompressed?: boolean;
}

/** Returns the files that are copied unchanged. */
export function packedFiles(): PackedFile[] {
  const read = (name: string): string => readFileSync(join(HERE, name), 'utf8');
  return [
    { path: 'usr/bin/node-daemon', text: read('node-daemon.sh'), mode: 0o755 },
    { path: 'usr/lib/systemd/system/simrack-node-daemon.service', text: read('simrack-node-daemon.service') },
    { path: 'usr/lib/udev/rules.d/60-simrack-modems.rules', text: read('60-simrack-modems.rules') },
    { path: 'usr/lib/sysusers.d/simrack-node-daemon.conf', text: read('simrack-node-daemon.sysusers') },
    { path: 'etc/simrack/node-daemon.yaml', text: read('node-daemon.yaml') },
    {
      path: 'usr/share/doc/simrack-node-daemon/examples/node-daemon.yaml',
      text: read('../config/node-daemon.example.yaml'),
    },
    {
      path: 'usr/share/doc/simrack-node-daemon/examples/alerts.yaml',
      text: read('../metrics/alerts.yaml'),
    },
    { path: 'usr/share/man/man8/node-daemon.8.gz', text: read('node-daemon.8'), isCompressed: true },
  ];
}

/** Writes a file below `root`, and creates its folders. */
export function writePacked(
  root: string,
  { path, text, mode = 0o644, isCompressed = false }: PackedFile,
): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, isCompressed ? gzipSync(text, { level: 9 }) : text);
  chmodSync(file, mode);
}
