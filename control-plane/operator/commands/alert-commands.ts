// `control-plane alert list | test`: the open alerts, and whether an alert would reach the operator.
import { randomBytes } from 'node:crypto';
import { alignedTable } from '#shared/process/aligned-table.ts';
import { programCommand } from '#shared/process/commands.ts';
import { switchOption } from '#shared/process/options.ts';
import { onLines, toJson } from '#shared/process/terminal.ts';
import { ALERT_OPTIONS } from '../../config/alert-options.ts';
import { OPTIONS } from '../../config/config.ts';
import { OperatorRefusal } from '../../domain/operator-refusal.ts';
import { LIST_OPTIONS, shownTime, WHERE, withOperator } from './where.ts';

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
  programCommand({
    usage: 'alert list',
    about: 'List the current alerts, newest first; --all also lists those of the last 90 days that are over.',
    options: { ...WHERE, ...LIST_OPTIONS, all: switchOption('Also list the alerts that are over') },
    run: ({ all, limit, json, ...where }) =>
      withOperator(where, async ({ desk }) => {
        const alerts = await desk.ask('alerts', { isAll: all, limit });
        if (json) return toJson({ alerts });
        return alignedTable(
          ['SINCE', 'UNTIL', 'SEVERITY', 'KIND', ''],
          alerts.map(({ raised_at, recovered_at, severity, kind, summary }) => [
            shownTime(raised_at),
            shownTime(recovered_at),
            severity,
            kind,
            summary,
          ]),
        );
      }),
  }),
  programCommand({
    usage: 'alert test',
    about:
      'Send a test message to the webhook and the mail address of alerts, and report whether they accepted it.',
    options: CHANNELS,
    run: async (options) => {
      const { alertChannelsOf } = await import('../../alerts/alert-channels.ts');
      const channels = alertChannelsOf(options);
      if (channels.length === 0)
        throw new Error('nobody is told of alerts: give ALERT_WEBHOOK_URL or ALERT_MAIL_TO');
      const id = `test_${randomBytes(12).toString('hex')}`;
      const message = { id, createdAt: new Date(), raised: [], escalated: [], recovered: [] };
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
