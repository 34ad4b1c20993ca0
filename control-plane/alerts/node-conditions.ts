// The troubles of a whole node: away, unapproved, its alarms, and claims of SIMs that others have. Pure.
import { isNodeAlarm, NODE_ALARMS } from '#shared/operator/node-alarms.ts';
import { ownCommand } from '#shared/process/own-command.ts';
import type { AlertTrouble } from '../domain/alert.ts';
import type { NodeReading } from '../store/operations/fleet-snapshot.ts';

/** "; it has no SIM", ": its 3 SIMs cannot send or receive" */
const simsAway = (count: number): string =>
  count === 0 ? '; it has no SIM' : `: its ${count === 1 ? 'SIM' : `${count} SIMs`} cannot send or receive`;

export const offlineTrouble = ({ id, simsHeld }: NodeReading): AlertTrouble => ({
  kind: 'node_offline',
  subject: id,
  severity: 'critical',
  reading: null,
  summary: `node ${id} is offline${simsAway(simsHeld)}`,
  advice: 'Check the power and the network of its host, and the log of node-daemon on it.',
});

export const alarmTroubles = ({ alarms, id }: NodeReading): AlertTrouble[] =>
  alarms.filter(isNodeAlarm).map((alarm) => ({
    kind: 'node_alarm',
    subject: `${id}/${alarm}`,
    severity: NODE_ALARMS[alarm].severity,
    reading: null,
    summary: `node ${id}: ${NODE_ALARMS[alarm].means}`,
    advice: NODE_ALARMS[alarm].advice,
  }));

export const approvalAdvice = (id: string): string =>
  `Compare the fingerprint of ${id} with the one that "node-daemon enroll" printed, then run "${ownCommand('control-plane')} node approve ${id}".`;

/** A node with SIMs was in service before its new key. */
export const pendingTrouble = (id: string, simsHeld: number): AlertTrouble => ({
  kind: 'node_pending',
  subject: id,
  severity: simsHeld === 0 ? 'warning' : 'critical',
  reading: null,
  summary: `node ${id} waits for your approval${simsHeld === 0 ? '' : simsAway(simsHeld)}`,
  advice: approvalAdvice(id),
});

export function claimTrouble({
  id,
  claims: { disputed, isSuspended, late, others, sims },
}: NodeReading): AlertTrouble | undefined {
  if (sims === 0 && others === 0 && disputed === 0 && late === 0 && !isSuspended) return undefined;
  const what = [
    ...(sims === 0 ? [] : [`${sims} ${sims === 1 ? 'SIM' : 'SIMs'} of other nodes`]),
    ...(disputed === 0
      ? []
      : [
          `${disputed} ${disputed === 1 ? 'number' : 'numbers'} that SIMs of other nodes also report (not sold)`,
        ]),
    ...(others === 0 ? [] : [`${others} texts or calls of SIMs that it does not hold`]),
    ...(late === 0 ? [] : ['more than a rack has to report, and is read late']),
  ];
  return {
    kind: 'node_claims',
    subject: id,
    severity: isSuspended ? 'critical' : 'warning',
    reading: null,
    summary: `node ${id} reports ${what.join(', and ') || 'many SIMs that other nodes had, or that are unknown'}${
      isSuspended ? ': the service gives it no new SIMs' : ''
    }`,
    advice: claimAdvice({ disputed, isSuspended, others, sims }),
  };
}

function claimAdvice({ disputed, isSuspended, others, sims }: Omit<NodeReading['claims'], 'late'>): string {
  if (isSuspended)
    return 'If you moved the cards, approve the node again. Otherwise its key may be stolen: revoke it.';
  if (disputed > 0 && sims === 0)
    return 'Import the numbers with the ICCIDs of your cards: "control-plane number import". Revoke the node that does not have the cards.';
  if (sims === 0 && disputed === 0 && others === 0)
    return 'Read the log of its daemon. If the daemon sends nothing of the kind, the key of the node is stolen: revoke it.';
  return 'If you moved a card there, run "control-plane slot transfer". If the fleet file names another node for the card, correct it. Otherwise the key of the node may be stolen: revoke it.';
}
