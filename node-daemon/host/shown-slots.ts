// The slots as a person sees them: a slot on the network has no service while the journal of the node fails. One rule for the list, the
// status page, doctor and the metrics. The control plane applies the same rule to the alarm of the node.
import * as z from 'zod';
import { slotSchema, slotStateSchema } from '#shared/link/slot.ts';
import type { Journal } from '../journal/journal.ts';
import type { Rack } from '../modem/rack.ts';

/** A slot with its state for people. The state on the link has no `journal_unavailable`. */
export const shownSlotSchema = slotSchema.extend({
  state: z.enum([...slotStateSchema.options, 'journal_unavailable']),
});
export type ShownSlot = z.infer<typeof shownSlotSchema>;

interface Parts {
  readonly journal: Pick<Journal, 'isFailing'>;
  readonly rack: Pick<Rack, 'slots'>;
}

export function shownSlots({ journal, rack }: Parts): ShownSlot[] {
  const slots = rack.slots();
  if (!journal.isFailing) return slots;
  return slots.map((slot) =>
    slot.state === 'registered' ? { ...slot, state: 'journal_unavailable' } : slot,
  );
}
