// The channels for alerts, from the options.

import { type MailAddress, mailSettingsOf, type SmtpServer } from '../config/mail-options.ts';
import type { AlertChannel } from './alert-channel.ts';
import { createAlertMail } from './alert-mail.ts';
import { createWebhook } from './webhook.ts';

interface ChannelOptions {
  alertWebhookUrl: string | undefined;
  alertWebhookSecret: Buffer | undefined;
  alertMailTo: string | undefined;
  smtpUrl: SmtpServer | undefined;
  mailFrom: MailAddress | undefined;
  publicUrl: string | undefined;
  serviceName: string;
  environment: string;
}

/** The configured channels. Throws if one is configured incompletely. */
export function alertChannelsOf(options: ChannelOptions): AlertChannel[] {
  const { alertWebhookUrl: url, alertWebhookSecret: secret, alertMailTo: to } = options;
  if (url === undefined && secret !== undefined)
    throw new Error('ALERT_WEBHOOK_SECRET needs ALERT_WEBHOOK_URL: set both or neither');
  if (url !== undefined && secret === undefined)
    throw new Error('ALERT_WEBHOOK_URL needs ALERT_WEBHOOK_SECRET, the key that signs the requests');
  const mail = mailSettingsOf(options);
  if (to !== undefined && mail === undefined)
    throw new Error('ALERT_MAIL_TO needs SMTP_URL and MAIL_FROM, the mail server and the sender');
  return [
    ...(url !== undefined && secret !== undefined ? [createWebhook({ url, secret }, options)] : []),
    ...(to !== undefined && mail !== undefined ? [createAlertMail(mail, to, options)] : []),
  ];
}
