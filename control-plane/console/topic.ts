// The topic of a live page: the fleet, a node or a slot, with the span of its plots. It is text in an address.
import * as z from 'zod';
import { nodeNameSchema } from '#shared/link/enrollment.ts';
import { slotNameSchema } from '#shared/link/slot.ts';
import { RANGE_NAMES } from './pages/plots.ts';

const range = z.enum(RANGE_NAMES).catch('hour');
const topicSchema = z.discriminatedUnion('of', [
  z.object({ of: z.literal('fleet'), range }),
  z.object({ of: z.literal('node'), node: nodeNameSchema, range }),
  z.object({ of: z.literal('slot'), node: nodeNameSchema, slot: slotNameSchema, range }),
]);

export type Topic = z.output<typeof topicSchema>;

export const topicText = (topic: Topic): string => new URLSearchParams({ ...topic }).toString();

/** Undefined for what is none. */
export const readTopic = (text: string): Topic | undefined =>
  topicSchema.safeParse(Object.fromEntries(new URLSearchParams(text))).data;

export const rangeSchema = z.object({ range });
