// Metrics of background tasks, and of mail to the waitlist.
import type { Instruments, Listeners } from './instruments.ts';
import { TASKS } from './metric-events.ts';

export function housekeepingMetrics(make: Instruments): Listeners {
  const done = make.gauge(
    'housekeeping_last_success_timestamp_seconds',
    `Unix time of the last success of each background task: ${TASKS.join(', ')}; a task is stuck if this is older than five minutes`,
    ['task'],
  );
  const failures = make.counter(
    'housekeeping_failures',
    'Failed rounds of background tasks',
    ['task'],
    TASKS,
  );
  const mails = make.counter(
    'waitlist_mails',
    'Mails to the waitlist, by outcome: sent, deferred, address_refused, mail_refused, unknown, unavailable',
    ['outcome'],
  );
  return {
    housekept({ task, isDone, atMs }) {
      if (isDone) done.set({ task }, atMs / 1000);
      else failures.inc({ task });
    },
    mail_tried: ({ outcome }) => mails.inc({ outcome }),
  };
}
