// `npm run package:control-plane`: builds the Debian package of the service.
import { runPackageCommand } from '#shared/packaging/package-command.ts';
import { ARCHITECTURES, buildPackage, IMAGE } from './debian-package.ts';

await runPackageCommand(
  {
    script: 'package:control-plane',
    program: 'service',
    architectures: ARCHITECTURES,
    image: IMAGE,
    build: ({ architecture: _all, ...options }) => buildPackage(options),
  },
  process.env['SOURCE_DATE_EPOCH'],
);
