// Calls that their client gives up by a message of its own, and not by leaving (MCP before 2026-07-28).
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Bus } from '../bus/bus.ts';

/** Longer than any call. A client that gives up a call answered a moment ago has not taken the answer either. */
const REMEMBERED_MS = 180_000;
const CALLS_MAX = 2_000;

type RequestId = string | number;

/** The owner of the request ids: the client states its `id`, and has shown that `key`, its token's, is good. */
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

  /** Aborted when the client gives the call up, which it may have done before we hear of the call. */
  signalOf(session: ToolSession, id: RequestId): AbortSignal {
    return this.#find(nameOf(session, id)).signal;
  }

  /** Here, and on whichever instance has the call. */
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

/** Short: it goes to other instances through their database. */
const nameOf = ({ id: session, key }: ToolSession, id: RequestId): string =>
  createHash('sha256')
    .update(JSON.stringify([session, key, id]))
    .digest('base64url');
