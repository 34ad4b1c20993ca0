// The figures on top of the first page: what there is, what is used, how well it goes.
import { type Html, html } from '#shared/html.ts';
import type { Json } from '#shared/operator/procedure.ts';
import type { Health } from '#shared/operator/slot-health.ts';
import type { Inventory } from '../../metrics/inventory-metrics.ts';
import type { FleetNode } from '../../store/fleet/fleet-nodes.ts';
import type { PaymentRow } from '../../store/money/payment-list.ts';
import type { Sample } from '../../store/operations/samples.ts';
import { isUp } from './slot-status.ts';

interface Tile {
  path: string;
  name: string;
  figure: string;
  note: string;
  health: Health;
}

export interface TileFacts {
  fleet: readonly FleetNode[];
  inventory: Inventory;
  stuck: readonly Json<PaymentRow>[];
  /** Samples of the last hour. */
  lately: readonly Sample[];
}

/** Below these a rate is shown as a trouble, percent. */
const DELIVERY_GOOD = 95;
const DELIVERY_BAD = 80;

/** Gaps that are heard, per 1,000 frames. */
const GAPS_GOOD = 5;
const GAPS_BAD = 20;

export const tiles = (facts: TileFacts): Html =>
  html`<section id="tiles" class="tiles" aria-label="At a glance">${tilesOf(facts).map(
    ({ path, name, figure, note, health }) =>
      html`<a class="tile ${health}" href="${path}"><span>${name}</span><b>${figure}</b><small>${note}</small></a>`,
  )}</section>`;

function tilesOf({ fleet, inventory, stuck, lately }: TileFacts): Tile[] {
  const slots = fleet.flatMap((node) => node.slots);
  const up = slots.filter(isUp).length;
  const calls = slots.filter(({ call }) => call?.isCustomers).length;
  const { numbers, soldNumbers, subscriptions } = inventory;
  const of = (counts: ReadonlyMap<string, number>, state: string): number => counts.get(state) ?? 0;
  const active = of(subscriptions, 'active');
  const down = active - of(soldNumbers, 'registered');
  const onSale = of(numbers, 'available');
  const offline = of(numbers, 'offline');
  return [
    {
      path: '#racks-title',
      name: 'Slots up',
      figure: `${up}/${slots.length}`,
      note: up === slots.length ? 'all registered' : `${slots.length - up} down`,
      health:
        slots.length === 0 ? 'off' : up === slots.length ? 'good' : up * 2 < slots.length ? 'bad' : 'warn',
    },
    {
      path: '/numbers?state=available',
      name: 'On sale',
      figure: String(onSale),
      note: some([
        [offline, 'offline'],
        [of(numbers, 'unswept'), 'waiting for a sweep'],
        [of(numbers, 'out_of_service'), 'out of service'],
      ]),
      health: onSale > 0 ? 'good' : 'warn',
    },
    {
      path: down > 0 ? '/subscriptions?state=down' : '/subscriptions',
      name: 'Subscriptions',
      figure: String(active),
      note: some([
        [down, 'without service'],
        [of(subscriptions, 'expired'), 'expired'],
      ]),
      health: down > 0 ? 'bad' : 'good',
    },
    {
      path: '#racks-title',
      name: 'Calls',
      figure: String(calls),
      note: 'right now',
      health: calls > 0 ? 'busy' : 'off',
    },
    ...traffic(lately),
    {
      path: '/payments?show=stuck',
      name: 'Payments stuck',
      figure: String(stuck.length),
      note: stuck.length === 0 ? 'none' : 'need attention',
      health: stuck.length === 0 ? 'good' : 'bad',
    },
  ];
}

/** Those that there are. */
const some = (counts: ReadonlyArray<readonly [count: number, of: string]>): string =>
  counts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count} ${what}`)
    .join(', ') || 'no problems';

/** Tiles of the texts and calls of the last hour. */
function traffic(samples: readonly Sample[]): Tile[] {
  const sum = (figureOf: (sample: Sample) => number): number =>
    samples.reduce((total, sample) => total + figureOf(sample), 0);
  const [sent, received] = [sum(({ smsSent }) => smsSent), sum(({ smsReceived }) => smsReceived)];
  const delivered = sum(({ smsDelivered }) => smsDelivered);
  const ended = delivered + sum(({ smsFailed }) => smsFailed);
  const delivery = ended === 0 ? undefined : (100 * delivered) / ended;
  const frames = sum(({ audioFrames }) => audioFrames);
  const gaps = frames === 0 ? undefined : (1000 * sum(({ audioGaps }) => audioGaps)) / frames;
  return [
    {
      path: '#plots',
      name: 'Messages, 1 h',
      figure: String(sent + received),
      note: `${sent} sent, ${received} received`,
      health: 'off',
    },
    {
      path: '#plots',
      name: 'Delivered, 1 h',
      figure: delivery === undefined ? '–' : `${Math.round(delivery)} %`,
      note: `of ${ended} with a known result`,
      health: graded(delivery, DELIVERY_GOOD, DELIVERY_BAD),
    },
    {
      path: '#plots',
      name: 'Audio gaps, 1 h',
      figure: gaps === undefined ? '–' : `${gaps.toFixed(1)} ‰`,
      note: `of ${minutes(frames)} of audio`,
      health: graded(gaps === undefined ? undefined : -gaps, -GAPS_GOOD, -GAPS_BAD),
    },
  ];
}

function graded(value: number | undefined, good: number, bad: number): Health {
  if (value === undefined) return 'off';
  if (value >= good) return 'good';
  return value >= bad ? 'warn' : 'bad';
}

/** Frames are of 20 ms. */
const minutes = (frames: number): string => `${Math.round((frames * 20) / 60_000)} min`;
