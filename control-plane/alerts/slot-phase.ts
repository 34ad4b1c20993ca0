// The causes that the states of a slot give an alert, and the next step for each.
import { NODE_ALARMS } from '#shared/operator/node-alarms.ts';
import { PASSING_STATES, type ServiceState } from '#shared/operator/slot-health.ts';
import { reasonAdvice } from '#shared/operator/slot-reasons.ts';
import { ownCommand } from '#shared/process/own-command.ts';
import type { AlertTrouble } from '../domain/alert.ts';

const isRecovering = (state: ServiceState, reason: string | null): boolean =>
  state === 'starting' && reason === null;

/** A modem that USB resets, or that the daemon has yet to find after its own start, is `absent` for some seconds. */
const isPassing = (state: ServiceState, reason: string | null): boolean =>
  reason === 'absent' || (reason === null && PASSING_STATES.has(state));

export const phaseOf = (
  state: ServiceState,
  reason: string | null,
): Pick<AlertTrouble, 'isRecovering' | 'isPassing'> => ({
  isRecovering: isRecovering(state, reason),
  isPassing: isPassing(state, reason),
});

export function adviceOn(state: ServiceState, reason: string | null): string | undefined {
  if (isRecovering(state, reason))
    return `The daemon is restarting the modem. If that does not help, "${ownCommand('control-plane')} slot list" shows the cause within a few minutes.`;
  if (state === 'journal_unavailable') return NODE_ALARMS.journal_unavailable.advice;
  return reasonAdvice(reason) ?? STATE_ADVICE[state];
}

/** Advice for states whose reason says no more. */
const STATE_ADVICE: Partial<Record<ServiceState, string>> = {
  node_away: 'Check the power and the network of the host, and the log of node-daemon on it.',
  node_revoked: 'Put the card into another node.',
  sim_missing: 'Put the card into a slot.',
  sim_absent: 'Insert the card again, and clean its contacts.',
  unreached: 'Restart the modem, then try the card in a phone.',
};
