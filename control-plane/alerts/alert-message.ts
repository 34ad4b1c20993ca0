// An alert message, as JSON for programs and as text for people.
import { ownCommand } from '#shared/process/own-command.ts';
import type { AlertMessage, AlertRow } from '../domain/alert.ts';

/** The installation that sends the message. */
export interface Sender {
  serviceName: string;
  environment: string;
}

/** While it stays the same, fields are only added. */
const VERSION = 1;

/** The body of a webhook (Standard Webhooks: `type`, `timestamp`, `data`). `isTest`: there is no actual alert. */
export function alertBody(
  { createdAt, raised, escalated, recovered }: AlertMessage,
  { serviceName, environment }: Sender,
  isTest = false,
): string {
  return JSON.stringify({
    type: isTest ? 'alerts.test' : 'alerts.changed',
    timestamp: createdAt,
    data: { version: VERSION, service: serviceName, environment, raised, escalated, recovered },
  });
}

/** "Simrack: node rack-1 is offline, and 3 more". Critical alerts come first, then warnings, then those that ended. */
export function alertSubject(
  { raised, escalated, recovered }: AlertMessage,
  { serviceName }: Sender,
): string {
  const open = [...raised, ...escalated];
  const first = open.find(({ severity }) => severity === 'critical') ?? open[0] ?? recovered[0];
  if (first === undefined) return `${serviceName}: test of alerts`;
  const word = first.recovered_at !== null ? 'over: ' : first.severity === 'critical' ? 'CRITICAL: ' : '';
  const others = open.length + recovered.length - 1;
  return `${serviceName}: ${word}${headline(first)}${others > 0 ? `, and ${others} more` : ''}`;
}

export function alertText({ raised, escalated, recovered }: AlertMessage, { environment }: Sender): string {
  if (raised.length + escalated.length + recovered.length === 0)
    return `This is a test of the alerts of "${environment}". Nothing is wrong.`;
  return [
    ...section('New problems:', raised),
    ...section('Now critical:', escalated),
    ...section('Resolved:', recovered),
    `Sent by "${environment}". "${ownCommand('control-plane')} alert list" shows all current problems.`,
  ].join('\n\n');
}

const section = (title: string, rows: readonly AlertRow[]): string[] =>
  rows.length === 0 ? [] : [title, rows.map(paragraph).join('\n')];

function paragraph({ severity, summary, advice, raised_at, recovered_at }: AlertRow): string {
  const from = raised_at.toISOString();
  return recovered_at === null
    ? `- ${from} ${severity}: ${summary}\n  ${advice}`
    : `- ${recovered_at.toISOString()} over: ${summary} (since ${from})`;
}

/** The part that fits into the subject of a mail. */
const headline = ({ summary }: AlertRow): string => String(summary.split(':')[0]);
