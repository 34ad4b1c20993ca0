// Keeps sockets of clients open only while their token is valid: closes them when it is revoked or its year ends, and limits their number.
import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { WebSocket } from 'ws';
import type { Timer } from '#shared/clock.ts';
import type { Random } from '#shared/random.ts';
import { TokenBucket } from '#shared/token-bucket.ts';
import { STREAM_CLOSE } from '#shared/voice/close-code.ts';
import type { Base } from '../../bus/base.ts';
import { tokenKey, tokenOf } from '../../domain/bearer-token.ts';
import { Refusal } from '../../domain/refusal.ts';
import type { Subscription } from '../../domain/subscription.ts';
import { emitMetric } from '../../metrics/metric-events.ts';
import { keepAlive } from '../../voice/pulse.ts';
import { closeSoon } from '../../voice/stream-client.ts';
import type { Authenticate } from '../bearer.ts';

/** A revocation whose event was lost, or was never sent, closes the sockets within this time: one query per token. */
const STEP_MS = 60_000;

/** The time between checks while events may be missed. Longer than answers about tokens are cached. */
const RECHECK_MS = 2_000;

/** A database that does not respond proves nothing about a token: the check is repeated. */
const ASK_AGAIN_MS = 1_000;

/** A client may open all its sockets a few times in a row, and some a second after that: each upgrade costs as much as many frames. */
const OPENING_BURST_FACTOR = 5;
const OPENINGS_PER_SECOND = 5;
const REMEMBERED_MAX = 10_000;

/** Retry time for a client that opens too many sockets. */
const RETRY_AFTER_SECONDS = 5;

interface SocketGuardParts extends Pick<Base, 'bus' | 'clock' | 'log'> {
  random: Random;
  authenticate: Authenticate;
  /** Address of the client. */
  addressOf: (request: IncomingMessage) => string;
  /** Open sockets per token. */
  socketsPerToken: number;
}

/** The state of one token with open sockets. */
interface Bearer {
  authorization: string;
  subscription: Subscription;
  sockets: Set<WebSocket>;
  timer: Timer | undefined;
  /** The check soon after a new socket. */
  recheck: Timer | undefined;
}

export class SocketGuard {
  readonly #parts: SocketGuardParts;
  /** The sockets that a subscription may open, with all its tokens. */
  readonly #openings = new LRUCache<string, TokenBucket>({ max: REMEMBERED_MAX });
  /** By the hash of the token. */
  readonly #bearers = new Map<string, Bearer>();

  constructor(parts: SocketGuardParts) {
    this.#parts = parts;
    parts.bus.subscribe((event) => {
      // An answer that was cached before the bus changed may be out of date.
      if (event.kind === 'bus_changed' && this.#bearers.size > 0)
        parts.clock.after(RECHECK_MS, () => this.#checkAll());
      if (event.kind === 'subscription_changed') this.#checkAll(event.subscriptionId);
    });
  }

  /** Throws `Refusal`: `unauthorized`; `rate_limited` for a token with too many sockets, or an address with too many attempts. */
  async admit(request: IncomingMessage): Promise<Subscription> {
    const { authorization } = request.headers;
    const subscription = await this.#parts.authenticate(authorization, this.#parts.addressOf(request));
    const open = this.#bearers.get(keyOf(authorization))?.sockets.size ?? 0;
    if (open >= this.#parts.socketsPerToken)
      throw tooMany(`A token may have at most ${this.#parts.socketsPerToken} open WebSockets.`);
    if (!this.#openingsOf(subscription.id).tryTake())
      throw tooMany('This number opens WebSockets too often.');
    return subscription;
  }

  #openingsOf(subscriptionId: string): TokenBucket {
    const { clock, socketsPerToken } = this.#parts;
    const known =
      this.#openings.get(subscriptionId) ??
      new TokenBucket(clock, {
        burst: OPENING_BURST_FACTOR * socketsPerToken,
        perSecond: OPENINGS_PER_SECOND,
      });
    this.#openings.set(subscriptionId, known);
    return known;
  }

  /** Guards a socket that was admitted. */
  keep(socket: WebSocket, authorization: string | undefined, subscription: Subscription): void {
    const key = keyOf(authorization);
    const bearer: Bearer = this.#bearers.get(key) ?? {
      authorization: authorization ?? '',
      subscription,
      sockets: new Set(),
      timer: undefined,
      recheck: undefined,
    };
    this.#bearers.set(key, bearer);
    bearer.sockets.add(socket);
    if (bearer.timer === undefined) this.#awaitExpiry(bearer);
    // The event of a revocation may have come after the token was read, and before this. More sockets do not postpone the check.
    bearer.recheck ??= this.#parts.clock.after(RECHECK_MS, () => {
      bearer.recheck = undefined;
      void this.#check(bearer);
    });
    keepAlive(socket, this.#parts);
    socket.on('error', (error) => this.#parts.log.debug({ err: error }, 'socket error'));
    socket.on('close', () => {
      bearer.sockets.delete(socket);
      if (bearer.sockets.size > 0) return;
      for (const timer of [bearer.timer, bearer.recheck]) timer?.cancel();
      if (this.#bearers.get(key) === bearer) this.#bearers.delete(key);
    });
  }

  /** Checks the bearers of one subscription, or of all. */
  #checkAll(subscriptionId?: string): void {
    for (const bearer of this.#bearers.values())
      if (subscriptionId === undefined || bearer.subscription.id === subscriptionId) void this.#check(bearer);
  }

  #awaitExpiry(bearer: Bearer): void {
    const { bus, clock } = this.#parts;
    const leftMs = bearer.subscription.expiresAt.getTime() - clock.now();
    this.#checkAfter(bearer, Math.min(Math.max(0, leftMs), bus.isConnected ? STEP_MS : RECHECK_MS));
  }

  #checkAfter(bearer: Bearer, ms: number): void {
    bearer.timer?.cancel();
    bearer.timer = this.#parts.clock.after(ms, () => void this.#check(bearer));
  }

  async #check(bearer: Bearer): Promise<void> {
    try {
      bearer.subscription = await this.#parts.authenticate(bearer.authorization);
      if (bearer.sockets.size > 0) this.#awaitExpiry(bearer);
    } catch (error) {
      if (error instanceof Refusal) {
        for (const socket of bearer.sockets)
          closeSoon(socket, this.#parts.clock, {
            code: STREAM_CLOSE.tokenEnded,
            reason: 'the token is no longer valid',
          });
        return;
      }
      this.#parts.log.warn({ err: error }, 'checking the token of a socket failed');
      if (bearer.sockets.size > 0) this.#checkAfter(bearer, ASK_AGAIN_MS);
    }
  }
}

function tooMany(message: string): Refusal {
  emitMetric({ kind: 'rate_limited', limit: 'sockets' });
  return new Refusal('rate_limited', message, { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } });
}

const keyOf = (authorization: string | undefined): string => tokenKey(tokenOf(authorization) ?? '');
