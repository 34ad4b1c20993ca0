// How fast the frames of a node are read. One with a stolen key, or a broken one, must not take the time of the others.
import { LRUCache } from 'lru-cache';
import type { Clock, Timer } from '#shared/clock.ts';
import { MODEM_FACTS } from '#shared/link/messages.ts';
import { TokenBucket } from '#shared/token-bucket.ts';
import { upTo } from '../bus/cache-size.ts';

/** A rack of 64 modems that starts, or loses its hub, sends a few frames for each. */
export const FRAME_BURST = 1_000;
/** Thereafter. A working rack sends a few in a second. */
export const FRAMES_PER_SECOND = 50;
const FRAMES = { burst: FRAME_BURST, perSecond: FRAMES_PER_SECOND };

/** A daemon that restarts, or a network that comes and goes, opens a few links in a minute. Each costs as much as many frames. */
const LINKS = { burst: 60, perSecond: 1 };

/** Limit of the audio frames of a SIM: two minutes at once, after a network pause, and ten times real time in the long run. */
const AUDIO = { burst: 6_000, perSecond: 500 };

/** Cost of a new fact: it has its own window as well. */
export const FACT_COST = 0.1;
/** Characters that cost as much as one more frame. */
const FRAME_UNIT_LENGTH = 16 * 1024;

/** Characters of the longest frame with a message of one PDU, which is one that could not be decoded, and with a call. */
const LENGTH = { message: 1_200, call: 600 };
const { calls, messages } = MODEM_FACTS;
/**
 * Limit of the facts of a SIM, in characters of their frames. They stay in the database. A node that keeps to the shares of its modems never
 * meets it.
 */
const FACTS = {
  burst: messages.burst * LENGTH.message + calls.burst * LENGTH.call,
  perSecond: messages.perSecond * LENGTH.message + calls.perSecond * LENGTH.call,
};

const REPORT_EVERY_MS = 60_000;
const NODES_MAX = 10_000;

/** A budget for each node, which all its links share. */
class KeyedBudgets {
  readonly #clock: Clock;
  readonly #size: { burst: number; perSecond: number };
  readonly #byNode = new LRUCache<string, TokenBucket>(upTo(NODES_MAX));

  constructor(clock: Clock, size: { burst: number; perSecond: number }) {
    this.#clock = clock;
    this.#size = size;
  }

  of(nodeId: string): TokenBucket {
    const budget = this.#byNode.get(nodeId) ?? new TokenBucket(this.#clock, this.#size);
    this.#byNode.set(nodeId, budget);
    return budget;
  }
}

/** The frames that nodes may send. */
export const frameBudgets = (clock: Clock): KeyedBudgets => new KeyedBudgets(clock, FRAMES);

/** The links that nodes may open. */
export const linkBudgets = (clock: Clock): KeyedBudgets => new KeyedBudgets(clock, LINKS);

const simBudgets = (clock: Clock, size: { burst: number; perSecond: number }) => {
  const budgets = new KeyedBudgets(clock, size);
  return { of: (nodeId: string, iccid: string): TokenBucket => budgets.of(`${nodeId} ${iccid}`) };
};

/** The messages on media links, of each SIM of a node. */
export const audioBudgets = (clock: Clock) => simBudgets(clock, AUDIO);

/** The characters of facts, of each SIM of a node. */
export const factBudgets = (clock: Clock) => simBudgets(clock, FACTS);

interface FrameLimiterParts {
  clock: Clock;
  /** Budget of the link, or one that all links of a node share. */
  budget: TokenBucket;
  /** The link. While it rests, the peer waits, and no frame is lost. */
  socket: { pause(): void; resume(): void };
  /** Called at most once a minute with the frames that were above the limit since. */
  onExceeded(frames: number): void;
}

/** Reads the frames of one link no faster than its budget allows. */
export class FrameLimiter {
  readonly #parts: FrameLimiterParts;
  #exceeded = 0;
  #reportedAtMs = -Infinity;
  #pause: Timer | undefined;
  #hasRested = false;

  constructor(parts: FrameLimiterParts) {
    this.#parts = parts;
  }

  /** Whether the link rests, or did since the last call. */
  takeRest(): boolean {
    const hasRested = this.#hasRested;
    this.#hasRested = this.#pause !== undefined;
    return hasRested;
  }

  /** Counts the length of a frame, in characters. */
  measure(length: number): void {
    this.count(length / FRAME_UNIT_LENGTH);
  }

  /** Counts a frame that was read, by its own budget or by another one. Above the limit, the next ones are read later. */
  count(cost = 1, budget = this.#parts.budget): void {
    const { socket } = this.#parts;
    if (budget.charge(cost) === 0) return;
    this.#exceeded += 1;
    this.#report();
    if (this.#pause !== undefined) return;
    socket.pause();
    this.#hasRested = true;
    this.#wait(budget);
  }

  /** The link has ended. */
  stop(): void {
    this.#pause?.cancel();
  }

  #wait(budget: TokenBucket): void {
    const { clock, socket } = this.#parts;
    this.#pause = clock.after(budget.debtMs, () => {
      // More frames were in the buffer that had been read, or came on another link.
      for (const each of [budget, this.#parts.budget]) if (each.debtMs > 0) return this.#wait(each);
      this.#pause = undefined;
      socket.resume();
    });
  }

  #report(): void {
    const nowMs = this.#parts.clock.now();
    if (nowMs - this.#reportedAtMs < REPORT_EVERY_MS) return;
    this.#reportedAtMs = nowMs;
    this.#parts.onExceeded(this.#exceeded);
    this.#exceeded = 0;
  }
}
