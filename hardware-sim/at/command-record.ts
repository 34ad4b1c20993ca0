// The last command lines that a modem received, and waiting for one. For tests.
import { type Clock, withTimeout } from '#shared/clock.ts';

/** Number of lines that it keeps. */
const LINES_MAX = 1000;

/** The whole line, a pattern, or a question. */
export type CommandMatch = string | RegExp | ((line: string) => boolean);

/** The command did not come in time. */
class CommandTimeoutError extends Error {
  override name = 'CommandTimeoutError';
}

interface Waiter {
  match: CommandMatch;
  resolve: (line: string) => void;
}

export class CommandRecord {
  readonly #clock: Clock;
  #lines: string[] = [];
  readonly #waiters = new Set<Waiter>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Command lines as they were typed, without line end, oldest first. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  clear(): void {
    this.#lines = [];
  }

  add(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > LINES_MAX) this.#lines.splice(0, this.#lines.length - LINES_MAX);
    for (const waiter of [...this.#waiters]) {
      if (!matches(waiter.match, line)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(line);
    }
  }

  /**
   * Resolves with the first line that matches, remembered or yet to come. Call `clear` to wait for a new one.
   * Rejects with `CommandTimeoutError`.
   */
  async expect(match: CommandMatch, timeoutMs: number): Promise<string> {
    const past = this.#lines.find((line) => matches(match, line));
    if (past !== undefined) return past;
    let waiter: Waiter | undefined;
    const next = new Promise<string>((resolve) => {
      waiter = { match, resolve };
      this.#waiters.add(waiter);
    });
    try {
      const onTimeout = (): Error => new CommandTimeoutError(`no command ${match} within ${timeoutMs} ms`);
      return await withTimeout(this.#clock, next, timeoutMs, onTimeout);
    } finally {
      if (waiter !== undefined) this.#waiters.delete(waiter);
    }
  }
}

function matches(match: CommandMatch, line: string): boolean {
  if (typeof match === 'string') return line === match;
  return match instanceof RegExp ? match.test(line) : match(line);
}
