// The lists of operators and of their alerts.
import type { Listing } from '#shared/operator/listing.ts';
import type { Json } from '#shared/operator/procedure.ts';
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

export const ALERTS: Listing<Json<ListedAlert>> = {
  name: 'alerts',
  title: 'Alerts',
  empty: 'No alerts.',
  columns: [
    { title: 'Since', cell: ({ raised_at }) => ({ time: raised_at }) },
    { title: 'Until', cell: ({ recovered_at }) => ({ time: recovered_at }) },
    { title: 'Severity', cell: ({ severity }) => severity },
    { title: 'Kind', cell: ({ kind }) => kind },
    { title: 'Summary', cell: ({ summary }) => summary },
  ],
};
