// One AT command line for a modem, in turn with the daemon's own commands.
import * as z from 'zod';
import { OperatorError } from '#shared/operator/operator-error.ts';
import { SendingError } from '../../modem/sms/between-messages.ts';
import { type AtAnswer, askModem, atAnswerSchema, namesOf } from './at-answer.ts';
import { judge } from './at-safety.ts';
import { procedure, sessionIn, slotField, timeoutField } from './procedure.ts';

export const AT_PROCEDURE = procedure({
  input: z.object({
    slot: slotField,
    command: z
      .string()
      .max(512, 'must have at most 512 characters')
      .regex(/^[\x20-\x7e]*$/, 'must be one line of printable ASCII')
      .regex(/^\s*at/i, 'must begin with AT'),
    unsafe: z.boolean().default(false),
    timeout_ms: timeoutField,
    /** The line waits no longer than this for the daemon's own commands. */
    turn_ms: timeoutField,
  }),
  output: atAnswerSchema,
  audit: {
    isChange: ({ command }) => judge(command).kind !== 'safe',
    subject: ({ slot }) => slot,
    // Without parameters: a PIN or a number may be among them.
    detail: ({ command }, answer) => ({ command: namesOf(command), final: answer?.final }),
  },
  async run(context, { slot, command, unsafe, timeout_ms: timeoutMs, turn_ms: turnMs }) {
    const verdict = judge(command);
    if (verdict.kind === 'never') {
      throw new OperatorError('refused', `${verdict.command} is never sent to a modem: ${verdict.reason}`);
    }
    if (verdict.kind === 'unsafe' && !unsafe) {
      const { command: name, hint } = verdict;
      const instead = hint === undefined ? '' : ` (${hint})`;
      throw new OperatorError(
        'refused',
        `${name} may change settings or take minutes${instead}. Use --unsafe to send it.`,
      );
    }
    const session = sessionIn(context, slot);
    const ask = (): Promise<AtAnswer> => askModem(session.channel, command, { timeoutMs, turnMs });
    if (verdict.kind === 'safe') return ask();
    return session.changing(ask).catch((error) => {
      throw error instanceof SendingError
        ? new OperatorError('unavailable', `${error.message}: try again`, error)
        : error;
    });
  },
});
