// The causes that the states of a slot give an alert, and the next step for each.
import { NODE_ALARMS } from '#shared/operator/node-alarms.ts';
import type { ServiceState } from '#shared/operator/slot-health.ts';
import { reasonAdvice, reasonWords } from '#shared/operator/slot-reasons.ts';
import type { AlertTrouble } from '../domain/alert.ts';

const isRecovering = (state: ServiceState, reason: string | null): boolean =>
  state === 'starting' && reason === null;

/** A modem that USB resets, or that the daemon has yet to find after its own start, is `absent` for some seconds. */
const isPassing = (state: ServiceState, reason: string | null): boolean =>
  reason === ABSENT || (reason === null && PASSING_STATES.has(state));

const ABSENT = 'absent';
const PASSING_STATES: ReadonlySet<ServiceState> = new Set(['starting', 'searching', 'unbound']);

export const phaseOf = (
  state: ServiceState,
  reason: string | null,
): Pick<AlertTrouble, 'isRecovering' | 'isPassing' | 'isPresentCause' | 'contradicts'> => ({
  isRecovering: isRecovering(state, reason),
  isPassing: isPassing(state, reason),
  isPresentCause: true,
  ...(reason === ABSENT ? {} : { contradicts: reasonWords(ABSENT) }),
});

export function adviceOn(state: ServiceState, reason: string | null): string | undefined {
  if (isRecovering(state, reason))
    return 'The daemon is restarting the modem. If that does not help, "slot list" shows the cause within a few minutes.';
  if (state === 'journal_unavailable') return NODE_ALARMS.journal_unavailable.advice;
  return reasonAdvice(reason);
}
