// Metrics of work in the background: tasks, mail to the waitlist, alerts and delivery probes.
import type { Instruments } from '#shared/process/instruments.ts';
import { ALERT_CHANNELS } from '../domain/alert.ts';
import { ALERT_KINDS } from '../domain/alert-kinds.ts';
import { type Listeners, TASKS } from './metric-events.ts';

export function alertMetrics(make: Instruments): Listeners {
  const open = make.gauge(
    'alerts',
    'Open alerts at the last check (every 10 s), as in "control-plane alert list": also those that are over and have not ended yet',
    ['kind'],
  );
  const messages = make.counter(
    'alert_messages',
    'Attempts to send an alert message, by outcome: sent, refused, unavailable, unknown, gone',
    ['channel', 'outcome'],
  );
  for (const kind of ALERT_KINDS) open.set({ kind }, 0);
  for (const channel of ALERT_CHANNELS) messages.inc({ channel, outcome: 'sent' }, 0);
  return {
    alerts_checked({ open: kinds }) {
      for (const kind of ALERT_KINDS) open.set({ kind }, kinds.filter((each) => each === kind).length);
    },
    alerts_sent: ({ channel, outcome }) => messages.inc({ channel, outcome }),
  };
}

export function housekeepingMetrics(make: Instruments): Listeners {
  const done = make.gauge(
    'housekeeping_last_success_timestamp_seconds',
    `Unix time of the last success of each background task: ${TASKS.join(', ')}. A task is stuck if this is older than five minutes (costs: 25)`,
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

/** Seconds. Most texts arrive within ten; some carriers delay them for minutes. */
const LATENCY_BUCKETS = [1, 2, 3, 5, 8, 13, 20, 30, 60, 120, 300, 900];

/** A modem that does not report its network. */
const NO_CARRIER = 'unknown';

/** By carrier, once per probe; and by slot, once for each end that may have caused the result. */
export function probeMetrics(make: Instruments): Listeners {
  const probes = make.counter(
    'probes',
    'Ended delivery probes (delivered, failed, abandoned), counted once for each carrier at their ends',
    ['carrier', 'kind', 'result'],
  );
  const latencies = make.histogram(
    'probe_latency',
    'Time from the command to the arrival of a probe',
    LATENCY_BUCKETS,
    ['carrier', 'kind'],
  );
  const slots = make.counter(
    'probe_slot_results',
    'Ended delivery probes by slot and role; a failure is not counted for a slot that cannot have caused it',
    ['node', 'slot', 'kind', 'role', 'result'],
  );
  return {
    probed({ probe: kind, result, ends, seconds }) {
      for (const carrier of new Set(ends.map((end) => end.carrier ?? NO_CARRIER))) {
        probes.inc({ carrier, kind, result });
        if (seconds !== undefined) latencies.observe({ carrier, kind }, seconds);
      }
      for (const { node, slot, role } of ends) slots.inc({ node, slot, kind, role, result });
    },
  };
}
