// The lists of operators and of their alerts.
import type { Listing } from '#shared/operator/listing.ts';
import type { Json } from '#shared/operator/procedure.ts';
import type { Status } from '#shared/operator/slot-health.ts';
import type { ListedAlert } from '../../domain/alert.ts';
import type { OperatorRow } from '../../store/operations/operators.ts';

export const OPERATORS: Listing<Json<OperatorRow>> = {
  name: 'operators',
  title: 'Operators',
  empty: 'No operators yet.',
  columns: [
    { title: 'Operator', cell: ({ name }) => name },
    { title: 'Since', cell: ({ created_at }) => ({ time: created_at }) },
    { title: 'Signed in', cell: ({ sessions }) => String(sessions) },
    { title: 'Seen', cell: ({ used_at }) => ({ time: used_at }) },
  ],
};

/** An alert that is over needs no one, even before it ends. */
function severityOf({ recovered_at: end, severity: words, well_since: over }: Json<ListedAlert>): Status {
  if (end !== null || over !== null) return { health: 'off', sign: 'check', words };
  return words === 'critical'
    ? { health: 'bad', sign: 'cross', words }
    : { health: 'warn', sign: 'wait', words };
}

/** A summary keeps what was found last, which may be over although the alert has not ended. */
const summaryCell = ({ recovered_at: end, summary, well_since: over }: Json<ListedAlert>): string =>
  end === null && over !== null ? `was: ${summary}` : summary;

export const ALERTS: Listing<Json<ListedAlert>> = {
  name: 'alerts',
  title: 'Alerts',
  empty: 'No alerts.',
  columns: [
    { title: 'Since', cell: ({ raised_at }) => ({ time: raised_at }) },
    {
      title: 'Condition gone since',
      cell: ({ well_since, recovered_at }) => ({ time: well_since ?? recovered_at }),
    },
    { title: 'Ended', cell: ({ recovered_at }) => ({ time: recovered_at }) },
    { title: 'Severity', cell: (alert) => ({ status: severityOf(alert), text: alert.severity }) },
    { title: 'Kind', cell: ({ kind }) => kind },
    { title: 'Summary', cell: summaryCell },
    { title: 'Next step', cell: ({ advice, recovered_at }) => (recovered_at === null ? advice : null) },
  ],
};
