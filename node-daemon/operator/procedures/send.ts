// One SMS, by the path and with the limits of the control plane's messages.
import * as z from 'zod';
import { E164_PATTERN, e164Problem } from '#shared/identities.ts';
import { type SmsOutcome, smsOutcomeSchema } from '#shared/link/messages.ts';
import { OperatorError } from '#shared/operator/operator-error.ts';
import { modemIn, notInService, procedure, slotField } from './procedure.ts';
import { shortDigestOf } from './sent-before.ts';

/** A message waits no longer in the queue of its SIM. */
const SEND_WITHIN_MS = 60_000;
/** As many as the API allows are enough by hand. */
const SEGMENTS_MAX = 10;
/** Codes of refusals for which the request is at fault. */
const INPUT_CODES = ['params_invalid', 'destination_not_allowed', 'rate_limited'];

export const SEND_PROCEDURE = procedure({
  input: z.object({
    slot: slotField,
    /** A message is sent once for an id. */
    id: z.string().regex(/^operator_[\w-]{8,48}$/, 'must be an id that "send" printed'),
    to: z.string().regex(E164_PATTERN, {
      error: ({ input }) => e164Problem('must be a number such as +12065550123', input),
    }),
    text: z.string().min(1, 'must not be empty').max(2000, 'must have at most 2000 characters'),
  }),
  /** `is_repeat`: the id was used before, and nothing was sent now. */
  output: smsOutcomeSchema.and(z.object({ is_repeat: z.boolean() })),
  audit: {
    subject: ({ slot }) => slot,
    detail: ({ id }, answer) => ({ id, status: answer?.status, is_repeat: answer?.is_repeat }),
  },
  async run(context, { slot, id, to, text }) {
    const { commands, host, sentBefore } = context;
    const digest = host.journal.digestOf(shortDigestOf(text));
    return sentBefore.give(id, { to, digest }, async (isRepeat) => {
      // A repeat finds its message whatever SIM is in the slot now.
      const iccid = host.journal.state.commands.get(id)?.iccid ?? modemIn(context, slot).slot.iccid;
      if (iccid === null) throw notInService(context, slot);
      const answer = await commands.handle({
        id,
        name: 'send_sms',
        timeLeftMs: SEND_WITHIN_MS,
        digest,
        params: { iccid, to, body: text, segments_max: SEGMENTS_MAX },
      });
      if (answer.ok) return { ...(answer.result as SmsOutcome), is_repeat: isRepeat };
      throw new OperatorError(
        INPUT_CODES.includes(answer.code) ? 'refused' : 'unavailable',
        `not sent (${answer.code}): ${answer.message}`,
      );
    });
  },
});
