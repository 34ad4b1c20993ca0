// One USSD dialogue with the network.
import * as z from 'zod';
import { OperatorError } from '#shared/operator/operator-error.ts';
import { AtError, AtTimeoutError, CmeError, PortClosedError } from '../../at/at-error.ts';
import { UssdBusyError, UssdCancelledError, UssdTimeoutError } from '../../modem/network/ussd.ts';
import { cmeMeaning } from '../../modem/sms/sms-errors.ts';
import { modemIn, notInService, procedure, sessionIn, slotField, timeoutField } from './procedure.ts';

export const USSD_PROCEDURE = procedure({
  input: z.object({
    slot: slotField,
    code: z.string().regex(/^[0-9*#+]{1,64}$/, 'must have 1 to 64 digits, "*" and "#", such as *100#'),
    /** The answers to the questions of the network, in order. */
    replies: z
      .array(z.string().regex(/^[\x20-\x7e]{1,160}$/, 'must be printable ASCII'))
      .max(10)
      .default([]),
    timeout_ms: timeoutField,
  }),
  output: z.object({
    /** Null where the network sent no text. */
    text: z.string().nullable(),
    /** Whether the network waits for a reply. */
    waits: z.boolean(),
    /** The problem, where there is no answer. */
    problem: z.string().nullable(),
  }),
  audit: {
    subject: ({ slot }) => slot,
    // The rest of a code may be a PIN or the number of a voucher.
    detail: ({ code, replies }) => ({ code: /^[*#]+\d{1,3}/.exec(code)?.[0], replies: replies.length }),
  },
  async run(context, { slot, code, replies, timeout_ms: timeoutMs }) {
    if (modemIn(context, slot).slot.state !== 'registered') throw notInService(context, slot);
    const { ussd } = sessionIn(context, slot);
    try {
      return await ussd.run(code, replies, { timeoutMs, signal: context.caller.signal });
    } catch (error) {
      throw ussdError(error);
    }
  },
});

function ussdError(error: unknown): unknown {
  if (error instanceof UssdBusyError) return new OperatorError('unavailable', error.message, error);
  if (error instanceof UssdCancelledError) return new OperatorError('refused', error.message, error);
  if (error instanceof UssdTimeoutError) return new OperatorError('unanswered', error.message, error);
  if (error instanceof CmeError) {
    return new OperatorError('refused', `+CME ERROR: ${error.code} (${cmeMeaning(error.code).name})`, error);
  }
  if (error instanceof AtTimeoutError) return new OperatorError('unanswered', error.message, error);
  if (error instanceof PortClosedError)
    return new OperatorError('unavailable', 'the modem disconnected', error);
  if (error instanceof AtError)
    return new OperatorError('refused', `the modem refuses: ${error.message}`, error);
  return error;
}
