// The problems that need the operator now, the worst on top.
import { type Html, html } from '#shared/html.ts';
import { placeOfText } from '#shared/link/slot.ts';
import { isNodeAlarm, NODE_ALARMS } from '#shared/operator/node-alarms.ts';
import type { Json } from '#shared/operator/procedure.ts';
import { type Health, type Sign, soldStatus } from '#shared/operator/slot-health.ts';
import { reasonWords } from '#shared/operator/slot-reasons.ts';
import { alertKey, type ListedAlert } from '../../domain/alert.ts';
import type { AlertKind } from '../../domain/alert-kinds.ts';
import { maskedNumber, shownValue } from '../../domain/shown-value.ts';
import type { FleetNode } from '../../store/fleet/fleet-nodes.ts';
import type { SoldNumber } from '../../store/fleet/sold-numbers.ts';
import type { PaymentRow } from '../../store/money/payment-list.ts';
import { nodePath, numberPath, paymentPath, slotPath } from '../actions/paths.ts';
import { plain, shownAt } from './shown.ts';
import { sign } from './signs.ts';
import { slotStatusOf } from './slot-status.ts';

/** Entries of one kind that are listed; the rest are counted. */
const SHOWN_MAX = 8;

interface Trouble {
  health: Extract<Health, 'bad' | 'warn'>;
  sign: Sign;
  path: string;
  subject: string;
  what: Html | string;
  /** Key of the alert about it (`alertKey`). */
  alert?: string;
}

interface Attention {
  fleet: readonly FleetNode[];
  /** Paid numbers without service. */
  down: readonly SoldNumber[];
  stuck: readonly Json<PaymentRow>[];
  /** Those that are not over. */
  alerts: readonly Json<ListedAlert>[];
  /** Numbers that can be sold now. */
  available: number;
}

export function attention({ alerts, available, down, fleet, stuck }: Attention): Html {
  const sold = down.map(ofSold);
  const payments = stuck.map(ofPayment);
  const nodes = fleet.flatMap(ofNode);
  const slots = fleet.flatMap(ofSlots);
  const pool = available === 0 && fleet.length > 0 ? [EMPTY_POOL] : [];
  const seen = new Set([...sold, ...payments, ...nodes, ...slots, ...pool].map(({ alert }) => alert));
  const others = alerts.filter((alert) => !seen.has(alertKey(alert))).map(ofAlert);
  const troubles = [
    ...some(sold, '/subscriptions?state=down', 'numbers without service'),
    ...some(payments, '/payments?show=stuck', 'payments'),
    ...some(nodes, '/', 'nodes'),
    ...some(slots, '/', 'slots'),
    ...some(others.sort(worstFirst), '/alerts?state=open', 'alerts'),
    ...pool,
  ];
  if (troubles.length === 0)
    return html`<section id="attention" class="attention calm" aria-label="Attention"><p>${sign('check')}Nothing needs attention.</p></section>`;
  return html`<section id="attention" class="attention" aria-label="Attention"><h2>Needs attention</h2><ul>${troubles.map(
    ({ health, sign: name, path, subject, what }) =>
      html`<li class="${health}">${sign(name)}<a href="${path}">${subject}</a> <span>${what}</span></li>`,
  )}</ul></section>`;
}

const worstFirst = (a: Trouble, b: Trouble): number =>
  Number(a.health === 'warn') - Number(b.health === 'warn');

const EMPTY_POOL: Trouble = {
  alert: alertKey({ kind: 'pool_low', subject: 'pool' }),
  health: 'warn',
  sign: 'empty',
  path: '/numbers',
  subject: 'Pool',
  what: 'no numbers are on sale',
};

const ofSlotName = (subject: string): string => slotPath(placeOfText(subject));

/** The page that shows the trouble. An alert is shown for a while after the fleet is well again. */
const ALERT_PATHS: Readonly<Record<AlertKind, (subject: string) => string>> = {
  number_down: () => '/subscriptions?state=down',
  node_offline: nodePath,
  node_alarm: (subject) => nodePath(String(subject.split('/')[0])),
  node_pending: nodePath,
  sim_pin: ofSlotName,
  plan_ending: (iccid) => `/find?find=${encodeURIComponent(iccid)}`,
  sim_moved: ofSlotName,
  node_claims: nodePath,
  sending_limit: () => '/subscriptions',
  slot_down: ofSlotName,
  storage_full: ofSlotName,
  journal_growing: nodePath,
  relayer_low: () => '/payments',
  chain_unavailable: () => '/payments',
  relayer_key_missing: () => '/payments',
  payment_stuck: paymentPath,
  pool_low: () => '/numbers',
};

const ofAlert = ({
  advice,
  kind,
  severity,
  subject,
  summary,
  well_since: wellSince,
}: Json<ListedAlert>): Trouble => ({
  health: severity === 'critical' && wellSince === null ? 'bad' : 'warn',
  sign: wellSince === null ? 'cross' : 'wait',
  // A newer instance knows more kinds.
  path: (ALERT_PATHS as Partial<typeof ALERT_PATHS>)[kind]?.(subject) ?? '/',
  subject,
  what:
    wellSince === null
      ? `${withoutName(summary, subject)}. ${advice}`
      : html`over since ${shownAt(wellSince)}, and the alert ends soon: ${withoutName(summary, subject)}`,
});

/** "node rack-7 is offline" without "node rack-7", which stands before it as a link. */
function withoutName(summary: string, subject: string): string {
  const name = [`node ${subject} `, `node ${subject}: `].find((start) => summary.startsWith(start)) ?? '';
  return summary.slice(name.length);
}

function ofSold(sold: SoldNumber): Trouble {
  const { downSince, expiresAt, node, number, reason, slot, state, subscriptionId } = sold;
  const { sign: name, words } = soldStatus(state);
  const at = node === null ? '' : `${node}${slot === null ? '' : ` ${slot}`}`;
  const isElsewhere = state === 'node_revoked' || state === 'sim_missing';
  const place = at === '' ? '' : isElsewhere ? `; it was last in ${at}` : ` in ${at}`;
  const why = reason === null ? '' : ` (${reasonWords(reason)})`;
  const since = downSince === null ? '' : html` since ${shownAt(downSince)}`;
  return {
    alert: alertKey({ kind: 'number_down', subject: subscriptionId }),
    health: 'bad',
    sign: name,
    path: numberPath(number),
    subject: maskedNumber(number),
    what: html`customer without service${since}: ${words}${why}${place}; paid until ${shownAt(expiresAt)}`,
  };
}

function some(troubles: readonly Trouble[], path: string, name: string): Trouble[] {
  const rest = troubles.length - SHOWN_MAX;
  if (rest <= 0) return [...troubles];
  const more = { health: 'warn', sign: 'wait', path, subject: `${rest} more ${name}`, what: '' } as const;
  return [...troubles.slice(0, SHOWN_MAX), more];
}

const ofPayment = (payment: Json<PaymentRow>): Trouble => ({
  alert: alertKey({ kind: 'payment_stuck', subject: payment.id }),
  health: 'bad',
  sign: 'wait',
  path: paymentPath(payment.id),
  subject: payment.id,
  what: html`${shownValue(payment)}, ${plain(payment.state)} since ${shownAt(payment.since)}`,
});

function ofNode({ alarms, name, state, slots }: FleetNode): Trouble[] {
  const path = nodePath(name);
  const slotCount = `${slots.length} ${slots.length === 1 ? 'slot' : 'slots'}`;
  if (state === 'pending')
    return [
      {
        alert: alertKey({ kind: 'node_pending', subject: name }),
        health: slots.length === 0 ? 'warn' : 'bad',
        sign: 'lock',
        path,
        subject: name,
        what: `waits for your approval${slots.length === 0 ? '' : `; ${slotCount}`}`,
      },
    ];
  const away: Trouble[] =
    state === 'away'
      ? [
          {
            alert: alertKey({ kind: 'node_offline', subject: name }),
            health: 'bad',
            sign: 'away',
            path,
            subject: name,
            what: `no link; ${slotCount}`,
          },
        ]
      : [];
  return [
    ...away,
    ...alarms.map(
      (alarm): Trouble => ({
        alert: alertKey({ kind: 'node_alarm', subject: `${name}/${alarm}` }),
        ...(isNodeAlarm(alarm) && NODE_ALARMS[alarm].severity === 'warning'
          ? { health: 'warn', sign: 'wait' }
          : { health: 'bad', sign: 'cross' }),
        path,
        subject: name,
        what: plain(alarm),
      }),
    ),
  ];
}

const ofSlots = ({ slots }: FleetNode): Trouble[] =>
  slots.flatMap((slot): Trouble[] => {
    const status = slotStatusOf(slot);
    const { outOfService } = slot;
    if (outOfService?.by === 'probe') {
      const what = `out of service: ${outOfService.reason}`;
      return [
        { health: 'warn', sign: 'pause', path: slotPath(slot), subject: `${slot.node} ${slot.slot}`, what },
      ];
    }
    // Its node is named.
    if (slot.state === 'journal_unavailable') return [];
    // The alert of a slot that an operator took out of service ends, too.
    if (outOfService !== null || status.health !== 'bad') return [];
    const what = slot.reason === null ? status.words : `${status.words}: ${reasonWords(slot.reason)}`;
    return [
      {
        alert: alertKey({ kind: 'slot_down', subject: `${slot.node}/${slot.slot}` }),
        health: 'bad',
        sign: status.sign,
        path: slotPath(slot),
        subject: `${slot.node} ${slot.slot}`,
        what,
      },
    ];
  });
