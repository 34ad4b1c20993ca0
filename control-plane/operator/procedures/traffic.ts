// The texts of subscribers by carrier, node or slot.
import * as z from 'zod';
import { listTraffic, TRAFFIC_SORTS, trafficRowSchema } from '../../store/messages/traffic.ts';
import { TRAFFIC_GROUPS } from '../listings/traffic.ts';
import { carrierSchema, hoursSchema, limitSchema, nodeSchema, sortSchema } from './fields.ts';
import { pageOf, pageSchema, procedure } from './procedure.ts';
import { storeQuery } from './store-query.ts';

export const TRAFFIC_PROCEDURES = {
  /** Texts that were sent in the last `hours`. Probes are not among them. */
  traffic: procedure({
    input: z.object({
      by: z.enum(TRAFFIC_GROUPS).default('carrier'),
      hours: hoursSchema.default(24),
      node: nodeSchema.optional(),
      carrier: carrierSchema.optional(),
      sort: sortSchema(TRAFFIC_SORTS),
      after: z.string().max(100).optional(),
      limit: limitSchema,
    }),
    output: pageSchema(trafficRowSchema, z.string()),
    run: async ({ db, now }, query) =>
      pageOf(await listTraffic(db, storeQuery(query), now), query.limit, ({ key }) => key),
  }),
};
