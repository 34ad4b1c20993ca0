// Previews of changes, shown before the operator decides: as the commands show them, and from the same procedures.
import type { Cell } from '#shared/operator/listing.ts';
import { cardFields } from '../../domain/shown-value.ts';
import { REASSIGNED_QUARANTINE_DAYS } from '../../domain/subscription.ts';
import { type Operator, PROCEDURES } from '../../operator/procedures/all-procedures.ts';
import { cardTextSchema } from '../../operator/procedures/fields.ts';

type Fields = Readonly<Record<string, string>>;

/** The field of a form that shows a preview. */
export const PREVIEWED = 'previewed';

export interface Preview {
  facts: ReadonlyArray<readonly [title: string, fact: Cell]>;
  /** Sent along by the form: only what was shown is done. */
  fields: Fields;
}

/** Throws as the change does. */
export type ReadPreview = (fields: Fields, operator: Operator) => Promise<Preview>;

export const moveSchema = PROCEDURES.moveNumber.input.extend({ card: cardTextSchema });

// Only the customer that was shown, and the end: the number may be another one's since, and a form may be sent twice.
export const reassignSchema = PROCEDURES.reassignNumber.input.required({ number: true });
export const extendSchema = PROCEDURES.extendSubscription.input.required({ number: true, expires_at: true });

/** The fields of the form as the procedure takes them. */
export const reassignOf = ({ id, number, reason, to }: Fields) =>
  reassignSchema.parse({ id, number, reason, to: to === '' ? undefined : to });
export const extensionOf = ({ days, ...fields }: Fields) =>
  extendSchema.parse({ ...fields, days: Number(days) });

export const previewMove: ReadPreview = async ({ number, card, reason }, operator) => {
  const shown = await operator.call('previewMove', moveSchema.parse({ number, card, reason }));
  return {
    facts: [
      ['Present card', `${shown.from}, which has no number then`],
      ['New card', shown.to],
      ...(shown.taken.length === 0 ? [] : [['It takes over', cardFields(shown.taken)] as const]),
      ['Reason', String(reason)],
    ],
    fields: { expected: shown.to },
  };
};

export const previewReassign: ReadPreview = async (fields, operator) => {
  const { from, to } = await operator.call('previewReassign', reassignOf(fields));
  return {
    facts: [
      ['New number', { link: { number: to }, text: to }],
      ['Former number', `${from}: out of service, and in quarantine for ${REASSIGNED_QUARANTINE_DAYS} days`],
      ['Reason', String(fields['reason'])],
    ],
    fields: { to },
  };
};

export const previewExtend: ReadPreview = async (fields, operator) => {
  const extension = extensionOf(fields);
  const { expires_at: end } = await operator.call('previewExtend', extension);
  return {
    facts: [
      ['Ends now', { time: extension.expires_at }],
      ['Ends then', { time: end }],
      ['Days', String(extension.days)],
      ['Reason', extension.reason],
    ],
    fields: {},
  };
};
