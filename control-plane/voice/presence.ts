// Presence: what happens to the calls of a subscription, pushed to every socket that watches it.
import { LRUCache } from 'lru-cache';
import type { WebSocket } from 'ws';
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Bus } from '../bus/bus.ts';
import type { Subscription } from '../domain/subscription.ts';
import type { Database } from '../store/database/database.ts';
import { type CallRow, type EndedCall, findRinging } from '../store/messages/calls.ts';
import type { LiveCalls } from './live-calls.ts';

/** A client that has not read this much is cut off: hundreds of events. */
const BUFFERED_BYTES_MAX = 64 * 1024;

/** A call that rings is noted again by each round of housekeeping. */
const RINGING_SEEN_MS = 3 * 60_000;

/** Remembered events, so that each is sent once: a link that moves reports its calls again. */
const TOLD_MAX = 10_000;

export interface PresenceParts {
  live: LiveCalls;
  db: Database;
  bus: Bus;
  clock: Clock;
  log: Logger;
  /** The URL of a call's stream. */
  streamUrl: (callId: string) => string;
}

export class Presence {
  readonly #parts: PresenceParts;
  /** By subscription: a later holder of a number hears nothing of an earlier one's calls. */
  readonly #sockets = new Map<string, Set<WebSocket>>();
  readonly #told = new LRUCache<string, true>({ max: TOLD_MAX });

  constructor(parts: PresenceParts) {
    this.#parts = parts;
    parts.live.watch((call) => this.#onChanged(call));
    parts.bus.subscribe((event) => {
      if (event.kind === 'call_changed' && event.instance !== parts.live.instance)
        this.#onChanged(event.call);
      if (event.kind === 'call_ended') this.#onEnded(event.call);
    });
  }

  /** Sends the socket the calls that ring now, and all events until it is closed. */
  add(socket: WebSocket, { id }: Subscription): void {
    const sockets = this.#sockets.get(id) ?? new Set();
    this.#sockets.set(id, sockets.add(socket));
    socket.on('close', () => {
      sockets.delete(socket);
      if (sockets.size === 0 && this.#sockets.get(id) === sockets) this.#sockets.delete(id);
    });
    this.#replay(socket, id).catch((error: unknown) =>
      this.#parts.log.warn({ err: error }, 'calls that ring elsewhere are not told'),
    );
  }

  /** Those of this instance at once, and then those that only another one has. */
  async #replay(socket: WebSocket, subscriptionId: string): Promise<void> {
    const { live, db, clock } = this.#parts;
    for (const call of live.ringing(subscriptionId)) send(socket, this.#ringing(call));
    const stored = await findRinging(db, subscriptionId, new Date(clock.now() - RINGING_SEEN_MS));
    for (const call of stored) {
      // Skips calls that were answered or ended during the read, and calls that ring here.
      const isPast = ['answered', 'ended'].some((kind) => this.#told.has(`${kind} ${call.callId}`));
      const isHere = live.find(call.callId, subscriptionId) !== undefined;
      if (!isPast && !isHere) send(socket, this.#ringing(call));
    }
  }

  #onChanged(call: CallRow): void {
    if (call.state === 'ringing' && call.direction === 'inbound')
      this.#tell('ringing', call, () => this.#ringing(call));
    if (call.state === 'active')
      this.#tell('answered', call, () => this.#event('answered', call, call.answeredAt));
  }

  #onEnded(call: EndedCall): void {
    const { reason, cause, answeredAt, endedAt } = call;
    const durationMs = answeredAt === null ? 0 : Math.max(0, endedAt.getTime() - answeredAt.getTime());
    this.#tell('ended', call, () => ({
      ...this.#event('ended', call, endedAt),
      reason,
      cause,
      duration_ms: durationMs,
    }));
  }

  #tell(
    kind: string,
    { callId, subscriptionId }: Pick<CallRow, 'callId' | 'subscriptionId'>,
    event: () => object,
  ): void {
    const key = `${kind} ${callId}`;
    if (subscriptionId === null || this.#told.has(key)) return;
    this.#told.set(key, true);
    const sockets = this.#sockets.get(subscriptionId);
    if (sockets === undefined) return;
    // Written once for all of them.
    const text = Buffer.from(JSON.stringify(event()));
    for (const socket of sockets) sendText(socket, text);
  }

  #ringing(call: CallRow): object {
    return this.#event('ringing', call, call.startedAt);
  }

  #event(kind: string, call: Omit<CallRow, 'state'>, at: Date | null): object {
    return {
      kind,
      call_id: call.callId,
      direction: call.direction,
      caller: call.peer,
      phone_number: call.number,
      stream_url: this.#parts.streamUrl(call.callId),
      at: (at ?? new Date(this.#parts.clock.now())).toISOString(),
    };
  }
}

const send = (socket: WebSocket, event: object): void => sendText(socket, Buffer.from(JSON.stringify(event)));

function sendText(socket: WebSocket, text: Buffer): void {
  if (socket.readyState !== socket.OPEN) return;
  if (socket.bufferedAmount > BUFFERED_BYTES_MAX) socket.terminate();
  else socket.send(text, { binary: false });
}
