// Delivery probes: the list, their figures, and one on request.
import * as z from 'zod';
import { OperatorRefusal } from '../../domain/refusal.ts';
import { maskedNumber } from '../../domain/shown-value.ts';
import { PROBE_KINDS, PROBE_RESULTS } from '../../store/database/operation-tables.ts';
import { slotPlaceSchema } from '../../store/fleet/slot-service.ts';
import {
  findProbe,
  listProbes,
  PROBE_SORTS,
  probeRowSchema,
  probeSummarySchema,
  summarizeProbes,
} from '../../store/operations/probe-list.ts';
import { findTestPair } from '../../store/operations/probe-pairs.ts';
import { listProbedSlots, PROBED_SLOT_SORTS, probedSlotSchema } from '../../store/operations/probed-slots.ts';
import {
  carrierSchema,
  limitSchema,
  nodeSchema,
  numberSchema,
  PROBE_SPANS,
  placeSchema,
  positionSchema,
  probeIdSchema,
  slotInputSchema,
  sortSchema,
  timeSchema,
} from './fields.ts';
import { pageOf, pageSchema, procedure } from './procedure.ts';
import { storeQuery } from './store-query.ts';

export const PROBE_PROCEDURES = {
  /** With `inService`: refused where a number or its slot is out of service. Answers with the probe that has begun. */
  sendTest: procedure({
    input: z.object({ from: numberSchema, to: numberSchema, inService: z.boolean().default(false) }),
    output: z.object({ id: z.string() }),
    // A number that was mistyped may be a stranger's.
    audit: {
      how: 'command',
      subject: ({ from }) => maskedNumber(from),
      detail: ({ to }) => ({ to: maskedNumber(to) }),
    },
    async run({ db, nodes, now }, { from, to, inService }) {
      await findTestPair(db, { from, to, inService, now });
      return nodes.sendTest(from, to);
    },
  }),
  probe: procedure({
    input: z.object({ id: probeIdSchema }),
    output: probeRowSchema,
    async run({ db }, { id }) {
      const row = await findProbe(db, id);
      if (row === undefined) throw new OperatorRefusal(`There is no probe ${id}.`);
      return row;
    },
  }),
  probes: procedure({
    input: z.object({
      node: nodeSchema.optional(),
      slot: slotInputSchema.optional(),
      carrier: carrierSchema.optional(),
      result: z.enum(PROBE_RESULTS).optional(),
      kind: z.enum(PROBE_KINDS).optional(),
      since: timeSchema.optional(),
      until: timeSchema.optional(),
      sort: sortSchema(PROBE_SORTS),
      after: positionSchema.optional(),
      limit: limitSchema,
    }),
    output: pageSchema(probeRowSchema, z.number()),
    run: async ({ db }, query) =>
      pageOf(await listProbes(db, storeQuery(query)), query.limit, ({ position }) => position),
  }),
  /** One row for each slot. */
  probedSlots: procedure({
    input: z.object({
      span: z.enum(PROBE_SPANS),
      node: nodeSchema.optional(),
      carrier: carrierSchema.optional(),
      result: z.enum(PROBE_RESULTS).optional(),
      sort: sortSchema(PROBED_SLOT_SORTS),
      after: placeSchema.optional(),
      limit: limitSchema,
    }),
    output: pageSchema(probedSlotSchema, slotPlaceSchema),
    run: async ({ db, now }, query) =>
      pageOf(await listProbedSlots(db, storeQuery(query), now), query.limit, ({ node, slot }) => ({
        node,
        slot,
      })),
  }),
  probeSummary: procedure({
    input: z.object({ by: z.enum(['carrier', 'slot']), span: z.enum(PROBE_SPANS) }),
    output: z.array(probeSummarySchema),
    run: ({ db, now }, { by, span }) => summarizeProbes(db, { by, span, now }),
  }),
};
