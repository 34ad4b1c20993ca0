// Creates the metrics of one registry, with the prefix of the node.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export class Instruments {
  readonly #registers: Registry[];

  constructor(registry: Registry) {
    this.#registers = [registry];
  }

  counter<L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> {
    return new Counter({ name: `simrack_node_${name}_total`, help, labelNames, registers: this.#registers });
  }

  /** Creates a gauge whose labels and values are computed at each scrape, after the earlier ones are removed. */
  view<L extends string = never>(
    name: string,
    help: string,
    labelNames: readonly L[],
    read: (gauge: Gauge<L>) => void,
  ): void {
    new Gauge({
      name: `simrack_node_${name}`,
      help,
      labelNames,
      registers: this.#registers,
      collect() {
        this.reset();
        read(this as Gauge<L>);
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
    return new Histogram({
      name: `simrack_node_${name}_duration_seconds`,
      help,
      buckets,
      labelNames,
      registers,
    });
  }
}
