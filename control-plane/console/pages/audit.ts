// The audit log: each change with its operator, its time and its result.

import { isE164 } from '#shared/e164.ts';
import { type Html, html } from '#shared/html.ts';
import { maskedNumber, withMaskedNumbers } from '../../domain/masked-number.ts';
import type { Page, Told } from '../../operator/desk-answers.ts';
import type { AuditRow } from '../../store/operations/audit-log.ts';
import { numberPath } from '../actions/paths.ts';
import { further, nothing } from './lists.ts';
import { badge, shownAt, table } from './shown.ts';
import type { Look } from './slot-look.ts';

const LOOKS: Readonly<Record<AuditRow['result'], Look>> = {
  begun: { tone: 'warn', sign: 'wait', words: 'begun' },
  ok: { tone: 'good', sign: 'check', words: 'done' },
  refused: { tone: 'warn', sign: 'barred', words: 'refused' },
  failed: { tone: 'bad', sign: 'cross', words: 'failed' },
};

export function auditPage({ rows, next }: Told<Page<AuditRow, number>>): Html {
  return html`<h1>Audit log</h1>${
    rows.length === 0
      ? nothing('Nobody has changed anything yet.')
      : table('Audit log', ['At', 'Who', 'What', 'On what', 'Result', 'Detail'], rows.map(line))
  }${further('/audit', {}, next)}`;
}

const line = ({ action, actor, at, detail, result, subject, why }: Told<AuditRow>): Html =>
  html`<tr><td>${shownAt(at)}</td><th scope="row">${actor}</th><td>${inWords(action)}</td><td>${shownSubject(subject, result)}</td><td>${badge(LOOKS[result])}</td><td>${withMaskedNumbers(
    why ?? '',
  )} ${Object.entries(detail).map(
    ([name, value]) =>
      html`<small>${name}: ${withMaskedNumbers(typeof value === 'string' ? value : JSON.stringify(value))}</small> `,
  )}</td></tr>`;

/** A number that was mistyped leads nowhere. */
const shownSubject = (subject: string, result: AuditRow['result']): Html =>
  isE164(subject) && result === 'ok'
    ? html`<a href="${numberPath(subject)}">${maskedNumber(subject)}</a>`
    : html`${withMaskedNumbers(subject)}`;

/** "takeSlotOutOfService" as people write it. */
const inWords = (action: string): string => action.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
