// Notices when transactions are mined: one poll of new blocks for all that wait, instead of a poll for each.
import type { Hex, PublicClient } from 'viem';
import { sleep, systemClock } from '#shared/clock.ts';

const POLL_MS = 200;

/** Blocks read per poll. After a longer gap the waits ask for themselves. */
const BLOCKS_MAX = 16n;

/** A wait also asks for itself this often: a reorganization, or a node that lags, may hide the block of its transaction. */
const ASK_EVERY_MS = 4_000;

/** Concurrent questions. The transactions of a block must not occupy the event loop together. */
const ASKERS = 4;

type Client = Pick<PublicClient, 'getBlock' | 'getBlockNumber'>;

interface Wait {
  hash: Hex;
  /** A block has its transaction. */
  isMined: boolean;
  /** Otherwise it asks at this time. */
  askAtMs: number;
  /** Asks, and ends the wait if there is an answer. Never rejects. */
  ask(): Promise<void>;
}

export class BlockWatch {
  readonly #client: Client;
  readonly #waits = new Set<Wait>();
  #isPolling = false;
  /** The first block that was not read yet. */
  #next: bigint | undefined;

  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * The answer of `ask` about a transaction: asked now, when a block has the transaction, and now and then. Undefined after `timeoutMs`
   * without an answer. Errors of the RPC do not end the wait.
   */
  async until<T>(hash: Hex, ask: () => Promise<T | undefined>, timeoutMs: number): Promise<T | undefined> {
    return new Promise((resolve) => {
      const end = (answer: T | undefined): void => {
        timer.cancel();
        this.#waits.delete(wait);
        resolve(answer);
      };
      const timer = systemClock.after(timeoutMs, () => end(undefined));
      const wait: Wait = {
        hash,
        isMined: false,
        askAtMs: 0,
        async ask() {
          wait.askAtMs = systemClock.now() + ASK_EVERY_MS;
          const answer = await ask().catch(() => undefined);
          if (answer !== undefined) end(answer);
        },
      };
      this.#waits.add(wait);
      // Most chains of a single node have mined it already.
      void wait.ask();
      if (!this.#isPolling) void this.#poll();
    });
  }

  async #poll(): Promise<void> {
    this.#isPolling = true;
    while (this.#waits.size > 0) {
      await this.#readBlocks().catch(() => undefined);
      await this.#askDue();
      await sleep(systemClock, POLL_MS);
    }
    this.#isPolling = false;
    this.#next = undefined;
  }

  async #readBlocks(): Promise<void> {
    const head = await this.#client.getBlockNumber({ cacheTime: 0 });
    // Kept before it is read: a block that the RPC cannot give yet is asked for again.
    this.#next ??= head;
    let next = this.#next;
    if (head - next >= BLOCKS_MAX) next = head - BLOCKS_MAX + 1n;
    for (; next <= head; next += 1n) {
      const { transactions } = await this.#client.getBlock({ blockNumber: next });
      this.#next = next + 1n;
      const mined = new Set(transactions);
      for (const wait of this.#waits) if (mined.has(wait.hash)) wait.isMined = true;
    }
  }

  async #askDue(): Promise<void> {
    const now = systemClock.now();
    const due = [...this.#waits].filter(({ askAtMs, isMined }) => isMined || askAtMs <= now);
    const askers = Array.from({ length: ASKERS }, async () => {
      for (let wait = due.shift(); wait !== undefined; wait = due.shift()) await wait.ask();
    });
    await Promise.all(askers);
  }
}
