// The parts that the whole service is built on.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Bus } from '../bus/bus.ts';
import type { Config } from '../config/config.ts';
import type { Database } from '../store/database/database.ts';

export interface Base {
  config: Config;
  db: Database;
  bus: Bus;
  clock: Clock;
  log: Logger;
  /** Base URL of the public API, without a trailing slash. */
  url: string;
}
