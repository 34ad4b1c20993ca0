// Presence clients, one at each instance, that connect again when they are cut off.
import { watchPresence } from '#control-plane/client/presence-watch.ts';
import { until } from '../../fixtures/until.ts';
import type { Account } from './texts.ts';

const SEEN_TIMEOUT_MS = 40_000;

export class Watchers {
  readonly #seen: Array<Set<string>>;
  readonly #stopping = new AbortController();
  readonly #running: Promise<unknown>;

  constructor(urls: readonly string[], { number, headers }: Account) {
    const token = String(headers['Authorization']).replace('Bearer ', '');
    this.#seen = urls.map(() => new Set());
    this.#running = Promise.all(
      urls.map((url, index) =>
        watchPresence(
          { url: `${url.replace(/^http/, 'ws')}/voice/presence/${number}`, token },
          {
            onEvent: ({ kind, call_id: callId }) => this.#seen[index]?.add(`${kind} ${callId}`),
            signal: this.#stopping.signal,
          },
        ),
      ),
    );
  }

  /** Resolves with the id of a call that all see ringing, and that is none of `known`. */
  async ringing(known: ReadonlySet<string>, what: string): Promise<string> {
    return until(
      `every presence client sees the call ring ${what}`,
      () =>
        [...(this.#seen[0] ?? [])]
          .flatMap((event) => (event.startsWith('ringing ') ? [event.slice('ringing '.length)] : []))
          .find((callId) => !known.has(callId) && this.#seen.every((seen) => seen.has(`ringing ${callId}`))),
      SEEN_TIMEOUT_MS,
    );
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }
}
