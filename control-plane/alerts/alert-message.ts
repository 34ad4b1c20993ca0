// The message of an alert, as JSON for a program and as text for a person.
import { ownCommand } from '#shared/process/own-command.ts';
import type { AlertMessage, AlertRow } from '../domain/alert.ts';

/** Which installation speaks. */
export interface Sender {
  serviceName: string;
  environment: string;
}

/** Fields are only ever added while it stays the same. */
const VERSION = 1;

/** The body of a webhook (Standard Webhooks: `type`, `timestamp`, `data`). `isTest`: nothing is the matter. */
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

/** "Simrack: node rack-1 is offline, and 3 more"; what is critical goes before what is not, and that before what is over. */
export function alertSubject(
  { raised, escalated, recovered }: AlertMessage,
  { serviceName }: Sender,
): string {
  const open = [...raised, ...escalated];
  const first = open.find(({ severity }) => severity === 'critical') ?? open[0] ?? recovered[0];
  if (first === undefined) return `${serviceName}: a test of alerts`;
  const word = first.recovered_at !== null ? 'over: ' : first.severity === 'critical' ? 'CRITICAL: ' : '';
  const others = open.length + recovered.length - 1;
  return `${serviceName}: ${word}${headline(first)}${others > 0 ? `, and ${others} more` : ''}`;
}

export function alertText({ raised, escalated, recovered }: AlertMessage, { environment }: Sender): string {
  if (raised.length + escalated.length + recovered.length === 0)
    return `Nothing is the matter: somebody tries whether alerts of "${environment}" arrive.`;
  return [
    ...section('What is wrong:', raised),
    ...section('What has become critical:', escalated),
    ...section('What is over:', recovered),
    `From "${environment}". "${ownCommand('control-plane')} alert list" shows all that is wrong now.`,
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
