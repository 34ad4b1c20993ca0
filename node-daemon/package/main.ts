// `npm run package:node-daemon`: builds the Debian packages of the daemon.
import { runPackageCommand } from '#shared/packaging/package-command.ts';
import { ARCHITECTURES, buildPackage, IMAGE } from './debian-package.ts';

await runPackageCommand(
  {
    script: 'package:node-daemon',
    program: 'node daemon',
    architectures: ARCHITECTURES,
    image: IMAGE,
    build: ({ architecture: arch, ...options }) => buildPackage({ arch, ...options }),
  },
  process.env['SOURCE_DATE_EPOCH'],
);
