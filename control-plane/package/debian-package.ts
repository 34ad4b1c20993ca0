// The contents of the Debian package of the service.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type BuiltPackage,
  buildDebianPackage,
  type PackageBuild,
  type PackageContents,
} from '#shared/packaging/debian/debian-package.ts';
import type { ImageContents } from '#shared/packaging/oci-image.ts';
import { bundleService } from './bundle.ts';

/** JavaScript and WebAssembly only. */
export const ARCHITECTURES = ['all'] as const;

const NAME = 'simrack-control-plane';
const HERE = import.meta.dirname;

export const IMAGE: ImageContents = {
  name: NAME,
  user: { name: 'simrack-service', home: '/var/lib/simrack' },
  entrypoint: [
    '/usr/bin/node',
    '--max-semi-space-size=4',
    '--require',
    `/usr/lib/${NAME}/stack-traces.cjs`,
    `/usr/lib/${NAME}/main.mjs`,
  ],
  // The container has an address of its own.
  environment: { HOST: '0.0.0.0', DATA_DIR: '/var/lib/simrack' },
  port: 8080,
};

/** Builds the package. Throws if dpkg-deb is missing or fails. */
export const buildPackage = (build: Omit<PackageBuild, 'architecture'>): Promise<BuiltPackage> =>
  buildDebianPackage(contents(build.version), { ...build, architecture: ARCHITECTURES[0] });

const contents = (version: string): PackageContents => ({
  name: NAME,
  control: {
    // Debian's nodejs or NodeSource's. The service sends notifications with systemd-notify.
    Depends: 'nodejs (>= 20.19), systemd, init-system-helpers (>= 1.54)',
    Suggests: 'postgresql, caddy | nginx, nats-server, prometheus, rsyslog',
    Section: 'net',
    Description: [
      'sells real US mobile numbers to AI agents and people',
      ' Sells numbers for payments of wallets, stores messages in Postgres, and routes',
      ' texts and calls to the hosts that have the modems.',
      ' .',
      ' Several instances may share one database.',
    ].join('\n'),
  },
  files: [
    { path: `usr/bin/${NAME}`, text: read('control-plane.sh'), mode: 0o755 },
    { path: `usr/lib/systemd/system/${NAME}.service`, text: read(`${NAME}.service`) },
    { path: `usr/lib/sysusers.d/${NAME}.conf`, text: read(`${NAME}.sysusers`) },
    { path: 'etc/simrack/control-plane.env', text: read('control-plane.env') },
    { path: `usr/share/man/man8/${NAME}.8.gz`, text: read(`${NAME}.8`), isCompressed: true },
    ...EXAMPLES.map((name) => ({
      path: `usr/share/doc/${NAME}/examples/${name.slice(name.lastIndexOf('/') + 1)}`,
      text: read(`../../docs/service/${name}`),
    })),
  ],
  // The name of the documentation and of hints.
  links: {
    'usr/bin/control-plane': NAME,
    'usr/share/man/man8/control-plane.8.gz': `${NAME}.8.gz`,
  },
  conffiles: ['etc/simrack/control-plane.env'],
  scripts: join(HERE, 'debian'),
  bundle: (folder) => bundleService(folder, version),
});

/** Files of docs/service. */
const EXAMPLES = [
  'Caddyfile',
  'nginx.conf',
  'rsyslog.conf',
  'logrotate.conf',
  'service-alerts.yaml',
  ...['fleet', 'money', 'messages', 'node'].map((name) => `grafana/${name}.json`),
];

const read = (name: string): string => readFileSync(join(HERE, name), 'utf8');
