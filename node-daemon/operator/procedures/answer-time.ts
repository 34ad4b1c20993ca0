// How long a command waits for the daemon's answer: as long as the procedure may take, and no longer. Pure.
import type { InputOf } from '#shared/operator/procedure.ts';
import { timeoutOf } from '../../at/command-timeout.ts';
import { SUBMIT_TIMEOUT_MS } from '../../modem/sms/sms-submission.ts';
import type { PROCEDURES } from './all-procedures.ts';

type Procedures = typeof PROCEDURES;

/** A busy host, and a daemon in the middle of a compaction. */
const SPARE_MS = 10_000;
/** Before a line of the operator, the modem finishes the message that it is sending. */
const TURN_MS = SUBMIT_TIMEOUT_MS;
/** As in `send`: a message waits no longer in the queue of its SIM. */
const QUEUE_MS = 60_000;
/** The shortest segment of a long message, in UTF-16 units (3GPP TS 23.040 §9.2.3.24.1). */
const SEGMENT_UNITS_MIN = 66;
/** As in `ussd`: for each answer of the network. */
const USSD_ANSWER_MS = 60_000;
/** Two storages of 255 messages, each selected and listed at SIM speed. */
const STORAGES_MS = 2 * (15_000 + 60_000);

const LIMITS_MS: { readonly [N in keyof Procedures]: (input: InputOf<Procedures, N>) => number } = {
  slots: () => 0,
  at: ({ command, timeout_ms: timeoutMs }) => TURN_MS + (timeoutMs ?? timeoutOf(command.trim())),
  send: ({ text }) => QUEUE_MS + Math.ceil(text.length / SEGMENT_UNITS_MIN) * SUBMIT_TIMEOUT_MS,
  ussd: ({ replies = [], timeout_ms: timeoutMs = USSD_ANSWER_MS }) =>
    TURN_MS + (1 + replies.length) * timeoutMs,
  messages: () => TURN_MS + STORAGES_MS,
};

/** Returns the time after which a daemon that has not answered hangs, in ms. */
export const answerTimeMs = <N extends keyof Procedures>(name: N, input: InputOf<Procedures, N>): number =>
  LIMITS_MS[name](input) + SPARE_MS;
