// The service's options about webhooks of subscribers.
import { booleanOption, integerOption } from '#shared/process/options.ts';

export const WEBHOOK_OPTIONS = {
  webhookTimeoutMs: {
    env: 'WEBHOOK_TIMEOUT_MS',
    about: 'How long the receiver of a webhook may take to answer',
    schema: integerOption(100, 60_000, 15_000),
  },
  webhookAllowPrivate: {
    env: 'WEBHOOK_ALLOW_PRIVATE',
    about:
      'Allow webhooks by http and to private addresses, for development: every subscriber can then reach the network of the service',
    schema: booleanOption,
  },
} as const;
