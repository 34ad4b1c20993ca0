// Previews of changes, for an operator who is asked before each: what a change would answer now, or why it would be refused. Nothing changes.
import type * as z from 'zod';
import { rolledBack } from '../../store/database/database.ts';
import { NODE_PROCEDURES } from './nodes.ts';
import { NUMBER_PROCEDURES } from './numbers.ts';
import { type ControlPlaneProcedure, procedure } from './procedure.ts';
import { SLOT_PROCEDURES } from './slots.ts';
import { SUBSCRIPTION_PROCEDURES } from './subscriptions.ts';

/** Makes the change in a transaction that is rolled back, so that preview and change never disagree. */
const previewOf = <I extends z.ZodType, O extends z.ZodType>({
  input,
  output,
  run,
}: ControlPlaneProcedure<I, O>) =>
  procedure<I, O>({
    input,
    output,
    run: (context, asked) => rolledBack(context.db, (db) => run({ ...context, db }, asked)),
  });

export const PREVIEW_PROCEDURES = {
  previewRevoke: previewOf(NODE_PROCEDURES.revokeNode),
  previewRemove: previewOf(NODE_PROCEDURES.removeNode),
  previewOutOfService: previewOf(SLOT_PROCEDURES.takeSlotOutOfService),
  previewTransfer: previewOf(SLOT_PROCEDURES.transferSim),
  previewMove: previewOf(NUMBER_PROCEDURES.moveNumber),
  previewRetire: previewOf(NUMBER_PROCEDURES.retire),
  previewReassign: previewOf(SUBSCRIPTION_PROCEDURES.reassignNumber),
  previewExtend: previewOf(SUBSCRIPTION_PROCEDURES.extendSubscription),
  previewEnd: previewOf(SUBSCRIPTION_PROCEDURES.endSubscription),
};
