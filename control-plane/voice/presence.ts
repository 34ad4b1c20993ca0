// Presence: events of a subscription's calls, pushed to every socket that watches it.
import { LRUCache } from 'lru-cache';
import type { WebSocket } from 'ws';
import type { Base } from '../bus/base.ts';
import { catchUp } from '../bus/catch-up.ts';
import type { Subscription } from '../domain/subscription.ts';
import { type CallRow, type EndedCall, findCallsSince, findRinging } from '../store/messages/calls.ts';
import type { LiveCalls } from './live-calls.ts';
import type { PresenceEvents } from './presence-event.ts';

/** A client with this much unread data, hundreds of events, is disconnected. */
const BUFFERED_BYTES_MAX = 64 * 1024;

/** Remembered events, so that each is sent once: a node that reconnects reports its calls again. */
const SENT_MAX = 10_000;

interface PresenceParts extends Base {
  live: LiveCalls;
  events: PresenceEvents;
}

export class Presence {
  readonly #parts: PresenceParts;
  readonly #events: PresenceEvents;
  /** By subscription: a later holder of a number must not see an earlier holder's calls. */
  readonly #sockets = new Map<string, Set<WebSocket>>();
  readonly stop: () => void;
  /** In their order. */
  readonly #sent = new LRUCache<string, number>({ max: SENT_MAX });
  #pushed = 0;

  constructor(parts: PresenceParts) {
    this.#parts = parts;
    this.#events = parts.events;
    parts.live.watch((call) => this.#onChanged(call));
    parts.bus.subscribe((event) => {
      if (event.kind === 'call_changed' && event.instance !== parts.live.instance)
        this.#onChanged(event.call);
      if (event.kind === 'call_judged') this.#onJudged(event.call, event.judgedAt);
      if (event.kind === 'call_ended') this.#onEnded(event.call);
    });
    this.stop = catchUp(parts, (since) => this.#catchUp(since));
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
      this.#parts.log.warn({ err: error }, 'reading the ringing calls of other instances failed'),
    );
  }

  /** Sends this instance's calls at once, then those of other instances. */
  async #replay(socket: WebSocket, subscriptionId: string): Promise<void> {
    const { live, db, clock } = this.#parts;
    const pushedBefore = this.#pushed;
    for (const call of live.ringing(subscriptionId)) send(socket, this.#ringing(call));
    const stored = await findRinging(db, subscriptionId, new Date(clock.now()));
    for (const call of stored) {
      // Skips calls that were answered or ended during the read, and calls that ring here.
      const isPast = ['answered', 'ended'].some((kind) => this.#sent.has(`${kind} ${call.callId}`));
      const isHere = live.find(call.callId, subscriptionId) !== undefined;
      if (isPast || isHere) continue;
      const rangAt = this.#sent.get(`ringing ${call.callId}`);
      // The event of another instance may still be on its way. It is for all sockets, and comes once.
      if (rangAt === undefined) this.#onChanged(call);
      else if (rangAt <= pushedBefore) send(socket, this.#ringing(call));
    }
  }

  async #catchUp(since: Date): Promise<void> {
    const { open, ended } = await findCallsSince(this.#parts.db, [...this.#sockets.keys()], since);
    for (const call of open) {
      this.#onChanged(call);
      this.#onJudged(call, new Date(this.#parts.clock.now()));
    }
    for (const call of ended) this.#onEnded(call);
  }

  #onChanged(call: CallRow): void {
    if (call.state === 'ringing' && call.direction === 'inbound')
      this.#push('ringing', call, () => this.#ringing(call));
    if (call.state === 'active')
      this.#push('answered', call, () =>
        this.#events.answered(call, call.answeredAt ?? new Date(this.#parts.clock.now())),
      );
  }

  #onJudged(call: CallRow, at: Date): void {
    const { answeredBy } = call;
    if (answeredBy !== null && answeredBy !== 'undecided')
      this.#push('detected', call, () => this.#events.detected(call, answeredBy, at));
  }

  #onEnded(call: EndedCall): void {
    this.#push('ended', call, () => this.#events.ended(call));
  }

  #push(
    kind: string,
    { callId, subscriptionId }: Pick<CallRow, 'callId' | 'subscriptionId'>,
    event: () => object,
  ): void {
    const key = `${kind} ${callId}`;
    // An event may be read, or arrive, after a later one.
    const isLate = this.#sent.has(key) || this.#sent.has(`ended ${callId}`);
    if (subscriptionId === null || isLate) return;
    this.#pushed += 1;
    this.#sent.set(key, this.#pushed);
    const sockets = this.#sockets.get(subscriptionId);
    if (sockets === undefined) return;
    // Serialized once for all sockets.
    const text = Buffer.from(JSON.stringify(event()));
    for (const socket of sockets) sendText(socket, text);
  }

  #ringing(call: CallRow): object {
    return this.#events.ringing(call, call.startedAt);
  }
}

const send = (socket: WebSocket, event: object): void => sendText(socket, Buffer.from(JSON.stringify(event)));

function sendText(socket: WebSocket, text: Buffer): void {
  if (socket.readyState !== socket.OPEN) return;
  if (socket.bufferedAmount > BUFFERED_BYTES_MAX) socket.terminate();
  else socket.send(text, { binary: false });
}
