// What is done every minute, and the mail to the waitlist.
import type { Instruments, Listeners } from './instruments.ts';
import { TASKS } from './observation.ts';

export function housekeepingMetrics(make: Instruments): Listeners {
  const done = make.gauge('housekeeping_last_success_timestamp_seconds', 'When a task was done last', [
    'task',
  ]);
  const failures = make.counter('housekeeping_failures', 'Tasks that failed', ['task'], TASKS);
  const mails = make.counter('waitlist_mails', 'Mails to the waitlist, by what came of them', ['outcome']);
  return {
    housekept({ task, isDone, atMs }) {
      if (isDone) done.set({ task }, atMs / 1000);
      else failures.inc({ task });
    },
    mail_tried: ({ outcome }) => mails.inc({ outcome }),
  };
}
