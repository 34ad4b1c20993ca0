// Messages both ways, planned ones, as fast as the rack takes them; what became of each is written down.
import { setTimeout as pause } from 'node:timers/promises';
import { digestOf } from './checker/check-claims.ts';
import type { MessagePlan } from './message-plan.ts';
import type { ClaimRecord, InboundRecord, OutboundRecord, SendAnswer } from './record.ts';
import type { SimulatedCarrier } from './simulated-carrier.ts';
import { type Subscriber, Unreachable } from './subscriber.ts';

/** Sends of one number at once. */
const SENDS_AT_ONCE = 2;
/** Parts that may wait for one modem at the carrier: enough to fill it when the daemon does not read. */
const WAITING_PARTS_MAX = 40;
/** Inbound messages go no further ahead of sends, so that both end together; per modem. */
const AHEAD_MAX = 60;
const IDLE_MS = 20;
/** After a send that failed: the modem or the service is away. */
const FAILED_PAUSE_MS = 400;
const CLAIM_IDLE_MS = 200;
const CLAIM_LIMIT = 100;

export class Traffic {
  readonly inbound = new Map<string, InboundRecord>();
  readonly outbound = new Map<string, OutboundRecord>();
  readonly claims: ClaimRecord[][];
  /** Accepted, both ways. */
  accepted = { inbound: 0, outbound: 0 };
  /** Sends that were not accepted, by reason. */
  readonly refusals = new Map<string, number>();
  claimed = 0;
  lastClaimAtMs = 0;
  /** When the last claim was begun; `Infinity` while claims go on. */
  claimedUntilMs = Number.POSITIVE_INFINITY;
  readonly #plan: MessagePlan;
  readonly #carrier: SimulatedCarrier;
  readonly #subscribers: readonly Subscriber[];
  readonly #perModem: number;
  readonly #waitingParts: number[];
  readonly #onProgress: (accepted: number) => void;
  readonly #ending = new AbortController();
  readonly #claiming = new AbortController();
  readonly #claimers: Promise<unknown>;

  /** `perModem` messages each way for each; `subscribers` by modem. */
  constructor(parts: {
    plan: MessagePlan;
    carrier: SimulatedCarrier;
    subscribers: readonly Subscriber[];
    perModem: number;
    onProgress: (accepted: number) => void;
  }) {
    const { plan, carrier, subscribers, perModem, onProgress } = parts;
    this.#plan = plan;
    this.#carrier = carrier;
    this.#subscribers = subscribers;
    this.#perModem = perModem;
    this.#onProgress = onProgress;
    this.claims = subscribers.map(() => []);
    this.#waitingParts = subscribers.map(() => 0);
    this.#claimers = Promise.all(subscribers.map((subscriber, modem) => this.#claim(modem, subscriber)));
  }

  /** Resolves when all were accepted, or after `end`. */
  async run(): Promise<void> {
    await Promise.all(
      this.#subscribers.flatMap((subscriber, modem) => [
        this.#post(modem, subscriber),
        this.#send(modem, subscriber),
      ]),
    );
  }

  /** Nothing more is begun; what was begun is awaited by `run`. */
  end(): void {
    this.#ending.abort();
  }

  async stopClaiming(): Promise<void> {
    this.claimedUntilMs = Date.now();
    this.#claiming.abort();
    await this.#claimers;
  }

  /** A modem took a message: there is room for another. */
  onDelivered(modem: number): void {
    this.#waitingParts[modem] = Math.max(0, (this.#waitingParts[modem] ?? 0) - 1);
  }

  #progress(way: 'inbound' | 'outbound'): void {
    this.accepted[way] += 1;
    this.#onProgress(this.accepted.inbound + this.accepted.outbound);
  }

  get #isEnding(): boolean {
    return this.#ending.signal.aborted;
  }

  async #post(modem: number, { number: to }: Subscriber): Promise<void> {
    const aheadMax = AHEAD_MAX * this.#subscribers.length;
    for (let index = 0; index < this.#perModem && !this.#isEnding; ) {
      const isAhead = this.accepted.inbound - this.accepted.outbound > aheadMax;
      if (isAhead || (this.#waitingParts[modem] ?? 0) > WAITING_PARTS_MAX) {
        await pause(IDLE_MS);
        continue;
      }
      const { key, from, text, parts, referenceBits } = this.#plan.inbound(modem, index);
      const fromMs = Date.now();
      const sms = { from, to, body: text, reference_bits: referenceBits };
      const taken = await this.#carrier.post(sms);
      if (taken === undefined) {
        await pause(IDLE_MS);
        continue;
      }
      if (taken.segments !== parts.length) throw new Error(`${key} was cut into ${taken.segments} parts`);
      index += 1;
      const known = this.inbound.get(key) ?? { key, modem, from, text, parts, posts: [] };
      known.posts.push({ id: taken.id, fromMs, untilMs: Date.now() });
      this.inbound.set(key, known);
      this.#waitingParts[modem] = (this.#waitingParts[modem] ?? 0) + parts.length;
      this.#progress('inbound');
    }
  }

  async #send(modem: number, subscriber: Subscriber): Promise<void> {
    let begun = 0;
    let accepted = 0;
    let underWay = 0;
    const one = async (): Promise<void> => {
      while (accepted + underWay < this.#perModem && !this.#isEnding) {
        const index = begun;
        begun += 1;
        underWay += 1;
        const answer = await this.#sendOne(modem, index, subscriber);
        underWay -= 1;
        if (answer.kind === 'accepted') {
          accepted += 1;
          this.#progress('outbound');
          continue;
        }
        const reason = answer.kind === 'refused' ? answer.reason : answer.kind;
        this.refusals.set(reason, (this.refusals.get(reason) ?? 0) + 1);
        await pause(FAILED_PAUSE_MS);
      }
    };
    await Promise.all(Array.from({ length: SENDS_AT_ONCE }, one));
  }

  /** Tries until the service has read the request once. */
  async #sendOne(modem: number, index: number, subscriber: Subscriber): Promise<SendAnswer> {
    const { key, to, toModem, text, parts } = this.#plan.outbound(modem, index);
    for (;;) {
      const fromMs = Date.now();
      try {
        const answer = await subscriber.send(to, text);
        this.outbound.set(key, { key, modem, to, toModem, text, parts, fromMs, untilMs: Date.now(), answer });
        return answer;
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        await pause(FAILED_PAUSE_MS);
      }
    }
  }

  async #claim(modem: number, subscriber: Subscriber): Promise<void> {
    while (!this.#claiming.signal.aborted) {
      const fromMs = Date.now();
      const received = await subscriber.receive(CLAIM_LIMIT).catch((error: unknown) => {
        if (error instanceof Unreachable) return [];
        throw error;
      });
      const messages = received?.map(({ id, from, body }) => ({ id, digest: digestOf({ from, body }) }));
      if (messages?.length !== 0) {
        this.claims[modem]?.push({ fromMs, untilMs: Date.now(), messages });
        this.claimed += messages?.length ?? 0;
        this.lastClaimAtMs = Date.now();
      }
      if (received?.length !== CLAIM_LIMIT) await pause(CLAIM_IDLE_MS);
    }
  }
}
