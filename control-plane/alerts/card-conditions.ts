// Troubles of SIM cards: PINs that did not open them, plans that run out, and cards that moved to another node. Pure.
import { reasonWords } from '#shared/operator/slot-reasons.ts';
import { ownCommand } from '#shared/process/own-command.ts';
import type { AlertTrouble } from '../domain/alert.ts';
import { type LockedCard, PIN_REFUSED, PIN_UNREADABLE } from '../store/cards/card-pins.ts';
import type { PlanEnd } from '../store/cards/plan-ends.ts';
import type { MovedNumber } from '../store/fleet/sold-numbers.ts';

export function pinTrouble({ node, reason, sentTo, slot, state }: LockedCard): AlertTrouble {
  const about = {
    kind: 'sim_pin',
    subject: `${node}/${slot}`,
    severity: 'warning',
    reading: null,
  } as const;
  const retry = `"${ownCommand('control-plane')} fleet retry-pin ${node}/${slot}"`;
  const where = `the SIM in slot ${slot} of node ${node} is locked`;
  if (reason === PIN_UNREADABLE)
    return {
      ...about,
      summary: `${where}: the service cannot open its PIN`,
      advice: 'Restore the file of PIN_KEY_FILE, or apply the fleet file with the PIN again.',
    };
  if (state === 'wrong')
    return {
      ...about,
      summary: `${where}: the PIN of the fleet file did not open it (${reasonWords(reason ?? 'sim_pin')})`,
      advice: `The service does not try it again. Correct the PIN in the fleet file and apply it. If the PIN is right, run ${retry}.`,
    };
  if (state === 'untried' && reason === PIN_REFUSED)
    return {
      ...about,
      summary: `${where}: the node did not take its PIN`,
      advice: `A PIN in the node's own file comes first: correct that one. Otherwise the log of the service has the reason. The service sends the PIN again every hour; to send it now, run ${retry}.`,
    };
  if (state === 'sent' && sentTo !== null && sentTo !== node)
    return {
      ...about,
      summary: `${where}: its PIN was given to node ${sentTo} before, and it is unknown whether it is right`,
      advice: `Check whether node ${sentTo} ever had the card. If not, its key may be stolen: revoke it. Then run ${retry}.`,
    };
  return {
    ...about,
    summary: `${where}: ${
      state === 'sent' ? 'the node has its PIN, but the card is not open' : 'the node has not got its PIN'
    }`,
    advice: `Check the log of the node, and whether other cards of the node refused their PINs. To try again, run ${retry}.`,
  };
}

export function planTrouble({ daysLeft, iccid, isSold, label, lastDay, plan }: PlanEnd): AlertTrouble {
  const card = `SIM ${iccid}${label === null ? '' : ` (${label})`}`;
  const isOver = daysLeft < 0;
  const of = plan === null ? 'the plan' : `the plan ${plan}`;
  const sold = isSold ? '; a customer has its number' : '';
  return {
    kind: 'plan_ending',
    subject: iccid,
    severity: isOver && isSold ? 'critical' : 'warning',
    reading: null,
    summary: isOver
      ? `${of} of ${card} ended on ${lastDay}${sold}`
      : `${of} of ${card} ends on ${lastDay}, ${inDays(daysLeft)}${sold}`,
    advice: 'Renew it at the carrier. Then apply the fleet file with the new plan_expires.',
  };
}

/** A stolen node key can claim a SIM that is away, and then forge texts to its subscriber. */
export const movedTrouble = ({ from, node, slot, subscriptionId }: MovedNumber): AlertTrouble => ({
  kind: 'sim_moved',
  subject: `${node}/${slot}`,
  severity: 'warning',
  reading: null,
  summary: `the SIM of ${subscriptionId} moved from node ${from} to slot ${slot} of node ${node}, which never had it`,
  advice: `If you moved the card, do nothing. Otherwise the key of node ${node} may be stolen: run "${ownCommand('control-plane')} node revoke ${node}".`,
});

const inDays = (days: number): string => (days === 0 ? 'today' : days === 1 ? 'tomorrow' : `in ${days} days`);
