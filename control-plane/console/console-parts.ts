// The parts that the console's pages are made with.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Operator } from '../operator/procedures/all-procedures.ts';
import type { Database } from '../store/database/database.ts';
import type { RefundCloser, RefundSender } from './actions/refunds.ts';
import type { LiveFeed } from './live/live-feed.ts';
import type { Sessions } from './session/sessions.ts';
import type { SiteOptions } from './session/site.ts';
import type { ConsoleView } from './view.ts';

export interface ConsolePageParts {
  db: Database;
  clock: Clock;
  log: Logger;
  /** The operator API for an operator, whose name is noted with each change. */
  operatorFor: (operator: string) => Operator;
  sessions: Sessions;
  view: ConsoleView;
  feed: LiveFeed;
  /** Where the service has a key for it. */
  refunds: RefundSender | undefined;
  closeRefund: RefundCloser;
  serviceName: string;
  site: SiteOptions;
}
