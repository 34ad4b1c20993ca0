// Numbers: the list, what is sold, what is kept off the market, what comes in and goes.
import * as z from 'zod';
import { iccidSchema } from '#shared/identities.ts';
import { NUMBER_STATES } from '../../domain/number-state.ts';
import { admitNumber } from '../../store/fleet/number-admission.ts';
import { importNumbers } from '../../store/fleet/number-import.ts';
import { moveNumber } from '../../store/fleet/number-move.ts';
import {
  listNumbers,
  NUMBER_SORTS,
  numberRowSchema,
  releaseNumber,
  retireNumber,
  setOutOfService,
} from '../../store/fleet/numbers.ts';
import {
  cardSchema,
  carrierSchema,
  findSchema,
  IMPORT_LINES_MAX,
  limitSchema,
  nodeSchema,
  numberSchema,
  reasonSchema,
  sortSchema,
} from './fields.ts';
import { change, pageOf, pageSchema, procedure } from './procedure.ts';
import { storeQuery } from './store-query.ts';

const ofNumber = z.object({ number: numberSchema });
const subject = ({ number }: z.output<typeof ofNumber>): string => number;

export const NUMBER_PROCEDURES = {
  numbers: procedure({
    input: z.object({
      state: z.enum(NUMBER_STATES).optional(),
      number: numberSchema.optional(),
      node: nodeSchema.optional(),
      carrier: carrierSchema.optional(),
      find: findSchema.optional(),
      sort: sortSchema(NUMBER_SORTS),
      after: numberSchema.optional(),
      limit: limitSchema,
    }),
    output: pageSchema(numberRowSchema, z.string()),
    run: async ({ db, now }, query) =>
      pageOf(await listNumbers(db, storeQuery(query), now), query.limit, ({ number }) => number),
  }),
  takeOutOfService: change(ofNumber.extend({ reason: reasonSchema }), {
    subject,
    detail: ({ reason }) => ({ reason }),
    run: ({ db, now }, { number, reason }) => setOutOfService(db, number, reason, now),
  }),
  putInService: change(ofNumber, {
    subject,
    run: ({ db, now }, { number }) => setOutOfService(db, number, undefined, now),
  }),
  retire: change(ofNumber, { subject, run: ({ db, now }, { number }) => retireNumber(db, number, now) }),
  /** Answers with the ICCID of the former card and of the new one. `expected`: refused if the slot has another card. */
  moveNumber: procedure({
    input: ofNumber.extend({
      card: cardSchema,
      expected: iccidSchema.optional(),
      reason: reasonSchema,
    }),
    output: z.object({ from: z.string(), to: z.string(), taken: z.array(z.string()) }),
    run: ({ db, now }, { number, card, expected }) => moveNumber(db, { number, card, expected, now }),
    audit: {
      how: 'change',
      subject,
      detail: ({ reason }, answer) => ({ reason, from: answer?.from, to: answer?.to }),
    },
  }),
  releaseNumber: change(ofNumber, {
    subject,
    run: ({ db, now }, { number }) => releaseNumber(db, number, now),
  }),
  admitNumber: change(ofNumber, { subject, run: ({ db }, { number }) => admitNumber(db, number) }),
  importNumbers: procedure({
    input: z.object({
      rows: z
        .array(
          z.object({
            line: z.number().int(),
            number: numberSchema,
            iccid: iccidSchema,
            node: nodeSchema.optional(),
          }),
        )
        .min(1)
        .max(IMPORT_LINES_MAX),
    }),
    output: z.object({ added: z.number(), back: z.number(), known: z.number() }),
    audit: { how: 'change', subject: () => 'numbers', detail: ({ rows }) => ({ lines: rows.length }) },
    run: ({ db, now }, { rows }) => importNumbers(db, rows, now),
  }),
};
