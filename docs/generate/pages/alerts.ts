// The alerts of the service, from the table that raises them, and the rules for Prometheus that come with the daemon.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { rulesOf } from '../../../control-plane/alerts/conditions.ts';
import { ALERT_OPTIONS } from '../../../control-plane/config/alert-options.ts';
import { OPTIONS } from '../../../control-plane/config/config.ts';
import { ALERT_TEXTS } from '../../../control-plane/domain/alert-kinds.ts';
import { block, code, shownMs, table } from '../markdown.ts';
import type { Page } from '../page.ts';
import { PROJECT_FOLDER } from '../source/doc-comments.ts';

const RULES = 'node-daemon/metrics/alerts.yaml';

interface Rule {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string; action: string };
}

type Spec = { schema: { parse(value: undefined): unknown } };

const defaultOf = ({ schema }: Spec): number => Number(schema.parse(undefined));

/** In brackets, the default of the option with that environment variable; empty without one. */
function defaultOfVariable(name: string): string {
  const spec = Object.values(OPTIONS).find((option) => 'env' in option && option.env === name);
  if (spec === undefined) throw new Error(`${name} is not an option`);
  const value = spec.schema.parse(undefined);
  if (value === undefined) return '';
  return ` (${name.endsWith('_MS') ? shownMs(Number(value)) : String(value)})`;
}

export const ALERTS_PAGE: Page = {
  file: 'alerts.md',
  title: 'Alerts',
  about:
    'The service checks every 10 seconds and sends each alert once when it begins, once when a warning becomes critical, and once when it is over. ' +
    'See `ALERT_WEBHOOK_URL` and `ALERT_MAIL_TO`.',
  body() {
    const rules = rulesOf({
      heartbeatMs: defaultOf(OPTIONS.heartbeatMs),
      alertSlotDownMs: defaultOf(ALERT_OPTIONS.alertSlotDownMs),
      alertStoragePercent: 0,
      alertJournalDepth: 0,
      alertPoolMin: 0,
      alertPlanDays: 0,
      relayerTransfersMin: 0,
    });
    return [
      '## Alerts of control-plane',
      'The first “After” is how long the condition must hold before the service raises the alert. The second is how long the condition must be gone before the alert is over. Both are for the default options.',
      table(
        ['Kind', 'Severity', 'Raised when', 'After', 'Over when', 'After', 'Threshold (default)'],
        Object.entries(ALERT_TEXTS).map(([kind, { options, over, raised, severity }]) => {
          const { raiseAfterMs, recoverAfterMs } = rules[kind as keyof typeof rules];
          return [
            code(kind),
            severity,
            raised,
            shownAfter(raiseAfterMs),
            over,
            shownAfter(recoverAfterMs),
            options.map((name) => `${code(name)}${defaultOfVariable(name)}`).join(', '),
          ];
        }),
      ),
      '### The cause in an alert',
      'The text of an alert names a cause. For an alert that is over, `alert list --all` and the message about its end have that text.',
      'In `alert list`, CONDITION GONE SINCE is the time at which the condition ended. The alert is over once that has lasted, and has then the time ENDED. Meanwhile its text begins with “was:”.',
      table(
        ['Alert', 'Cause in its text'],
        [
          ['`slot_down`, `number_down`', 'The present state.'],
          [
            '`slot_down`, `number_down`, during a recovery of the modem',
            'The cause before the recovery; `starting` if that was `absent`.',
          ],
          [
            '`slot_down`, `number_down`, over',
            'The newest cause. `absent`, `starting`, `searching` and a number that its node has not confirmed do not replace another cause.',
          ],
          ['any other kind', 'The present one.'],
          ['any other kind, over', 'The cause for which the alert was raised, or became critical.'],
        ],
      ),
      '## Rules for Prometheus',
      `The daemon’s package has these rules for its metrics in ${code(RULES)}.`,
      ...promethean().flatMap(({ alert, annotations, expr, for: held = '0s', labels }) => [
        `### ${alert}`,
        `${labels.severity}, after ${held}. ${verbatim(annotations.action)}`,
        block('text', expr),
      ]),
    ].join('\n\n');
  },
};

const shownAfter = (ms: number): string => (ms === 0 ? 'at once' : shownMs(ms));

const verbatim = (text: string): string => text.replaceAll('<', '&lt;').replaceAll('{{', '&#123;&#123;');

function promethean(): Rule[] {
  const { groups } = parse(readFileSync(join(PROJECT_FOLDER, RULES), 'utf8')) as {
    groups: { rules: Rule[] }[];
  };
  return groups.flatMap(({ rules }) => rules);
}
