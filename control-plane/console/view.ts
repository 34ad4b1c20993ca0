// The state that live pages show: read once for all viewers, rendered for each topic.
import type { Clock } from '#shared/clock.ts';
import type { Json } from '#shared/operator/procedure.ts';
import type { Bus } from '../bus/bus.ts';
import type { ListedAlert } from '../domain/alert.ts';
import type { Inventory } from '../metrics/inventory-metrics.ts';
import { onMetricEvent } from '../metrics/metric-events.ts';
import type { Operator } from '../operator/procedures/all-procedures.ts';
import { LIMIT_MAX } from '../operator/procedures/fields.ts';
import type { Database } from '../store/database/database.ts';
import { type FleetNode, readFleet } from '../store/fleet/fleet-nodes.ts';
import { findDownNumbers, type SoldNumber } from '../store/fleet/sold-numbers.ts';
import type { PaymentRow } from '../store/money/payment-list.ts';
import { listSlotEvents, type SlotHistoryEvent } from '../store/operations/events.ts';
import { takeInventory } from '../store/operations/inventory.ts';
import { readSamples, readSignal, type Sample } from '../store/operations/samples.ts';
import type { Fragment } from './live/live-topic.ts';
import { nodeFragments } from './pages/node-page.ts';
import { overviewFragments } from './pages/overview.ts';
import { RANGE_NAMES, type Range, spanOf } from './pages/plots.ts';
import { slotFragments } from './pages/slot-page.ts';
import { readTopic } from './topic.ts';

/** Changes are announced; the fleet is read again all the same, because an announcement can be lost. */
const FLEET_AGE_MS = 4_000;
const MONEY_AGE_MS = 4_000;
/** A sample is of a minute. */
const SAMPLES_AGE_MS = 15_000;

const EVENTS_SHOWN = 12;
const STUCK_SHOWN_MAX = 100;
/** More than a fleet of customers without service. */
const ALERTS_SHOWN_MAX = LIMIT_MAX;
const DOWN_SHOWN_MAX = 100;

interface ViewParts {
  db: Database;
  bus: Bus;
  clock: Clock;
  operator: Operator;
}

export class ConsoleView {
  readonly #parts: ViewParts;
  readonly #fleet: Reading<FleetNode[]>;
  readonly #down: Reading<SoldNumber[]>;
  readonly #inventory: Reading<Inventory>;
  readonly #stuck: Reading<Json<PaymentRow>[]>;
  readonly #alerts: Reading<Json<ListedAlert>[]>;
  readonly #events: Reading<SlotHistoryEvent[]>;
  readonly #samples: Readonly<Record<Range, Reading<Sample[]>>>;

  constructor(parts: ViewParts) {
    const { clock, db, operator } = parts;
    this.#parts = parts;
    const now = (): Date => new Date(clock.now());
    this.#fleet = new Reading(clock, FLEET_AGE_MS, () => readFleet(db, now()));
    this.#down = new Reading(clock, FLEET_AGE_MS, () => findDownNumbers(db, now(), DOWN_SHOWN_MAX));
    this.#inventory = new Reading(clock, MONEY_AGE_MS, () => takeInventory(db, now()));
    this.#stuck = new Reading(clock, MONEY_AGE_MS, async () => {
      const { rows } = await operator.call('payments', { isStuck: true, limit: STUCK_SHOWN_MAX });
      return rows;
    });
    this.#alerts = new Reading(clock, FLEET_AGE_MS, async () => {
      const { rows } = await operator.call('alerts', { state: 'open', limit: ALERTS_SHOWN_MAX });
      return rows;
    });
    this.#events = new Reading(clock, FLEET_AGE_MS, () => listSlotEvents(db, { limit: EVENTS_SHOWN }));
    const samplesOf = (range: Range) =>
      new Reading(clock, SAMPLES_AGE_MS, () => readSamples(db, spanOf(range, clock.now())));
    this.#samples = { hour: samplesOf('hour'), day: samplesOf('day'), week: samplesOf('week') };
  }

  /** Calls `onChange` after each change that pages may show, until the returned function is called. */
  follow(onChange: () => void): () => void {
    let isFollowing = true;
    this.#parts.bus.subscribe((event) => {
      if (!isFollowing) return;
      if (event.kind === 'tool_call_cancelled' || event.kind === 'sms_received') return;
      this.#fleetMoved();
      if (event.kind === 'node_changed') this.#events.stale();
      if (event.kind === 'subscription_changed') this.#moneyMoved();
      if (event.kind === 'operator_acted') this.changed();
      onChange();
    });
    const unobserve = onMetricEvent(({ kind }) => {
      if (kind !== 'payment_attempted' && kind !== 'reconciled') return;
      this.#moneyMoved();
      onChange();
    });
    return () => {
      isFollowing = false;
      unobserve();
    };
  }

  fleet(): Promise<FleetNode[]> {
    return this.#fleet.get();
  }

  /** Reads everything again after an action. */
  changed(): void {
    this.#fleetMoved();
    this.#events.stale();
    this.#moneyMoved();
  }

  sampled(): void {
    for (const range of RANGE_NAMES) this.#samples[range].stale();
  }

  /** The parts of a topic's page; none for a topic that is none. */
  async render(text: string): Promise<Fragment[]> {
    const topic = readTopic(text);
    if (topic === undefined) return [];
    const { clock, db } = this.#parts;
    const span = spanOf(topic.range, clock.now());
    const fleet = await this.#fleet.get();
    if (topic.of === 'fleet') {
      const [down, inventory, stuck, alerts, lately, samples, events] = await Promise.all([
        this.#down.get(),
        this.#inventory.get(),
        this.#stuck.get(),
        this.#alerts.get(),
        this.#samples.hour.get(),
        this.#samples[topic.range].get(),
        this.#events.get(),
      ]);
      return overviewFragments({ fleet, down, inventory, stuck, alerts, lately, samples, span, events });
    }
    const node = fleet.find(({ name }) => name === topic.node);
    if (topic.of === 'node') {
      const events = await listSlotEvents(db, { node: topic.node, limit: EVENTS_SHOWN });
      return nodeFragments(topic.node, node, events);
    }
    const [signals, down, events] = await Promise.all([
      readSignal(db, topic, span),
      this.#down.get(),
      listSlotEvents(db, { node: topic.node, slot: topic.slot, limit: EVENTS_SHOWN }),
    ]);
    const slot = node?.slots.find((each) => each.slot === topic.slot);
    const ofSlot = down.filter((number) => number.node === topic.node && number.slot === topic.slot);
    return slotFragments(slot, { down: ofSlot, signals, span, events });
  }

  #fleetMoved(): void {
    for (const reading of [this.#fleet, this.#down, this.#inventory]) reading.stale();
  }

  #moneyMoved(): void {
    this.#down.stale();
    this.#inventory.stale();
    this.#stuck.stale();
  }
}

/** A database reading, read once for all viewers, and again only when it may have changed. */
class Reading<T> {
  readonly #clock: Clock;
  readonly #load: () => Promise<T>;
  readonly #maxAgeMs: number;
  #value: Promise<T> | undefined;
  #readAt = 0;

  /** A value is used for `maxAgeMs`, unless `stale` is called before. */
  constructor(clock: Clock, maxAgeMs: number, load: () => Promise<T>) {
    this.#clock = clock;
    this.#maxAgeMs = maxAgeMs;
    this.#load = load;
  }

  /** The next caller causes a new read; earlier callers get the read that was under way. */
  stale(): void {
    this.#value = undefined;
  }

  get(): Promise<T> {
    const now = this.#clock.now();
    const age = now - this.#readAt;
    if (this.#value !== undefined && age >= 0 && age < this.#maxAgeMs) return this.#value;
    this.#readAt = now;
    const value = this.#load();
    this.#value = value;
    value.catch(() => {
      if (this.#value === value) this.#value = undefined;
    });
    return value;
  }
}
