// Operators: who may sign in to the console, what they changed, and the alerts that they get.
import * as z from 'zod';
import { ownCommand } from '#shared/process/own-command.ts';
import { listedAlertSchema } from '../../domain/alert.ts';
import { hashSecret, mintOperatorKey, sessionLimitsAt } from '../../domain/operator-key.ts';
import { OperatorRefusal } from '../../domain/refusal.ts';
import { AUDIT_RESULTS } from '../../store/database/operation-tables.ts';
import { listAlerts } from '../../store/operations/alerts.ts';
import { AUDIT_SORTS, auditRowSchema, listAudit } from '../../store/operations/audit-log.ts';
import {
  deleteOperator,
  insertOperator,
  listOperators,
  operatorRowSchema,
} from '../../store/operations/operators.ts';
import {
  actorSchema,
  alertPlace,
  alertPlaceSchema,
  findSchema,
  limitSchema,
  nodeSchema,
  operatorNameSchema,
  positionSchema,
  sortSchema,
  timeSchema,
} from './fields.ts';
import { change, pageOf, pageSchema, procedure } from './procedure.ts';
import { storeQuery } from './store-query.ts';

const ofOperator = z.object({ name: operatorNameSchema });
const subject = ({ name }: z.output<typeof ofOperator>): string => name;

export const OPERATOR_PROCEDURES = {
  operators: procedure({
    input: z.object({}),
    output: z.array(operatorRowSchema),
    run: ({ db, now }) => listOperators(db, sessionLimitsAt(now)),
  }),
  /** Answers with the key, this once. */
  addOperator: procedure({
    input: ofOperator,
    output: z.object({ key: z.string() }),
    audit: { how: 'change', subject },
    async run({ db, now }, { name }) {
      const key = mintOperatorKey();
      if (await insertOperator(db, { name, keyHash: hashSecret(key), now })) return { key };
      throw new OperatorRefusal(
        `Operator "${name}" already exists. Run "${ownCommand('control-plane')} operator remove" to revoke the old key.`,
      );
    },
  }),
  removeOperator: change(ofOperator, {
    subject,
    async run({ db }, { name }) {
      if (!(await deleteOperator(db, name))) throw new OperatorRefusal(`There is no operator "${name}".`);
    },
  }),
  auditLog: procedure({
    input: z.object({
      actor: actorSchema.optional(),
      result: z.enum(AUDIT_RESULTS).optional(),
      node: nodeSchema.optional(),
      since: timeSchema.optional(),
      until: timeSchema.optional(),
      find: findSchema.optional(),
      sort: sortSchema(AUDIT_SORTS),
      after: positionSchema.optional(),
      limit: limitSchema,
    }),
    output: pageSchema(auditRowSchema, z.number()),
    run: async ({ db }, query) => pageOf(await listAudit(db, storeQuery(query)), query.limit, ({ id }) => id),
  }),
  alerts: procedure({
    input: z.object({
      state: z.enum(['open', 'ended']).optional(),
      after: alertPlaceSchema.optional(),
      limit: limitSchema,
    }),
    output: pageSchema(listedAlertSchema, z.string()),
    run: async ({ db }, query) => pageOf(await listAlerts(db, query), query.limit, alertPlace),
  }),
};
