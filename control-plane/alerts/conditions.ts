// Derives troubles from the state of the fleet. Pure: other modules decide when an alert is sent, and to which channel.
import { isCarrierCode, shownCarrier } from '#shared/carriers/carrier-name.ts';
import { NODE_ALARMS } from '#shared/operator/node-alarms.ts';
import { SLOT_STATUS, soldStatus } from '#shared/operator/slot-health.ts';
import { reasonWords } from '#shared/operator/slot-reasons.ts';
import { ownCommand } from '#shared/process/own-command.ts';
import type { Config } from '../config/config.ts';
import type { AlertRule, AlertTrouble, OpenAlert } from '../domain/alert.ts';
import { alertKey } from '../domain/alert.ts';
import type { AlertKind } from '../domain/alert-kinds.ts';
import { maskedWallet } from '../domain/shown-value.ts';
import type { SoldNumber } from '../store/fleet/sold-numbers.ts';
import type { RelayedPayments } from '../store/money/relayed-payments.ts';
import type {
  ClosedChain,
  FleetSnapshot,
  NodeReading,
  SlotReading,
} from '../store/operations/fleet-snapshot.ts';
import type { SendingWarning } from '../store/operations/sending-warnings.ts';
import { movedTrouble, pinTrouble, planTrouble } from './card-conditions.ts';
import {
  alarmTroubles,
  approvalAdvice,
  claimTrouble,
  offlineTrouble,
  pendingTrouble,
} from './node-conditions.ts';
import { adviceOn, phaseOf } from './slot-phase.ts';

/** A node without a link for two periods of its heartbeat is offline. */
export type AlertThresholds = Pick<
  Config,
  | 'heartbeatMs'
  | 'relayerTransfersMin'
  | 'alertSlotDownMs'
  | 'alertStoragePercent'
  | 'alertJournalDepth'
  | 'alertPoolMin'
  | 'alertPlanDays'
>;

/** A storage has recovered at this many percentage points below the threshold. */
const STORAGE_MARGIN_PERCENT = 10;

/** A journal that has not become shorter in this time grows. */
const JOURNAL_MS = 10 * 60_000;

/** An operator works on a refund for this long; an older one was forgotten. */
const REFUNDING_MS = 10 * 60_000;

const MINUTE_MS = 60_000;

/** An RPC that returns sooner needs no operator. */
const UNREACHABLE_MS = MINUTE_MS;

/** Two nodes report a card for a moment while it moves. */
const HANDOVER_MS = MINUTE_MS;

/** A trouble that returns sooner is the same alert: a node may report it again and again. */
const STEADY_MS = 5 * MINUTE_MS;

export const rulesOf = ({ heartbeatMs, alertSlotDownMs }: AlertThresholds): Record<AlertKind, AlertRule> => ({
  number_down: { raiseAfterMs: alertSlotDownMs, recoverAfterMs: alertSlotDownMs },
  node_offline: { raiseAfterMs: 2 * heartbeatMs, recoverAfterMs: 2 * heartbeatMs },
  node_alarm: { raiseAfterMs: MINUTE_MS, recoverAfterMs: MINUTE_MS },
  node_pending: { raiseAfterMs: 0, recoverAfterMs: 0 },
  // A number that nearly used a limit is reported for an hour.
  sending_limit: { raiseAfterMs: 0, recoverAfterMs: 0 },
  sim_pin: { raiseAfterMs: MINUTE_MS, recoverAfterMs: STEADY_MS },
  plan_ending: { raiseAfterMs: 0, recoverAfterMs: 0 },
  sim_moved: { raiseAfterMs: 0, recoverAfterMs: 0 },
  node_claims: { raiseAfterMs: HANDOVER_MS, recoverAfterMs: 0 },
  slot_down: { raiseAfterMs: alertSlotDownMs, recoverAfterMs: alertSlotDownMs },
  storage_full: { raiseAfterMs: MINUTE_MS, recoverAfterMs: STEADY_MS },
  journal_growing: { raiseAfterMs: JOURNAL_MS, recoverAfterMs: 0 },
  relayer_low: { raiseAfterMs: 0, recoverAfterMs: 0 },
  // Each instance checks for itself: the alert is raised when one gets no response, and ends when all get one.
  chain_unavailable: { raiseAfterMs: 0, recoverAfterMs: MINUTE_MS },
  // The same: during a rotation one instance may have a key that another has not.
  relayer_key_missing: { raiseAfterMs: 0, recoverAfterMs: MINUTE_MS },
  payment_stuck: { raiseAfterMs: 0, recoverAfterMs: 0 },
  pool_low: { raiseAfterMs: MINUTE_MS, recoverAfterMs: STEADY_MS },
});

interface Findings {
  troubles: AlertTrouble[];
  /** False if the state is unknown now: the alert stays as it is. */
  isKnown(alert: Pick<OpenAlert, 'kind' | 'subject'>): boolean;
}

/** `isOpen`: whether the alert was raised and has not ended, which shifts the threshold. */
export function findTroubles(
  snapshot: FleetSnapshot,
  thresholds: AlertThresholds,
  isOpen: (trouble: Pick<AlertTrouble, 'kind' | 'subject'>) => boolean,
): Findings {
  const { now, nodes, payments, gas } = snapshot;
  const linked = new Map(nodes.map(({ id, isLinked }) => [id, isLinked]));
  // For a node that is away, only its absence is reported: the state of its slots is unknown.
  const isSilent = (subject: string): boolean => linked.get(String(subject.split('/')[0])) === false;
  const pending = new Set(snapshot.pending);
  const simsHeld = new Map(nodes.map((node) => [node.id, node.simsHeld]));
  const failing = new Set(
    nodes.filter(({ alarms }) => alarms.includes('journal_unavailable')).map(({ id }) => id),
  );
  const found = [
    ...snapshot.down.map((number) => numberTrouble(number, pending)),
    ...nodes
      .filter(({ isLinked }) => isLinked)
      .flatMap((node) => [journalTrouble(node, thresholds, isOpen), ...alarmTroubles(node)]),
    ...nodes.filter(({ id, isLinked }) => !isLinked && !pending.has(id)).map(offlineTrouble),
    ...snapshot.pending.map((id) => pendingTrouble(id, simsHeld.get(id) ?? 0)),
    ...nodes.map(claimTrouble),
    ...snapshot.sending.map(sendingTrouble),
    ...snapshot.locked.map(pinTrouble),
    ...snapshot.plans.map(planTrouble),
    ...snapshot.moved.map(movedTrouble),
    ...snapshot.slots
      .filter(({ nodeId }) => linked.get(nodeId) === true)
      .flatMap((slot) => [
        downTrouble(slot),
        storageTrouble(slot, failing.has(slot.nodeId), thresholds, isOpen),
      ]),
    ...[...gas].map((each) => gasTrouble(each, thresholds, isOpen)),
    ...snapshot.closedChains.map((chain) => chainTrouble(chain, now)),
    ...snapshot.relayed.map((payments) => keyTrouble(payments, snapshot.relayers)),
    ...payments.stuck.map((payment) => paymentTrouble(payment, now)),
    poolTrouble(snapshot, thresholds, isOpen),
  ].filter((trouble) => trouble !== undefined);
  return {
    troubles: [...new Map(found.map((trouble) => [alertKey(trouble), trouble])).values()],
    isKnown({ kind, subject }) {
      if (OF_LINKED_NODES.has(kind)) return !isSilent(subject);
      // A new key that waits is no link yet.
      if (kind === 'node_offline') return !pending.has(subject);
      if (kind === 'relayer_low')
        return !(gas.has(Number(subject)) && gas.get(Number(subject)) === undefined);
      return kind !== 'payment_stuck' || !payments.isCut;
    },
  };
}

function numberTrouble(
  { carrier, expiresAt, node, reason, slot, state, subscriptionId }: SoldNumber,
  pending: ReadonlySet<string>,
): AlertTrouble {
  const at = node === null ? '' : slot === null ? `on node ${node}` : `in slot ${slot} of node ${node}`;
  const isElsewhere = state === 'node_revoked' || state === 'sim_missing';
  const place = at === '' || isElsewhere ? '' : ` ${at}`;
  const last = at === '' || !isElsewhere ? '' : `; it was last ${at}`;
  const isPending = node !== null && state === 'node_away' && pending.has(node);
  const why = isPending ? ' (its new key waits for your approval)' : cause(reason);
  const first = isPending ? approvalAdvice(node) : (adviceOn(state, reason) ?? '');
  const program = ownCommand('control-plane');
  return {
    kind: 'number_down',
    subject: subscriptionId,
    severity: 'critical',
    reading: null,
    ...phaseOf(state, reason),
    summary: `the number of ${subscriptionId}, paid until ${expiresAt.toISOString().slice(0, 10)}, has no service${place}: ${soldStatus(state).words}${last}${why}${network(carrier)}`,
    advice:
      `${first} If it takes long, give the subscriber another number: "${program} subscription reassign ${subscriptionId}". "${program} subscription list --state down" shows all such numbers.`.trimStart(),
  };
}

function sendingTrouble({ limit, max, subscriptionId, used }: SendingWarning): AlertTrouble {
  return {
    kind: 'sending_limit',
    subject: subscriptionId,
    severity: 'warning',
    reading: null,
    summary: `the number of ${subscriptionId} has used ${used} of ${max} of its limit ${limit}`,
    advice:
      'The service refuses texts beyond the limit. If the subscriber sends advertisements, end the subscription before the carrier blocks the SIM.',
  };
}

/** Not a text of a modem. */
const network = (carrier: string | null): string =>
  carrier !== null && isCarrierCode(carrier) ? `; carrier: ${shownCarrier(carrier)}` : '';

/** In brackets; not a text of a modem. */
const cause = (reason: string | null): string =>
  reason !== null && /^\w+$/.test(reason) ? ` (${reasonWords(reason)})` : '';

/** Kinds about which a node without a link reports nothing. */
const OF_LINKED_NODES: ReadonlySet<AlertKind> = new Set([
  'slot_down',
  'storage_full',
  'journal_growing',
  'node_alarm',
  'sim_pin',
]);

type IsOpen = Parameters<typeof findTroubles>[2];

function journalTrouble(
  { id, journalDepth }: NodeReading,
  thresholds: AlertThresholds,
  isOpen: IsOpen,
): AlertTrouble | undefined {
  const about = { kind: 'journal_growing', subject: id } as const;
  const limit = isOpen(about) ? thresholds.alertJournalDepth / 2 : thresholds.alertJournalDepth;
  if (journalDepth === null || journalDepth < limit) return undefined;
  return {
    ...about,
    severity: 'critical',
    reading: journalDepth,
    summary: `the journal of node ${id} grows: ${journalDepth} facts are not acknowledged`,
    advice: 'The node keeps the facts. Check the log and the database of the service.',
  };
}

function downTrouble({ carrier, nodeId, slot, state, reason }: SlotReading): AlertTrouble | undefined {
  if (state === 'registered') return undefined;
  return {
    kind: 'slot_down',
    subject: `${nodeId}/${slot}`,
    severity: 'warning',
    reading: null,
    ...phaseOf(state, reason),
    summary: `slot ${slot} of node ${nodeId} is down: ${SLOT_STATUS[state].words}${cause(reason)}${network(carrier)}`,
    advice: adviceOn(state, reason) ?? 'Run "node-daemon doctor" on the host of the node.',
  };
}

function storageTrouble(
  { nodeId, slot, storage }: SlotReading,
  isJournalFailing: boolean,
  { alertStoragePercent: percent }: AlertThresholds,
  isOpen: IsOpen,
): AlertTrouble | undefined {
  if (storage === null || storage.total <= 0) return undefined;
  const about = { kind: 'storage_full', subject: `${nodeId}/${slot}` } as const;
  const { used, total } = storage;
  const limit = isOpen(about) ? percent - STORAGE_MARGIN_PERCENT : percent;
  if (used * 100 < limit * total) return undefined;
  return {
    ...about,
    severity: used >= total ? 'critical' : 'warning',
    reading: null,
    summary: `the message storage of slot ${slot} of node ${nodeId} has ${used} of ${total} places in use`,
    advice: isJournalFailing
      ? `The node leaves texts on the SIM while the disk refuses its journal. ${NODE_ALARMS.journal_unavailable.advice}`
      : 'A slot with a full storage cannot receive messages. To list them, run "node-daemon sms <slot>" on the host.',
  };
}

/** Fees fluctuate: the alert ends at a quarter more than the threshold. */
function gasTrouble(
  [chainId, transfers]: [number, number | undefined],
  { relayerTransfersMin }: AlertThresholds,
  isOpen: IsOpen,
): AlertTrouble | undefined {
  const about = { kind: 'relayer_low', subject: String(chainId) } as const;
  const limit = isOpen(about) ? relayerTransfersMin * 1.25 : relayerTransfersMin;
  if (transfers === undefined || (transfers >= limit && transfers > 0)) return undefined;
  return {
    ...about,
    severity: transfers === 0 ? 'critical' : 'warning',
    reading: null,
    summary: `the relayer on chain ${chainId} has gas for ${transfers} transfers`,
    advice: 'Send ether to the relayer. Its address is in the log of the service.',
  };
}

function chainTrouble({ chainId, reason, since }: ClosedChain, now: Date): AlertTrouble | undefined {
  if (reason !== 'misconfigured' && now.getTime() - since.getTime() < UNREACHABLE_MS) return undefined;
  const isUnreachable = reason === 'unreachable';
  return {
    kind: 'chain_unavailable',
    subject: String(chainId),
    severity: 'critical',
    reading: null,
    summary: isUnreachable
      ? `the RPC of chain ${chainId} does not respond: payments on it are closed`
      : `chain ${chainId} does not match the configuration: payments on it are closed`,
    advice: isUnreachable
      ? 'Check the RPC. Payments under way are finished once it responds.'
      : 'The log of the service names the difference. Correct the options and restart the service.',
  };
}

/** One alert for each chain. */
function keyTrouble(
  { chainId, inFlight, sender }: RelayedPayments,
  relayers: FleetSnapshot['relayers'],
): AlertTrouble | undefined {
  if (inFlight === 0 || relayers.get(chainId)?.includes(sender) !== false) return undefined;
  return {
    kind: 'relayer_key_missing',
    subject: String(chainId),
    severity: 'critical',
    reading: null,
    summary: `${inFlight} ${inFlight === 1 ? 'payment waits' : 'payments wait'} on chain ${chainId}: the service has no key of their relayer ${maskedWallet(sender)}`,
    advice: `Set RELAYER_FORMER_KEY_FILE to the file with that key, and restart the service. "${ownCommand('control-plane')} relayer show" lists the relayers.`,
  };
}

function paymentTrouble(
  { id, state, since, isPaid }: FleetSnapshot['payments']['stuck'][number],
  now: Date,
): AlertTrouble | undefined {
  if (state === 'refunding' && now.getTime() - since.getTime() < REFUNDING_MS) return undefined;
  const show = `"${ownCommand('control-plane')} payment show ${id}"`;
  return {
    kind: 'payment_stuck',
    subject: id,
    severity: 'critical',
    reading: null,
    summary: stuckSummary(id, state, isPaid),
    advice:
      state === 'taken_back'
        ? `${show} shows the subscription. "${ownCommand('control-plane')} subscription end" removes the unpaid year.`
        : `${show} shows its history.`,
  };
}

function stuckSummary(id: string, state: string, isPaid: boolean): string {
  if (state === 'taken_back')
    return `the chain reverted the transfer of payment ${id}: its subscription is unpaid`;
  if (state === 'refunding') return `the refund of payment ${id} is not finished`;
  return isPaid
    ? `payment ${id} (${state}) moved money but bought nothing`
    : `payment ${id} is stuck: ${state}`;
}

function poolTrouble(
  { available }: FleetSnapshot,
  { alertPoolMin: min }: AlertThresholds,
  isOpen: IsOpen,
): AlertTrouble | undefined {
  const about = { kind: 'pool_low', subject: 'pool' } as const;
  const limit = isOpen(about) ? min + Math.floor(min / 5) : min;
  if (available >= limit) return undefined;
  return {
    ...about,
    severity: available === 0 ? 'critical' : 'warning',
    reading: null,
    summary: available === 1 ? '1 number is available' : `${available} numbers are available`,
    advice: `"${ownCommand('control-plane')} number list" shows which are offline or out of service.`,
  };
}
