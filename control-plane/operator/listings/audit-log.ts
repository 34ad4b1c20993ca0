// The list of changes by operators and probes.
import { isE164 } from '#shared/identities.ts';
import type { Listing } from '#shared/operator/listing.ts';
import type { Json } from '#shared/operator/procedure.ts';
import type { Status } from '#shared/operator/slot-health.ts';
import { withMaskedNumbers } from '../../domain/shown-value.ts';
import type { AUDIT_SORTS, AuditRow } from '../../store/operations/audit-log.ts';
import { numberCell } from './cells.ts';

export const AUDIT_STATUS: Readonly<Record<AuditRow['result'], Status>> = {
  begun: { health: 'warn', sign: 'wait', words: 'begun' },
  ok: { health: 'good', sign: 'check', words: 'done' },
  refused: { health: 'warn', sign: 'barred', words: 'refused' },
  failed: { health: 'bad', sign: 'cross', words: 'failed' },
};

/** Arguments of a refused action may hold numbers, too. */
const masked = (text: string, isFull: boolean): string => (isFull ? text : withMaskedNumbers(text));

/** "takeSlotOutOfService" as people write it. */
export const inWords = (action: string): string =>
  action.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** Each field in words. */
export const detailFields = (detail: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(detail).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );

const detailOf = ({ detail, why }: Json<AuditRow>): string =>
  [...(why === null ? [] : [why]), ...detailFields(detail)].join(', ');

export const AUDIT_LOG: Listing<Json<AuditRow>, keyof typeof AUDIT_SORTS> = {
  name: 'audit_log',
  title: 'Audit log',
  empty: 'No changes yet.',
  columns: [
    { title: 'At', sort: 'at', cell: ({ at }) => ({ time: at }) },
    { title: 'Actor', sort: 'actor', cell: ({ actor }) => actor },
    { title: 'Action', sort: 'action', cell: ({ action }) => inWords(action) },
    {
      title: 'Subject',
      sort: 'subject',
      // A number that was mistyped has no page.
      cell: ({ subject, result }, { isFull }) =>
        isE164(subject) && result === 'ok' ? numberCell(subject, !isFull) : masked(subject, isFull),
    },
    {
      title: 'Result',
      sort: 'result',
      cell: ({ result }) => ({ status: AUDIT_STATUS[result], text: result }),
    },
    { title: 'Detail', cell: (row, { isFull }) => masked(detailOf(row), isFull) },
  ],
  masked: (row) => JSON.parse(withMaskedNumbers(JSON.stringify(row))) as Json<AuditRow>,
};
