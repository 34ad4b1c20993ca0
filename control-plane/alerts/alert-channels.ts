// The channels for alerts, from the options.
import type { Clock } from '#shared/clock.ts';
import type { Config } from '../config/config.ts';
import { mailSettingsOf } from '../config/mail-options.ts';
import type { AlertChannel } from './alert-channel.ts';
import { createAlertMail } from './alert-mail.ts';
import { createWebhook } from './webhook.ts';

type ChannelOptions = Pick<
  Config,
  | ('alertWebhookUrl' | 'alertWebhookSecret' | 'alertMailTo' | 'smtpUrl' | 'mailFrom')
  | ('publicUrl' | 'serviceName' | 'environment')
>;

/** The configured channels. Throws if one is configured incompletely. */
export function alertChannelsOf(options: ChannelOptions, clock: Clock): AlertChannel[] {
  const { alertWebhookUrl: url, alertWebhookSecret: secret, alertMailTo: to } = options;
  if (url === undefined && secret !== undefined)
    throw new Error('ALERT_WEBHOOK_SECRET needs ALERT_WEBHOOK_URL: set both or neither');
  if (url !== undefined && secret === undefined)
    throw new Error('ALERT_WEBHOOK_URL needs ALERT_WEBHOOK_SECRET, the key that signs the requests');
  const mail = mailSettingsOf(options);
  if (to !== undefined && mail === undefined)
    throw new Error('ALERT_MAIL_TO needs SMTP_URL and MAIL_FROM, the mail server and the sender');
  return [
    ...(url !== undefined && secret !== undefined ? [createWebhook({ url, secret, clock }, options)] : []),
    ...(to !== undefined && mail !== undefined ? [createAlertMail({ ...mail, clock }, to, options)] : []),
  ];
}
