// The options of alerts: thresholds and channels.
import * as z from 'zod';
import { emailSchema } from '#shared/api/requests.ts';
import { integerOption } from '#shared/process/options.ts';
import { webhookKeyOf } from '../domain/webhook-signature.ts';

const WEBHOOK_URL_FORM = 'must be an http(s) URL without a password and without #';
const SECRET_FORM =
  'must be whsec_ and the base64 of 24 to 64 bytes; to make one: echo "whsec_$(openssl rand -base64 32)"';

export const ALERT_OPTIONS = {
  alertWebhookUrl: {
    env: 'ALERT_WEBHOOK_URL',
    about: 'URL that alerts are posted to; unset: no webhook',
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
    about: 'Key that signs the alerts: whsec_ and the base64 of 24 to 64 bytes',
    schema: z
      .string()
      .regex(/^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/, SECRET_FORM)
      .transform(webhookKeyOf)
      .refine(({ length }) => length >= 24 && length <= 64, SECRET_FORM)
      .optional(),
  },
  alertMailTo: {
    env: 'ALERT_MAIL_TO',
    about: 'Address that alerts are mailed to; unset: no mail',
    schema: emailSchema.optional(),
  },
  alertSlotDownMs: {
    env: 'ALERT_SLOT_DOWN_MS',
    about: 'How long a slot must be down before an alert is raised, and up before it ends',
    schema: integerOption(0, 86_400_000, 120_000),
  },
  alertStoragePercent: {
    env: 'ALERT_STORAGE_PERCENT',
    about: 'How full a message storage must be for an alert, in percent',
    schema: integerOption(11, 100, 80),
  },
  alertJournalDepth: {
    env: 'ALERT_JOURNAL_DEPTH',
    about: 'Number of unacknowledged facts at a node above which a growing journal is an alert',
    schema: integerOption(1, 1_000_000, 500),
  },
  alertPlanDays: {
    env: 'ALERT_PLAN_DAYS',
    about: 'Raise an alert this many days before the plan of a SIM card ends; 0: on its last day',
    schema: integerOption(0, 365, 7),
  },
  alertPoolMin: {
    env: 'ALERT_POOL_MIN',
    about: 'Raise an alert when fewer numbers than this are available; 0: never',
    schema: integerOption(0, 1_000_000, 1),
  },
} as const;
