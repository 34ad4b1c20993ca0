// The operator API of the daemon: all procedures by name.
import * as z from 'zod';
import { shownSlotSchema, shownSlots } from '../../host/shown-slots.ts';
import { AT_PROCEDURE } from './at.ts';
import { modemIn, notInService, procedure, sessionIn, slotField } from './procedure.ts';
import { SEND_PROCEDURE } from './send.ts';
import { slotMessages, slotMessagesSchema } from './slot-messages.ts';
import { USSD_PROCEDURE } from './ussd.ts';

export const PROCEDURES = {
  slots: procedure({
    input: z.object({}),
    output: z.array(shownSlotSchema),
    run: async ({ host }) => shownSlots(host),
  }),
  at: AT_PROCEDURE,
  send: SEND_PROCEDURE,
  ussd: USSD_PROCEDURE,
  messages: procedure({
    input: z.object({ slot: slotField }),
    output: slotMessagesSchema,
    async run(context, { slot }) {
      const { iccid } = modemIn(context, slot).slot;
      const { inbox } = sessionIn(context, slot);
      if (inbox === undefined || iccid === null) throw notInService(context, slot);
      return slotMessages(await inbox.readAll(), iccid, context.host.journal.state);
    },
  }),
};
