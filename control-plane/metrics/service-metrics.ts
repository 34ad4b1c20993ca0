// All Prometheus metrics of the service. They contain no number, wallet, token, address or message text: labels have fixed values.
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { Instruments } from '#shared/process/instruments.ts';
import { alertMetrics, housekeepingMetrics, probeMetrics } from './background-metrics.ts';
import { callMetrics, type MeasuredCalls } from './call-metrics.ts';
import { type DatabaseConnections, databaseMetrics } from './database-metrics.ts';
import { fleetMetrics, type MeasuredNode } from './fleet-metrics.ts';
import { httpMetrics } from './http-metrics.ts';
import { type Inventory, type InventoryStates, inventoryMetrics } from './inventory-metrics.ts';
import { type Listeners, type MetricEvent, onMetricEvent } from './metric-events.ts';
import { paymentMetrics, relayerMetrics, type ShowFunds } from './payment-metrics.ts';
import { smsMetrics } from './sms-metrics.ts';
import { webhookMetrics } from './webhook-metrics.ts';

const PREFIX = 'simrack';

/** The state that is read at each scrape. */
export interface ServiceView extends MeasuredCalls {
  inventory(): Promise<Inventory>;
  inventoryStates: InventoryStates;
  /** Approved nodes. */
  fleet(): Promise<readonly MeasuredNode[]>;
  /** Claims that wait for a message. */
  waits(): number;
  /** Open requests to receivers of webhooks. */
  webhooks(): number;
  connections(): DatabaseConnections | undefined;
}

/** The metrics of one control plane, in a registry of its own. They count between `watch` and `stop`. */
export class ServiceMetrics {
  readonly registry = new Registry();
  /** Metrics of each node and slot, on a page of their own: their number grows with the fleet. */
  readonly fleetRegistry = new Registry();
  readonly #make = new Instruments(this.registry, PREFIX);
  readonly relayerFunds: ShowFunds = relayerMetrics(this.#make);
  readonly #listeners: Map<string, Array<(event: MetricEvent) => void>> = new Map();
  readonly #unsubscribe: () => void;
  readonly #clock: Clock;

  constructor({ clock, log }: { clock: Clock; log: Logger }) {
    this.#clock = clock;
    for (const subject of [httpMetrics, paymentMetrics, housekeepingMetrics, alertMetrics, probeMetrics])
      this.#listen(subject(this.#make));
    this.#unsubscribe = onMetricEvent((event) => {
      try {
        for (const listener of this.#listeners.get(event.kind) ?? []) listener(event);
      } catch (error) {
        // A failure of the metrics must not stop the work that they count.
        log.error({ err: error, kind: event.kind }, 'counting a metric event failed');
      }
    });
  }

  /** Adds metrics of the process: memory, CPU time, event loop lag. The event loop monitor runs until the process ends. */
  watchProcess(): void {
    collectDefaultMetrics({ register: this.registry });
  }

  /** Adds the state that is read at each scrape. */
  watch(view: ServiceView): void {
    const { inventory: read, inventoryStates: states } = view;
    inventoryMetrics(this.#make, { read, states, clock: this.#clock });
    fleetMetrics(new Instruments(this.fleetRegistry, PREFIX), { read: view.fleet, clock: this.#clock });
    this.#listen(smsMetrics(this.#make, view));
    this.#listen(webhookMetrics(this.#make, view));
    this.#listen(callMetrics(this.#make, view));
    this.#listen(databaseMetrics(this.#make, view.connections));
  }

  stop(): void {
    this.#unsubscribe();
  }

  #listen(listeners: Listeners): void {
    for (const [kind, listener] of Object.entries(listeners))
      this.#listeners.set(kind, [...(this.#listeners.get(kind) ?? []), listener as never]);
  }
}
