// The operators who may sign in to the console: added, listed, removed.
import { hashSecret, mintOperatorKey } from '../domain/operator-key.ts';
import { OperatorRefusal } from '../domain/operator-refusal.ts';
import { sessionLimitsAt } from '../domain/operator-session.ts';
import { deleteOperator, insertOperator, listOperators } from '../store/operations/operators.ts';
import type { DeskCalls } from './desk-answers.ts';

export const operatorDesk = ({
  now,
}: {
  now: () => Date;
}): DeskCalls<'operators' | 'addOperator' | 'removeOperator'> => ({
  operators: (_, db) => listOperators(db, sessionLimitsAt(now())),
  addOperator: async ({ name }, db) => {
    const key = mintOperatorKey();
    if (await insertOperator(db, { name, keyHash: hashSecret(key), now: now() })) return { key };
    throw new OperatorRefusal(`there is an operator "${name}"; "operator remove" ends the old key`);
  },
  removeOperator: async ({ name }, db) => {
    if (await deleteOperator(db, name)) return null;
    throw new OperatorRefusal(`there is no operator "${name}"`);
  },
});
