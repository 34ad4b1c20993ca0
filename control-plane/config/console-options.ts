// The options of the console: its address, and the URL for browsers.
import * as z from 'zod';
import { optionalInteger } from '#shared/process/options.ts';
import { keyFileSchema } from './private-key.ts';

const isOrigin = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, search, hash, username } = new URL(text);
  return /^https?:$/.test(protocol) && pathname === '/' && search + hash + username === '';
};

export const CONSOLE_OPTIONS = {
  consolePort: {
    env: 'CONSOLE_PORT',
    about: 'Port of the operator console; 0: a free port; unset: no console',
    schema: optionalInteger(0, 65_535).optional(),
  },
  consoleHost: {
    env: 'CONSOLE_HOST',
    about: 'Address that the console listens on',
    schema: z.string().min(1).default('127.0.0.1'),
  },
  consoleUrl: {
    env: 'CONSOLE_URL',
    about: 'URL of the console, if it is behind a proxy',
    schema: z
      .string()
      .refine(isOrigin, 'must be an http(s) URL without a path')
      .transform((text) => new URL(text).origin)
      .optional(),
  },
  consoleRefundKeyFile: {
    env: 'CONSOLE_REFUND_KEY_FILE',
    about:
      'File with the private key of the PAY_TO account, for refunds from the console; unset: refunds from the command line only',
    schema: keyFileSchema.optional(),
  },
} as const;
