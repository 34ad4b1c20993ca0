// Facts of one link, committed in order and in batches: those that arrive during a commit are the next batch.
import type { Fact } from '#shared/link/messages.ts';
import type { Base } from '../bus/base.ts';
import { setAcknowledged } from '../store/fleet/node-links.ts';
import { keepOwnFacts } from '../store/fleet/waiting-facts.ts';
import { commitFacts } from './fact-commit.ts';

/** Facts that a node may send without an acknowledgement. */
export const FACT_WINDOW = 256;

interface FactInboxOptions extends Base {
  nodeId: string;
  journalId: string;
  /** Sequence up to which this journal is committed. */
  acknowledged: number;
  /** Sequence of the oldest fact that the node keeps; 0 if it keeps none, and then its next may have any. */
  oldestSequence: number;
  /** Resolves when the slots reported so far are stored: only then does the node hold the SIMs of its facts. */
  slotsWritten: () => Promise<void>;
  /** Called after each commit. */
  acknowledge: (sequence: number) => void;
  /** Called once when a batch cannot be committed; the node sends it again on its next link. */
  fail: (error: unknown) => void;
}

export class FactInbox {
  readonly #options: FactInboxOptions;
  #queue: Array<{ sequence: number; fact: Fact }> = [];
  #received: number;
  readonly #first: number;
  #isStarted = false;
  #hasFailed = false;
  #running: Promise<void> | undefined;

  constructor(options: FactInboxOptions) {
    this.#options = options;
    const { acknowledged, oldestSequence } = options;
    this.#received = acknowledged;
    // The first fact may be later. The node may have deleted facts that its previous link committed, or that an older copy of this database
    // does not contain.
    this.#first = Math.max(acknowledged + 1, oldestSequence);
  }

  /** Whether the fact came before, on this link or an earlier one. */
  has(sequence: number): boolean {
    return sequence <= this.#received;
  }

  /**
   * Accepts a fact. False if it leaves a gap or exceeds the window. Skips facts that are already committed, and all facts after a failure:
   * acknowledging those would acknowledge the failed ones.
   */
  push(sequence: number, fact: Fact): boolean {
    if (this.#hasFailed || this.has(sequence)) return true;
    if (this.#isStarted ? sequence !== this.#received + 1 : sequence < this.#first) return false;
    if (this.#queue.length >= FACT_WINDOW) return false;
    this.#isStarted = true;
    this.#received = sequence;
    this.#queue.push({ sequence, fact });
    this.#running ??= this.#run();
    return true;
  }

  /** Resolves when all facts that were taken are committed or given up. */
  async idle(): Promise<void> {
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
      // First of all: a previous link may still be committing. Facts that waited for it are no older than its messages.
      const before = await setAcknowledged(trx, { nodeId, journalId, sequence: last.sequence });
      // Facts that the previous link committed stay known, even if the holder has deleted their messages.
      const facts = batch
        .filter(({ sequence }) => sequence > before)
        .map(({ sequence, fact }) => ({ key: `${nodeId}/${journalId}/${sequence}`, fact }));
      const kept = await keepOwnFacts(trx, nodeId, facts, now());
      putAside = kept.putAside;
      return kept.own;
    });
    if (putAside > 0) log.warn({ facts: putAside }, 'facts set aside: the node does not hold their SIMs');
    acknowledge(last.sequence);
  }
}
