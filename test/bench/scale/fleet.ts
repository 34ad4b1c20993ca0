// A fleet of simulated nodes in processes beside the bench.
import { newNodeCode } from '#control-plane/nodes/registry.ts';
import { openDatabase } from '#control-plane/store/database/database.ts';
import { type Child, startChild } from '../child.ts';
import { nodeName } from './numbered-sims.ts';

const PROCESSES = 2;

/** Links that were lost and made since `watch`. */
interface Watched {
  /** Nodes that lost their link. */
  lost: number;
  /** When each got another one (ms since the Unix epoch); 0: not yet. */
  linkedAt: number[];
  /** Nodes that have a link now. */
  linked: number;
}

export class Fleet {
  readonly #processes: readonly Child[];

  private constructor(processes: readonly Child[]) {
    this.#processes = processes;
  }

  /** Starts the processes and enrolls nodes as an operator does: a code for each. `first`: number of the first node. */
  static async enrolled(
    url: string,
    { databaseUrl, nodes, first = 0 }: { databaseUrl: string; nodes: number; first?: number },
  ): Promise<Fleet> {
    const codes: Array<[number, string]> = [];
    const { db, close } = await openDatabase({ url: databaseUrl, connectionsMax: 1 });
    for (let node = first; node < first + nodes; node += 1)
      codes.push([node, (await newNodeCode(db, nodeName(node), new Date())).code]);
    await close();
    const fleet = new Fleet(
      await Promise.all(
        Array.from({ length: PROCESSES }, () => startChild('test/bench/scale/fleet-process.ts')),
      ),
    );
    await fleet.#ask((index) => ({
      do: 'enroll',
      url,
      codes: codes.filter((_, each) => each % PROCESSES === index),
    }));
    return fleet;
  }

  get pids(): number[] {
    return this.#processes.map(({ pid }) => pid);
  }

  /** Starts the links of `nodes` more nodes at once, and resolves when they are up. Throws if they are not in time. */
  async link(nodes: number, withinMs = 60_000): Promise<void> {
    const answers = (await this.#ask(() => ({ do: 'link', count: nodes / PROCESSES, withinMs }))) as Array<{
      linked: number;
      started: number;
    }>;
    const linked = sum(answers.map((each) => each.linked));
    const started = sum(answers.map((each) => each.started));
    if (linked < started) throw new Error(`${linked} of ${started} nodes have a link`);
  }

  async watch(): Promise<void> {
    await this.#ask(() => ({ do: 'watch' }));
  }

  async watched(): Promise<Watched> {
    const answers = (await this.#ask(() => ({ do: 'watched' }))) as unknown as Watched[];
    return {
      lost: sum(answers.map(({ lost }) => lost)),
      linkedAt: answers.flatMap(({ linkedAt }) => linkedAt),
      linked: sum(answers.map(({ linked }) => linked)),
    };
  }

  /** Texts a second that are acknowledged to this many nodes. */
  async factsPerSecond(load: {
    nodes: number;
    outstanding: number;
    warmUpMs: number;
    forMs: number;
  }): Promise<number> {
    const answers = (await this.#ask(() => ({
      do: 'facts',
      ...load,
      nodes: load.nodes / PROCESSES,
    }))) as Array<{ facts: number; seconds: number }>;
    return sum(answers.map(({ facts, seconds }) => facts / seconds));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.stop()));
  }

  #ask(requestOf: (index: number) => Record<string, unknown>): Promise<Array<Record<string, unknown>>> {
    return Promise.all(this.#processes.map((process, index) => process.ask(requestOf(index))));
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
