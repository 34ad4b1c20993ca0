// Sent messages of one number: the API's word against the carrier's. Pure.
import { clock, type Disturbances } from '../disturbances.ts';
import type { DeliveredRecord, HistoryRow, OutboundRecord } from '../record.ts';
import { keyOf } from '../texts.ts';
import type { AirIndex } from './air-index.ts';
import type { Findings } from './findings.ts';

interface SentParts {
  modem: number;
  outbound: readonly OutboundRecord[];
  /** Sent ones. */
  rows: readonly HistoryRow[];
  air: AirIndex;
  delivered: ReadonlyMap<number, DeliveredRecord>;
  disturbances: Disturbances;
  findings: Findings;
}

/** The carrier had it: nothing takes that back. Not `expired`: a report on one segment makes the whole message so. */
const TAKEN = new Set(['queued', 'sent', 'delivered']);

/** Returns how many sends have which status. */
export function checkSent(parts: SentParts): Map<string, number> {
  const { outbound, rows, findings } = parts;
  const known = new Map(outbound.map((message) => [message.key, message]));
  const byKey = new Map<string, HistoryRow[]>();
  for (const row of rows) {
    const key = keyOf(row.body) ?? '';
    const message = known.get(key);
    if (message === undefined)
      findings.add('foreign', key, `sent row ${row.id}: ${JSON.stringify(row.body)}`);
    else if (message.text !== row.body || message.to !== row.to)
      findings.add('altered', key, `sent row ${row.id} to ${row.to}: ${JSON.stringify(row.body)}`);
    byKey.set(key, [...(byKey.get(key) ?? []), row]);
  }
  const statuses = new Map<string, number>();
  for (const message of outbound) {
    const own = byKey.get(message.key) ?? [];
    if (own.length > 1) findings.add('row_doubled', message.key, own.map(({ id }) => `row ${id}`).join(', '));
    checkMessage(message, own[0], parts);
    const status = own[0]?.status ?? 'no row';
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  return statuses;
}

function checkMessage(message: OutboundRecord, row: HistoryRow | undefined, parts: SentParts): void {
  const { key, answer } = message;
  const { air, findings } = parts;
  const counts = air.counts(message);
  const story = storyOf(message, row, parts);
  if (counts.some((count) => count > 1)) findings.add('sent_twice', key, story);
  if (row === undefined) {
    if (answer.kind !== 'cut' && answer.kind !== 'broken') findings.add('row_missing', key, story);
    if (counts.some((count) => count > 0)) findings.add('failed_but_sent', key, `no row, but ${story}`);
    return;
  }
  if (answer.kind === 'accepted' && row.messageId !== answer.messageId)
    findings.add('answer_changed', key, story);
  checkStatus(message, row, story, parts);
  checkReports(message, row, story, parts);
}

function checkStatus(message: OutboundRecord, row: HistoryRow, story: string, parts: SentParts): void {
  const { key, answer, modem, fromMs, untilMs } = message;
  const { air, findings, disturbances } = parts;
  const counts = air.counts(message);
  const isWhole = counts.every((count) => count > 0);
  const status = row.status ?? '';
  // A report on its first segment gives a message its id, whatever became of the others.
  const isTaken = TAKEN.has(status) || answer.kind === 'accepted' || (row.messageId !== null && isWhole);
  // A report cannot keep the other segments from the air: something else did.
  const isCut = disturbances.around(modem, fromMs, untilMs).some(({ what }) => what !== 'status_report');
  const isPart = isCut && counts.some((count) => count > 0);
  if (!isWhole && (isTaken || (status === 'expired' && !isPart)))
    findings.add('accepted_not_sent', key, story);
  if (status === 'failed' && !isTaken && isWhole) findings.add('failed_but_sent', key, story);
  if (answer.kind === 'refused' && isTaken) findings.add('answer_changed', key, story);
  if (status === 'sending' || status === '') findings.add('unsettled', key, story);
  if (status === 'unknown' && disturbances.isCalm(modem, fromMs, untilMs))
    findings.add('unknown_without_cause', key, story);
}

/** 3GPP TS 23.040 §9.2.3.15: the statuses that the simulator is set to. */
function checkReports(message: OutboundRecord, row: HistoryRow, story: string, parts: SentParts): void {
  const { key, modem, toModem } = message;
  const { air, delivered, disturbances, findings } = parts;
  // A modem that gives all messages one reference makes reports speak of any of them.
  if (disturbances.ofKind(modem, 'message_reference').length > 0) return;
  const segments = message.parts.map((_, index) => air.part(key, index + 1)[0]);
  const { status } = row;
  if (status === 'delivered' && toModem !== undefined) {
    // To a SIM: its modem must have taken every part.
    const isTaken = segments.every((segment) => segment !== undefined && delivered.has(segment.id + 1));
    if (!isTaken) findings.add('report_without_cause', key, story);
  }
  const isReported = status === 'expired' || (status === 'failed' && row.messageId !== null);
  if (isReported && disturbances.ofKind(modem, 'status_report').length === 0)
    findings.add('report_without_cause', key, story);
  if (status !== 'queued' || toModem !== undefined) return;
  // To outside: the report has the id after the one under which the segment was heard.
  const isIgnored = segments.every((segment) => {
    const report = segment && delivered.get(segment.id + 1);
    return report?.kind === 'report' && disturbances.isCalm(modem, report.atMs - 1_000, report.atMs + 1_000);
  });
  if (isIgnored) findings.add('report_ignored', key, story);
}

function storyOf(message: OutboundRecord, row: HistoryRow | undefined, parts: SentParts): string {
  const { key, modem, to, fromMs, untilMs, answer } = message;
  const heard = message.parts.map((_, index) => {
    const times = parts.air.part(key, index + 1).map(({ atMs, id }) => `${clock(atMs)} (id ${id})`);
    return times.length === 0 ? 'never' : times.join(' and ');
  });
  const said = `${answer.kind}${'reason' in answer ? ` ${answer.reason}` : ''}`;
  const asked = `to ${to}, asked ${clock(fromMs)}, answered ${clock(untilMs)}: ${said}`;
  const reported = row === undefined ? 'no row' : `row ${row.id} ${row.status} ${row.messageId ?? ''}`;
  const around = parts.disturbances.story(modem, fromMs, untilMs);
  return `${asked}; ${reported}; on the air ${heard.join(', ')}; ${around}`;
}
