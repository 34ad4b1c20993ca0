// The options of alerts: what counts, and where they are sent.
import * as z from 'zod';
import { emailSchema } from '#shared/api/requests.ts';
import { integerOption } from '#shared/process/options.ts';

const WEBHOOK_URL_FORM = 'must be an http(s) URL without a password and without #';
const SECRET_FORM =
  'must be whsec_ and the base64 of 24 to 64 bytes, as: echo "whsec_$(openssl rand -base64 32)"';

export const ALERT_OPTIONS = {
  alertWebhookUrl: {
    env: 'ALERT_WEBHOOK_URL',
    about: 'URL that alerts are posted to; unset means none',
    schema: z
      .string()
      .refine((text) => {
        if (!URL.canParse(text)) return false;
        const { protocol, username, password, hash } = new URL(text);
        return /^https?:$/.test(protocol) && username + password + hash === '';
      }, WEBHOOK_URL_FORM)
      .optional(),
  },
  alertWebhookSecret: {
    env: 'ALERT_WEBHOOK_SECRET',
    about: 'key that signs them, whsec_ and the base64 of 24 to 64 bytes',
    schema: z
      .string()
      .regex(/^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/, SECRET_FORM)
      .transform((text) => Buffer.from(text.slice('whsec_'.length), 'base64'))
      .refine(({ length }) => length >= 24 && length <= 64, SECRET_FORM)
      .optional(),
  },
  alertMailTo: {
    env: 'ALERT_MAIL_TO',
    about: 'address that alerts are mailed to; unset means none',
    schema: emailSchema.optional(),
  },
  alertSlotDownMs: {
    env: 'ALERT_SLOT_DOWN_MS',
    about: 'time for which a slot must be down, or well again, until that is told',
    schema: integerOption(0, 86_400_000, 120_000),
  },
  alertStoragePercent: {
    env: 'ALERT_STORAGE_PERCENT',
    about: 'part of a message storage that is taken, in percent, from which on it is an alert',
    schema: integerOption(11, 100, 80),
  },
  alertJournalDepth: {
    env: 'ALERT_JOURNAL_DEPTH',
    about: 'facts that wait at a node from which on a journal that grows is an alert',
    schema: integerOption(1, 1_000_000, 500),
  },
  alertPoolMin: {
    env: 'ALERT_POOL_MIN',
    about: 'fewer numbers to sell than this are an alert; 0 is never',
    schema: integerOption(0, 1_000_000, 1),
  },
} as const;
