// How several instances on one Postgres reach one another.
import * as z from 'zod';

const SERVER = /^(nats|tls):\/\/[^\s,/]+$/;

export const BUS_OPTIONS = {
  natsUrl: {
    env: 'NATS_URL',
    about:
      'NATS servers, comma-separated nats:// or tls:// URLs: required for several instances on one Postgres',
    schema: z
      .string()
      .transform((text) => text.split(',').map((url) => url.trim()))
      .pipe(z.array(z.string().regex(SERVER, 'must be nats:// or tls:// URLs, separated by commas')))
      .optional(),
  },
  natsCredentialsFile: {
    env: 'NATS_CREDENTIALS_FILE',
    about: 'File with the credentials of a NATS user: its JWT and seed',
    schema: z.string().min(1).optional(),
  },
  natsCaFile: {
    env: 'NATS_CA_FILE',
    about: 'PEM file of the authority that signed the certificates of the NATS servers',
    schema: z.string().min(1).optional(),
  },
} as const;

/** Throws what is missing for several instances, or contradicts itself. */
export function checkBusOptions({
  natsUrl,
  natsCaFile,
  databaseUrl,
  publicUrl,
  mediaBaseUrl,
}: {
  natsUrl: readonly string[] | undefined;
  natsCaFile: string | undefined;
  databaseUrl: string | undefined;
  publicUrl: string | undefined;
  mediaBaseUrl: string | undefined;
}): void {
  if (natsUrl === undefined) return;
  if (databaseUrl === undefined) throw new Error('NATS_URL is for several instances: it needs DATABASE_URL');
  if (natsCaFile !== undefined && !natsUrl.some((url) => url.startsWith('tls:')))
    throw new Error('NATS_CA_FILE is for servers with TLS: write tls:// in NATS_URL');
  if (publicUrl !== undefined && mediaBaseUrl === undefined)
    throw new Error(
      'NATS_URL is for several instances: it needs MEDIA_BASE_URL, the URL at which nodes reach this one',
    );
}
