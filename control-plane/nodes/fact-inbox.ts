// Facts of one link, committed in batches and in order; whatever comes during a commit is the next batch.
import type { Clock } from '#shared/clock.ts';
import type { Fact } from '#shared/link/messages.ts';
import type { Logger } from '#shared/log.ts';
import type { Bus } from '../bus/bus.ts';
import type { Database } from '../store/database/database.ts';
import { setAcknowledged } from '../store/fleet/node-links.ts';
import { keepOwnFacts } from '../store/fleet/waiting-facts.ts';
import { commitFacts } from './fact-commit.ts';

/** Facts that a node may send without an acknowledgement. */
export const FACT_WINDOW = 256;

export class FactInbox {
  readonly #options: {
    db: Database;
    bus: Bus;
    clock: Clock;
    log: Logger;
    nodeId: string;
    journalId: string;
    slotsWritten: () => Promise<void>;
    acknowledge: (sequence: number) => void;
    fail: (error: unknown) => void;
  };
  #queue: Array<{ sequence: number; fact: Fact }> = [];
  #received: number;
  readonly #first: number;
  #isStarted = false;
  #hasFailed = false;
  #running: Promise<void> | undefined;

  constructor(options: {
    db: Database;
    bus: Bus;
    clock: Clock;
    log: Logger;
    nodeId: string;
    journalId: string;
    /** Sequence up to which this journal is committed. */
    acknowledged: number;
    /** Of the oldest fact that the node keeps; 0 when it keeps none, and its next may be any. */
    oldestSequence: number;
    /** Resolves when the slots that the node reported so far are stored: a fact is of a SIM that it holds since then. */
    slotsWritten: () => Promise<void>;
    /** Called after each commit. */
    acknowledge: (sequence: number) => void;
    /** Called once when a batch cannot be committed; the node sends it again on its next link. */
    fail: (error: unknown) => void;
  }) {
    this.#options = options;
    const { acknowledged, oldestSequence } = options;
    this.#received = acknowledged;
    // The first may be later: the node may have forgotten what its older link committed since, or what an older copy
    // of this database does not know.
    this.#first = Math.max(acknowledged + 1, oldestSequence);
  }

  /**
   * Takes a fact. False when it leaves a gap or breaks the window. Facts that are known already are skipped, and all
   * that come after a failure: an acknowledgement of them would be one of those that were not committed.
   */
  push(sequence: number, fact: Fact): boolean {
    if (this.#hasFailed || sequence <= this.#received) return true;
    if (this.#isStarted ? sequence !== this.#received + 1 : sequence < this.#first) return false;
    if (this.#queue.length >= FACT_WINDOW) return false;
    this.#isStarted = true;
    this.#received = sequence;
    this.#queue.push({ sequence, fact });
    this.#running ??= this.#run();
    return true;
  }

  /** Resolves when what was taken is committed or given up. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      while (this.#queue.length > 0) {
        const batch = this.#queue;
        this.#queue = [];
        await this.#commit(batch);
      }
    } catch (error) {
      this.#hasFailed = true;
      this.#queue = [];
      this.#options.fail(error);
    } finally {
      this.#running = undefined;
    }
  }

  async #commit(batch: ReadonlyArray<{ sequence: number; fact: Fact }>): Promise<void> {
    const { db, bus, clock, log, nodeId, journalId, acknowledge } = this.#options;
    const last = batch.at(-1);
    if (last === undefined) return;
    await this.#options.slotsWritten();
    let putAside = 0;
    await commitFacts({ db, bus, clock, log }, nodeId, async (trx, now) => {
      // First of all: a link that was left may still be committing. What waited for it is not older than its messages.
      const before = await setAcknowledged(trx, { nodeId, journalId, sequence: last.sequence });
      // What that link has committed is known, also where its holder has deleted it since.
      const facts = batch
        .filter(({ sequence }) => sequence > before)
        .map(({ sequence, fact }) => ({ key: `${nodeId}/${journalId}/${sequence}`, fact }));
      const kept = await keepOwnFacts(trx, nodeId, facts, now());
      putAside = kept.putAside;
      return kept.own;
    });
    if (putAside > 0) log.warn({ facts: putAside }, 'facts wait: the node does not hold their SIMs');
    acknowledge(last.sequence);
  }
}
