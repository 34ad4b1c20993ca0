// The parts that most of the service is built on.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Database } from '../store/database/database.ts';
import type { Bus } from './bus.ts';

export interface Base {
  db: Database;
  bus: Bus;
  clock: Clock;
  log: Logger;
}
