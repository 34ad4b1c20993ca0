// Creates the metrics of one registry, with the prefix of the program.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Help of the gauges of SMS storage, which the daemon and the service both have. */
export const STORAGE_HELP = {
  used: 'Messages in the storage for received SMS; near 0 if the daemon works',
  size: 'Capacity of that storage; when it is full, SMS wait in the network',
} as const;

export class Instruments {
  readonly #registers: Registry[];
  readonly #prefix: string;

  constructor(registry: Registry, prefix: string) {
    this.#registers = [registry];
    this.#prefix = prefix;
  }

  /** `known`: values of the only label, shown as 0 before their first event. */
  counter<L extends string = never>(
    name: string,
    help: string,
    labelNames: readonly L[] = [],
    known: readonly string[] = [],
  ): Counter<L> {
    const counter = new Counter({
      name: `${this.#prefix}_${name}_total`,
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
    return new Gauge({ name: `${this.#prefix}_${name}`, help, labelNames, registers: this.#registers });
  }

  /** Calls `read` at each scrape to compute labels and values; the previous ones are cleared first. */
  view<L extends string = never>(
    name: string,
    help: string,
    labelNames: readonly L[],
    read: (gauge: Gauge<L>) => void | Promise<void>,
  ): void {
    new Gauge({
      name: `${this.#prefix}_${name}`,
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
    return new Histogram({ name: `${this.#prefix}_${name}_seconds`, help, buckets, labelNames, registers });
  }
}
