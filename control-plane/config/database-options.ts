// Where the service stores everything.
import * as z from 'zod';
import { integerOption } from '#shared/process/options.ts';
import { IS_PACKAGED } from '#shared/process/version.ts';
import { problemOfDatabaseUrl } from '../store/database/database-url.ts';

const databaseUrlSchema = z.string().superRefine((url, context) => {
  const message = problemOfDatabaseUrl(url);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

export const DATABASE_OPTIONS = {
  databaseUrl: {
    env: 'DATABASE_URL',
    about:
      'Postgres to use, and its standbys after commas: host:port,host:port; unset: PGlite in the data folder',
    schema: databaseUrlSchema
      .optional()
      .refine(
        (url) => url !== undefined || !IS_PACKAGED,
        'required: the package has no embedded database. Set it in /etc/simrack/control-plane.env',
      ),
  },
  databaseConnections: {
    env: 'DATABASE_CONNECTIONS',
    about: 'Maximum number of connections to Postgres',
    schema: integerOption(1, 100, 10),
  },
} as const;
