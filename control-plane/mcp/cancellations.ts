// Calls that a client cancels by a message instead of disconnecting (MCP before 2026-07-28).
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Bus } from '../bus/bus.ts';

/** Longer than any call. A client that cancels a call that was just answered has not read the response either. */
const REMEMBERED_MS = 180_000;
const CALLS_MAX = 2_000;

type RequestId = string | number;

/** The owner of the request ids: the client states its `id`, and has authenticated with the token `key`. */
export interface ToolSession {
  id: string;
  key: string;
}

export class Cancellations {
  readonly #bus: Bus;
  readonly #calls = new LRUCache<string, AbortController>({ max: CALLS_MAX, ttl: REMEMBERED_MS });

  constructor(bus: Bus) {
    this.#bus = bus;
    bus.subscribe((event) => {
      if (event.kind === 'tool_call_cancelled') this.#find(event.call).abort();
    });
  }

  /** Aborts when the client cancels the call. The cancellation may arrive before the call does. */
  signalOf(session: ToolSession, id: RequestId): AbortSignal {
    return this.#find(nameOf(session, id)).signal;
  }

  /** Cancels the call at this instance, and at any other that has it. */
  cancel(session: ToolSession, id: RequestId): void {
    this.#bus.publish({ kind: 'tool_call_cancelled', call: nameOf(session, id) });
  }

  #find(call: string): AbortController {
    let controller = this.#calls.get(call);
    if (controller === undefined) {
      controller = new AbortController();
      this.#calls.set(call, controller);
    }
    return controller;
  }
}

/** Short, because it is sent to other instances through the database. */
const nameOf = ({ id: session, key }: ToolSession, id: RequestId): string =>
  createHash('sha256')
    .update(JSON.stringify([session, key, id]))
    .digest('base64url');
