// Commands of one link that wait for their result.
import type { Clock } from '#shared/clock.ts';
import { CommandRefusal } from '#shared/link/command-refusal.ts';
import type { NodeFrame } from '#shared/link/frame.ts';
import { NodeUnavailable } from './node-link.ts';

/** Commands in flight on one link; a rack has tens of modems, each with one command at a time. */
const PENDING_MAX = 1_000;

interface Waiter {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export class PendingCommands {
  readonly #clock: Clock;
  readonly #onIdle: () => void;
  readonly #waiters = new Map<string, Waiter>();

  /** `onIdle` is called when the last waiting command has ended. */
  constructor(clock: Clock, onIdle: () => void) {
    this.#clock = clock;
    this.#onIdle = onIdle;
  }

  /** Waits for the result of `id`. Throws at once when too many wait, or when `id` waits already. */
  wait(id: string, timeoutMs: number): Promise<unknown> {
    if (this.#waiters.size >= PENDING_MAX) throw new NodeUnavailable('too many commands in flight', false);
    if (this.#waiters.has(id)) throw new NodeUnavailable('the command is already in flight', true);
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(timeoutMs, () => {
        this.#forget(id);
        reject(new NodeUnavailable('no response in time', true));
      });
      const end = (): void => {
        timer.cancel();
        this.#forget(id);
      };
      this.#waiters.set(id, {
        resolve: (result) => {
          end();
          resolve(result);
        },
        reject: (error) => {
          end();
          reject(error);
        },
      });
    });
  }

  get size(): number {
    return this.#waiters.size;
  }

  resolve(id: string, result: unknown): void {
    this.#waiters.get(id)?.resolve(result);
  }

  refuse(frame: Extract<NodeFrame, { type: 'refusal' }>): void {
    const { id, code, message, retry_after_ms: retryAfterMs } = frame;
    this.#waiters.get(id)?.reject(new CommandRefusal(code, message, { retryAfterMs }));
  }

  /** Ends every wait: the link is gone. */
  abandon(): void {
    for (const waiter of [...this.#waiters.values()])
      waiter.reject(new NodeUnavailable('the link broke', true));
  }

  #forget(id: string): void {
    this.#waiters.delete(id);
    if (this.#waiters.size === 0) this.#onIdle();
  }
}
