// `node-daemon send <slot> <to> <text>`: one SMS, by the same way and with the same limits as the control plane's.
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { isE164 } from '#shared/identities.ts';
import type { SmsOutcome } from '#shared/link/messages.ts';
import { isAway } from '#shared/operator/operator-client.ts';
import { EXIT_CODES, OperatorError } from '#shared/operator/operator-error.ts';
import type { InputOf } from '#shared/operator/procedure.ts';
import { programCommand } from '#shared/process/commands.ts';
import { toJson } from '#shared/process/terminal.ts';
import type { DaemonSettings } from '../../config/options.ts';
import type { NodeOperator } from '../node-operator.ts';
import type { PROCEDURES } from '../procedures/all-procedures.ts';
import { JSON_OPTION, print, printAside, WHERE, withOperator } from './with-operator.ts';

/** A daemon that is restarted is back in this time. */
const DAEMON_BACK_MS = 30_000;

type Message = InputOf<typeof PROCEDURES, 'send'>;

export const SEND_COMMAND = programCommand({
  usage: 'send <slot> <to> <text>',
  about: 'Send an SMS once, and print the outcome.',
  options: {
    ...WHERE,
    json: JSON_OPTION,
    id: {
      about: 'Id of an earlier "send" whose outcome you did not see; a sent message is not sent again',
      schema: z.string().optional(),
    },
  },
  run: ({ json, id: usedId, ...where }, [slot = '', to = '', text = '']) =>
    withOperator('send', where, async (operator, settings) => {
      const id = usedId ?? `operator_${randomUUID()}`;
      // Before anything is sent: the outcome of a send that Ctrl-C ends can still be asked for.
      if (await mayBeSent(operator, { slot, to })) printAside(`id of this message: ${id}`);
      try {
        const outcome = await sendOnce(operator, settings, { slot, id, to, text });
        print(json ? toJson({ id, ...outcome }) : shown(outcome));
        process.exitCode = exitCodeOf(outcome);
        if (usedId !== undefined && outcome.is_repeat)
          printAside('a repeat: nothing was sent now; this is the outcome of the message with that id');
        if (outcome.status === 'unknown') printAside(askAgain(id));
      } catch (error) {
        if (error instanceof OperatorError && error.reason === 'unanswered') printAside(askAgain(id));
        throw error;
      }
    }),
});

/** Without such a slot or number there is no message, and an id would say that there is one. */
async function mayBeSent(
  operator: NodeOperator,
  { slot, to }: Pick<Message, 'slot' | 'to'>,
): Promise<boolean> {
  if (!isE164(to)) return false;
  // A daemon that does not answer now may still send.
  const slots = await operator.call('slots', {}).catch(() => undefined);
  return slots?.some((each) => each.slot === slot) ?? true;
}

/** Asks again, with the same id, when the daemon goes away before its answer. */
async function sendOnce(operator: NodeOperator, settings: DaemonSettings, message: Message) {
  const { daemonBack } = await import('../open-operator.ts');
  let giveUp: AbortSignal | undefined;
  for (let asked: NodeOperator | undefined = operator; asked !== undefined; ) {
    try {
      return await asked.call('send', message);
    } catch (error) {
      // Its modems are in service some seconds after a daemon is back.
      const isStarting =
        error instanceof OperatorError && error.reason === 'unavailable' && giveUp !== undefined;
      if (!asked.isRunningDaemon || giveUp?.aborted === true || !(isAway(error) || isStarting)) throw error;
      if (!isStarting) printAside(`${(error as Error).message}; trying again`);
      giveUp ??= AbortSignal.timeout(DAEMON_BACK_MS);
    }
    asked = await daemonBack(settings, giveUp);
  }
  throw new OperatorError('unanswered', 'the daemon stopped and did not come back');
}

const askAgain = (id: string): string =>
  `repeat the command with --id ${id} to see the outcome; nothing is sent twice`;

function shown(outcome: SmsOutcome): string {
  switch (outcome.status) {
    case 'accepted': {
      const { message_references: references } = outcome;
      const count = references.length === 1 ? '' : `${references.length} segments, `;
      return `accepted by the network (${count}reference ${references.join(', ')})`;
    }
    case 'rejected':
      return `rejected: ${outcome.code}${outcome.class === undefined ? '' : `, ${ADVICE[outcome.class]}`}: ${outcome.message}`;
    case 'unknown':
      return `unknown: the message may have been sent: ${outcome.message}`;
  }
}

const ADVICE = {
  retry: 'class retry (try again soon)',
  wait: 'class wait (fix the SIM or the modem first)',
  final: 'class final (the same message will be refused again)',
} as const;

function exitCodeOf({ status }: SmsOutcome): number {
  if (status === 'accepted') return 0;
  return status === 'rejected' ? EXIT_CODES.refused : EXIT_CODES.unanswered;
}
