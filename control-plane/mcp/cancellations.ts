// Calls that a client cancels by a message instead of disconnecting (MCP before 2026-07-28).
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Bus } from '../bus/bus.ts';
import { upTo } from '../bus/cache-size.ts';

/** Longer than any call. A client that cancels a call that was just answered has not read the response either. */
const REMEMBERED_MS = 180_000;
/** Cancellations that are remembered for each token: one client cannot displace those of another. */
const CALLS_MAX = 200;
const TOKENS_MAX = 10_000;

type RequestId = string | number;

/** The owner of the request ids: the client states its `id`, and has authenticated with the token `key`. */
export interface ToolSession {
  id: string;
  key: string;
}

export class Cancellations {
  readonly #bus: Bus;
  /** By the digest of the token, then by name. */
  readonly #ofTokens = new LRUCache<string, LRUCache<string, AbortController>>(upTo(TOKENS_MAX));

  constructor(bus: Bus) {
    this.#bus = bus;
    bus.subscribe((event) => {
      if (event.kind === 'tool_call_cancelled') this.#find(event).abort();
    });
  }

  /** Aborts when the client cancels the call. The cancellation may arrive before the call does. */
  signalOf(session: ToolSession, id: RequestId): AbortSignal {
    return this.#find(namesOf(session, id)).signal;
  }

  /** Cancels the call at this instance, and at any other that has it. */
  cancel(session: ToolSession, id: RequestId): void {
    this.#bus.publish({ kind: 'tool_call_cancelled', ...namesOf(session, id) });
  }

  #find({ token, call }: Names): AbortController {
    const calls =
      this.#ofTokens.get(token) ??
      new LRUCache<string, AbortController>({ ...upTo(CALLS_MAX), ttl: REMEMBERED_MS });
    this.#ofTokens.set(token, calls);
    const controller = calls.get(call) ?? new AbortController();
    calls.set(call, controller);
    return controller;
  }
}

/** Names a call without its content, for other instances. */
interface Names {
  token: string;
  call: string;
}

const namesOf = ({ id: session, key }: ToolSession, id: RequestId): Names => ({
  token: digestOf(key),
  call: digestOf(JSON.stringify([session, id])),
});

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url');
