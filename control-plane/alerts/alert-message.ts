// What an operator is told, as JSON for a program and as text for a person.
import type { AlertRow } from './alert.ts';

export interface AlertMessage {
  /** The same however often it is tried. */
  id: string;
  createdAt: Date;
  raised: readonly AlertRow[];
  recovered: readonly AlertRow[];
}

/** Which installation speaks. */
export interface Sender {
  serviceName: string;
  environment: string;
}

/** Fields are only ever added while it stays the same. */
const VERSION = 1;

/** The body of a webhook (Standard Webhooks: `type`, `timestamp`, `data`). `isTest`: nothing is the matter. */
export function alertBody(
  { createdAt, raised, recovered }: AlertMessage,
  { serviceName, environment }: Sender,
  isTest = false,
): string {
  return JSON.stringify({
    type: isTest ? 'alerts.test' : 'alerts.changed',
    timestamp: createdAt,
    data: { version: VERSION, service: serviceName, environment, raised, recovered },
  });
}

/** "Simrack: node rack-1 is offline, and 3 more"; what has begun goes before what is over. */
export function alertSubject({ raised, recovered }: AlertMessage, { serviceName }: Sender): string {
  const [first] = raised.length > 0 ? raised : recovered;
  if (first === undefined) return `${serviceName}: a test of alerts`;
  const word = first.recovered_at !== null ? 'over: ' : first.severity === 'critical' ? 'CRITICAL: ' : '';
  const others = raised.length + recovered.length - 1;
  return `${serviceName}: ${word}${headline(first)}${others > 0 ? `, and ${others} more` : ''}`;
}

export function alertText({ raised, recovered }: AlertMessage, { environment }: Sender): string {
  if (raised.length + recovered.length === 0)
    return `Nothing is the matter: somebody tries whether alerts of "${environment}" arrive.`;
  return [
    ...section('What is wrong:', raised),
    ...section('What is over:', recovered),
    `From "${environment}". "npx control-plane alert list" shows all that is wrong now.`,
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

/** What fits into the subject of a mail. */
const headline = ({ summary }: AlertRow): string => String(summary.split(':')[0]);
