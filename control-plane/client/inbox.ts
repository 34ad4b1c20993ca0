// Messages that were claimed but not yet asked for: a claim is the only one, so none may be dropped by a filter.
import { setTimeout as pause } from 'node:timers/promises';
import type { AnswerOf, OPERATION } from '#shared/api/operations.ts';
import { type ApiError, noAnswer } from './api-error.ts';
import { isApiError } from './transport.ts';

export type InboundMessage = AnswerOf<typeof OPERATION.receive>['messages'][number];

const POLL_MS = 500;
const TRANSIENT = ['unreachable', 'timeout', 'rate_limited', 'restarting', 'overloaded', 'internal_error'];

export interface WaitOptions {
  timeoutMs: number;
  /** Only a message of this sender. */
  from?: string | undefined;
  /** Only a message that this says yes to. */
  match?: ((message: InboundMessage) => boolean) | undefined;
  pollMs?: number;
  signal?: AbortSignal | undefined;
  /** Told of what is waited through: the service restarts, or cannot be reached. */
  onTrouble?: (error: ApiError) => void;
}

export class Inbox {
  readonly #claim: (signal: AbortSignal | undefined) => Promise<readonly InboundMessage[]>;
  #held: InboundMessage[] = [];

  constructor(claim: (signal: AbortSignal | undefined) => Promise<readonly InboundMessage[]>) {
    this.#claim = claim;
  }

  /** All that were passed over, oldest first; they are not held any more. */
  takeAll(): InboundMessage[] {
    return this.#held.splice(0);
  }

  /** The first message that fits. Throws `ApiError` `timeout`; what came meanwhile and did not fit stays here. */
  async wait(options: WaitOptions): Promise<InboundMessage> {
    const { timeoutMs, pollMs = POLL_MS, signal, onTrouble } = options;
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const found = this.#take(options);
      if (found !== undefined) return found;
      let waitMs = pollMs;
      try {
        this.#held.push(...(await this.#claim(signal)));
        const claimed = this.#take(options);
        if (claimed !== undefined) return claimed;
      } catch (error) {
        if (!isApiError(error, ...TRANSIENT)) throw error;
        onTrouble?.(error);
        waitMs = Math.max(pollMs, (error.retryAfterSeconds ?? 0) * 1000);
      }
      if (Date.now() + waitMs > deadline) throw noAnswer('timeout', `no such message within ${timeoutMs} ms`);
      await pause(waitMs, undefined, { signal });
    }
  }

  #take({ from, match }: WaitOptions): InboundMessage | undefined {
    const index = this.#held.findIndex(
      (message) =>
        (from === undefined || message.from_number === from) && (match === undefined || match(message)),
    );
    return index < 0 ? undefined : this.#held.splice(index, 1)[0];
  }
}
