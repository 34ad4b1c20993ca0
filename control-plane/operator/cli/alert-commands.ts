// `control-plane alert list | test`: the open alerts, and whether an alert would reach the operator.
import { randomBytes } from 'node:crypto';
import { systemClock } from '#shared/clock.ts';
import { programCommand } from '#shared/process/commands.ts';
import { switchOption } from '#shared/process/options.ts';
import { onLines } from '#shared/process/terminal.ts';
import { ALERT_OPTIONS } from '../../config/alert-options.ts';
import { OPTIONS } from '../../config/config.ts';
import { OperatorRefusal } from '../../domain/refusal.ts';
import { ALERTS } from '../listings/operators.ts';
import { alertPlaceTextSchema } from '../procedures/fields.ts';
import { LIMIT_OPTION, listCommand } from './list-command.ts';
import { filterOption } from './operator-command.ts';

const { smtpUrl, mailFrom, publicUrl, serviceName, environment } = OPTIONS;
const { alertWebhookUrl, alertWebhookSecret, alertMailTo } = ALERT_OPTIONS;
const CHANNELS = {
  alertWebhookUrl,
  alertWebhookSecret,
  alertMailTo,
  smtpUrl,
  mailFrom,
  publicUrl,
  serviceName,
  environment,
};

export const ALERT_COMMANDS = [
  listCommand({
    usage: 'alert list',
    about:
      'List the current alerts with what to do about each, the most urgent first. --all also lists those of the last 90 days that are over.',
    options: {
      ...LIMIT_OPTION,
      all: switchOption('Also list the alerts that are over'),
      after: filterOption('Continue after this alert', alertPlaceTextSchema),
    },
    listing: ALERTS,
    read: (operator, { all, after, limit }) =>
      operator.call('alerts', { state: all ? undefined : 'open', after, limit }),
  }),
  programCommand({
    usage: 'alert test',
    about:
      'Send a test message to the webhook and the mail address of alerts, and report whether they accepted it.',
    options: CHANNELS,
    run: async (options) => {
      const { alertChannelsOf } = await import('../../alerts/alert-channels.ts');
      const channels = alertChannelsOf(options, systemClock);
      if (channels.length === 0)
        throw new Error(
          'no recipient for alerts is configured in the environment of this command: set ALERT_WEBHOOK_URL or ALERT_MAIL_TO as for the service. The installed command reads /etc/simrack/control-plane.env',
        );
      const id = `test_${randomBytes(12).toString('hex')}`;
      const message = {
        id,
        createdAt: new Date(systemClock.now()),
        raised: [],
        escalated: [],
        recovered: [],
      };
      const { signal } = new AbortController();
      const results = await Promise.all(
        channels.map(async (channel) => {
          const { outcome, detail } = await channel.send(message, { isTest: true, signal });
          return { isSent: outcome === 'sent', line: `${channel.name}: ${outcome} (${detail})` };
        }),
      );
      const lines = results.map(({ line }) => line).join('\n');
      if (!results.every(({ isSent }) => isSent)) throw new OperatorRefusal(lines);
      process.stdout.write(`${onLines(lines)}\n`);
    },
  }),
];
