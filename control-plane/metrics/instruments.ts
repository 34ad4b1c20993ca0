// Creates the instruments of one registry, with the prefix of the service; and the type of event listeners.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { MetricEvent } from './metric-events.ts';

/** Handlers of the metric events of one subject. */
export type Listeners = {
  readonly [K in MetricEvent['kind']]?: (event: Extract<MetricEvent, { kind: K }>) => void;
};

/** Seconds, from a read in memory to a request that waits for a carrier or a block. */
export const WAIT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export class Instruments {
  readonly #registers: Registry[];

  constructor(registry: Registry) {
    this.#registers = [registry];
  }

  /** `known`: values of the only label, shown as 0 before their first event. */
  counter<L extends string = never>(
    name: string,
    help: string,
    labelNames: readonly L[] = [],
    known: readonly string[] = [],
  ): Counter<L> {
    const counter = new Counter({
      name: `simrack_${name}_total`,
      help,
      labelNames,
      registers: this.#registers,
    });
    const [label] = labelNames;
    if (label !== undefined)
      for (const value of known) counter.inc({ [label]: value } as Record<L, string>, 0);
    return counter;
  }

  gauge<L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> {
    return new Gauge({ name: `simrack_${name}`, help, labelNames, registers: this.#registers });
  }

  /** Calls `read` at each scrape to compute labels and values; the previous ones are cleared first. */
  view<L extends string = never>(
    name: string,
    help: string,
    labelNames: readonly L[],
    read: (gauge: Gauge<L>) => void | Promise<void>,
  ): void {
    new Gauge({
      name: `simrack_${name}`,
      help,
      labelNames,
      registers: this.#registers,
      async collect() {
        this.reset();
        await read(this as Gauge<L>);
      },
    });
  }

  histogram<L extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: readonly L[] = [],
  ): Histogram<L> {
    const registers = this.#registers;
    return new Histogram({ name: `simrack_${name}_seconds`, help, buckets, labelNames, registers });
  }
}
