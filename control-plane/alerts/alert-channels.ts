// Where alerts are sent, from the options.

import { type MailAddress, mailSettingsOf, type SmtpServer } from '../config/mail-options.ts';
import type { AlertChannel } from './alert-channel.ts';
import { createAlertMail } from './alert-mail.ts';
import { createWebhook } from './webhook.ts';

export interface ChannelOptions {
  alertWebhookUrl: string | undefined;
  alertWebhookSecret: Buffer | undefined;
  alertMailTo: string | undefined;
  smtpUrl: SmtpServer | undefined;
  mailFrom: MailAddress | undefined;
  publicUrl: string | undefined;
  serviceName: string;
  environment: string;
}

/** Ways to the operator, none where none is given. Throws for half of one. */
export function alertChannelsOf(options: ChannelOptions): AlertChannel[] {
  const { alertWebhookUrl: url, alertWebhookSecret: secret, alertMailTo: to } = options;
  if (url === undefined && secret !== undefined)
    throw new Error('ALERT_WEBHOOK_SECRET is of no use without ALERT_WEBHOOK_URL: give both or none');
  if (url !== undefined && secret === undefined)
    throw new Error('give ALERT_WEBHOOK_SECRET with ALERT_WEBHOOK_URL: the key that signs what is posted');
  const mail = mailSettingsOf(options);
  if (to !== undefined && mail === undefined)
    throw new Error('give SMTP_URL and MAIL_FROM with ALERT_MAIL_TO: the server that takes the mail');
  return [
    ...(url !== undefined && secret !== undefined ? [createWebhook({ url, secret }, options)] : []),
    ...(to !== undefined && mail !== undefined ? [createAlertMail(mail, to, options)] : []),
  ];
}
