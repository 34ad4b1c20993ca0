// The contents of the daemon's Debian package.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type BuiltPackage,
  buildDebianPackage,
  type PackageBuild,
  type PackageContents,
} from '#shared/packaging/debian/debian-package.ts';
import type { ImageContents } from '#shared/packaging/oci-image.ts';
import { bundleDaemon } from './bundle.ts';

/** Debian's names of architectures, with the file of the serial port's native binding for each. */
const PREBUILDS = {
  amd64: 'linux-x64/@serialport+bindings-cpp.glibc.node',
  arm64: 'linux-arm64/@serialport+bindings-cpp.armv8.glibc.node',
} as const;
export type Architecture = keyof typeof PREBUILDS;
export const ARCHITECTURES = ['amd64', 'arm64'] as const satisfies readonly Architecture[];

const NAME = 'simrack-node-daemon';
const HERE = import.meta.dirname;

export const IMAGE: ImageContents = {
  name: NAME,
  user: { name: 'simrack', home: '/var/lib/simrack-node' },
  entrypoint: ['/usr/bin/node-daemon'],
  environment: {},
};

/** Builds the package for one architecture. Throws if dpkg-deb is missing or fails. */
export const buildPackage = ({
  arch,
  ...build
}: Omit<PackageBuild, 'architecture'> & { arch: Architecture }): Promise<BuiltPackage> =>
  buildDebianPackage(contents(arch, build.version), { ...build, architecture: arch });

const contents = (arch: Architecture, version: string): PackageContents => ({
  name: NAME,
  control: {
    // Debian's nodejs or NodeSource's. The daemon sends notifications with systemd-notify.
    Depends: 'nodejs (>= 20.19), systemd, init-system-helpers (>= 1.54), libc6 (>= 2.28), libstdc++6 (>= 9)',
    // For calls of modems with a sound card, and for sticks in mass-storage mode.
    Recommends: 'alsa-utils, usb-modeswitch',
    Suggests: 'uhubctl',
    Section: 'comm',
    Description: [
      'runs the modems of one host for Simrack',
      ' Reads and sends SMS and carries calls over the SIM cards in USB modems. Keeps',
      ' a journal of data that must not be lost, and one link to the control plane.',
      ' .',
      ' Recovers modems that do not answer, disconnect or lose their network.',
    ].join('\n'),
  },
  files: [
    { path: 'usr/bin/node-daemon', text: read('node-daemon.sh'), mode: 0o755 },
    { path: 'usr/lib/systemd/system/simrack-node-daemon.service', text: read('simrack-node-daemon.service') },
    { path: 'usr/lib/udev/rules.d/60-simrack-modems.rules', text: read('60-simrack-modems.rules') },
    { path: 'usr/lib/sysusers.d/simrack-node-daemon.conf', text: read('simrack-node-daemon.sysusers') },
    { path: 'etc/simrack/node-daemon.yaml', text: read('node-daemon.yaml') },
    {
      path: `usr/share/doc/${NAME}/examples/node-daemon.yaml`,
      text: read('../config/node-daemon.example.yaml'),
    },
    { path: `usr/share/doc/${NAME}/examples/alerts.yaml`, text: read('../metrics/alerts.yaml') },
    { path: 'usr/share/man/man8/node-daemon.8.gz', text: read('node-daemon.8'), isCompressed: true },
  ],
  conffiles: ['etc/simrack/node-daemon.yaml'],
  scripts: join(HERE, 'debian'),
  bundle: (folder) => bundleDaemon(folder, { prebuild: PREBUILDS[arch], version }),
});

const read = (name: string): string => readFileSync(join(HERE, name), 'utf8');
