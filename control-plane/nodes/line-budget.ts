// How many lines the log gets about one node. One with a stolen key, or a broken one, must not fill the log.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { TokenBucket } from '#shared/token-bucket.ts';

/** A rack causes a few lines a minute, and a few hundred when it is plugged in. */
const LINES = { burst: 500, perSecond: 1 };

/** All links of a node share it. */
export class LineBudget {
  readonly #lines: TokenBucket;
  #dropped = 0;

  constructor(clock: Clock) {
    this.#lines = new TokenBucket(clock, LINES);
  }

  /** Pays for a line. Returns how many were dropped since the last one, or undefined if this one is dropped, too. */
  pay(): number | undefined {
    if (!this.#lines.tryTake()) {
      this.#dropped += 1;
      return undefined;
    }
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }
}

/** A logger that drops lines above the budget, except errors. A line after dropped ones has their number. */
export function limitLines(log: Logger, budget: LineBudget): Logger {
  const limited =
    (write: Logger['info']): Logger['info'] =>
    (fields, message) => {
      const dropped = budget.pay();
      if (dropped === undefined) return;
      write(dropped === 0 ? fields : { ...fields, dropped_lines: dropped }, message);
    };
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: limited((fields, message) => log.info(fields, message)),
    warn: limited((fields, message) => log.warn(fields, message)),
    error: (fields, message) => log.error(fields, message),
    child: (bindings) => limitLines(log.child(bindings), budget),
  };
}
