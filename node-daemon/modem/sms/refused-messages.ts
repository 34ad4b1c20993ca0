// Logs messages that the journal refuses, several at once: a full disk refuses all waiting messages each time they are read.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { JournalUnavailableError } from '../../journal/journal.ts';
import { reasonOf } from '../../journal/persistent-append.ts';

/** Least time between two log lines. */
export const REFUSED_LOG_MS = 60_000;
/** Further messages are not counted. */
const COUNTED_MAX = 10_000;

/** The refused messages of one modem. `line` is the log message. */
export class RefusedMessages {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #line: string;
  /** Messages refused since the last line, and not recorded since. */
  readonly #keys = new Set<string>();
  #reason = '';
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor({ clock, log }: { clock: Clock; log: Logger }, line: string) {
    this.#clock = clock;
    this.#log = log;
    this.#line = line;
  }

  /** Call it when a message was refused. `key` identifies the message. Any other error is logged at once. */
  refused(key: string, error: unknown): void {
    if (!(error instanceof JournalUnavailableError)) {
      this.#log.error({ err: error }, this.#line);
      return;
    }
    this.#reason = reasonOf(error);
    if (this.#keys.size < COUNTED_MAX) this.#keys.add(key);
  }

  recorded(key: string): void {
    this.#keys.delete(key);
  }

  /** Logs the refused messages, unless others were logged recently. */
  logRefused(): void {
    const now = this.#clock.now();
    if (this.#keys.size === 0 || now - this.#loggedAt < REFUSED_LOG_MS) return;
    this.#log.warn({ messages: this.#keys.size, reason: this.#reason }, this.#line);
    this.#keys.clear();
    this.#loggedAt = now;
  }
}
