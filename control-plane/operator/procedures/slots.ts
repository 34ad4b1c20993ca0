// Slots: the list, whether their numbers are sold, the holder of their SIM, and a modem that restarts.
import * as z from 'zod';
import { iccidSchema } from '#shared/identities.ts';
import { SLOT_LIST_STATES } from '#shared/operator/slot-health.ts';
import { OperatorRefusal } from '../../domain/refusal.ts';
import { transferSim } from '../../store/fleet/sim-transfer.ts';
import {
  findSlot,
  listSlots,
  putSlotInService,
  refuseUnknown,
  SLOT_SORTS,
  slotPlaceSchema,
  slotRowSchema,
  takeSlotOutOfService,
} from '../../store/fleet/slot-service.ts';
import {
  carrierSchema,
  findSchema,
  limitSchema,
  nodeSchema,
  placeSchema,
  reasonSchema,
  sortSchema,
} from './fields.ts';
import { change, pageOf, pageSchema, procedure } from './procedure.ts';
import { storeQuery } from './store-query.ts';

const subject = ({ node, slot }: z.output<typeof placeSchema>): string => `${node}/${slot}`;

export const SLOT_PROCEDURES = {
  slots: procedure({
    input: z.object({
      node: nodeSchema.optional(),
      state: z.enum(SLOT_LIST_STATES).optional(),
      carrier: carrierSchema.optional(),
      find: findSchema.optional(),
      sort: sortSchema(SLOT_SORTS),
      after: placeSchema.optional(),
      limit: limitSchema,
    }),
    output: pageSchema(slotRowSchema, slotPlaceSchema),
    run: async ({ db, now }, query) =>
      pageOf(await listSlots(db, storeQuery(query), now), query.limit, ({ node, slot }) => ({ node, slot })),
  }),
  slot: procedure({
    input: placeSchema,
    output: slotRowSchema,
    async run({ db, now }, { node, slot }) {
      const row = await findSlot(db, { node, slot }, now);
      if (row === undefined) throw new OperatorRefusal(`Node ${node} has no slot ${slot}.`);
      return row;
    },
  }),
  takeSlotOutOfService: change(placeSchema.extend({ reason: reasonSchema }), {
    subject,
    detail: ({ reason }) => ({ reason }),
    run: ({ db, now }, { node, slot, reason }) =>
      takeSlotOutOfService(db, { node, slot, reason, by: 'operator', now }),
  }),
  putSlotInService: change(placeSchema, {
    subject,
    run: ({ db, now }, { node, slot }) => putSlotInService(db, { node, slot, now }),
  }),
  /** Gives the SIM that the slot reports to its node, only the `expected` one. Answers with the node that held it, if one did. */
  transferSim: procedure({
    input: placeSchema.extend({ expected: iccidSchema.optional() }),
    output: z.object({ iccid: z.string(), from: z.string().nullable() }),
    audit: { how: 'change', subject },
    run: ({ db, now }, { node, slot, expected }) => transferSim(db, { node, slot, expected, now }),
  }),
  /** Refused while a call is up, unless by `force`. */
  restartModem: procedure({
    input: placeSchema.extend({ force: z.boolean().default(false) }),
    output: z.null(),
    audit: { how: 'command', subject, detail: ({ force }) => ({ force }) },
    async run({ db, nodes }, { node, slot, force }) {
      await refuseUnknown(db, { node, slot });
      await nodes.restartModem(node, slot, force);
      return null;
    },
  }),
};
