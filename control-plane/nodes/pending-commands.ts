// Commands of one link that wait for their result.
import type { Clock } from '#shared/clock.ts';
import type { CommandErrorCode } from '#shared/link/error-code.ts';
import { NodeUnavailable } from './fleet.ts';

/** Commands in flight on one link; a rack has tens of modems, each with one command at a time. */
const PENDING_MAX = 1_000;

/** The node did not try the command and never will. */
export class CommandRefused extends Error {
  override name = 'CommandRefused';
  readonly code: CommandErrorCode;

  constructor(code: CommandErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

interface Waiter {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export class PendingCommands {
  readonly #clock: Clock;
  readonly #waiters = new Map<string, Waiter>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waits for the result of `id`. Throws at once when too many wait, or when `id` waits already. */
  wait(id: string, timeoutMs: number): Promise<unknown> {
    if (this.#waiters.size >= PENDING_MAX) throw new NodeUnavailable('too many commands in flight', false);
    if (this.#waiters.has(id)) throw new NodeUnavailable('the command is in flight already', true);
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(timeoutMs, () => {
        this.#waiters.delete(id);
        reject(new NodeUnavailable('no answer in time', true));
      });
      const end = (): void => {
        timer.cancel();
        this.#waiters.delete(id);
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

  resolve(id: string, result: unknown): void {
    this.#waiters.get(id)?.resolve(result);
  }

  refuse(id: string, code: CommandErrorCode, message: string): void {
    this.#waiters.get(id)?.reject(new CommandRefused(code, message));
  }

  /** Ends every wait: the link is gone. */
  abandon(): void {
    for (const waiter of [...this.#waiters.values()])
      waiter.reject(new NodeUnavailable('the link broke', true));
  }
}
