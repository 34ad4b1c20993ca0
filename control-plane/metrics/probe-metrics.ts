// Metrics of delivery probes: by carrier, once per probe; and by slot, once for each end that may have caused the result.
import type { Instruments, Listeners } from './instruments.ts';

/** Seconds. Most texts arrive within ten; some carriers delay them for minutes. */
const LATENCY_BUCKETS = [1, 2, 3, 5, 8, 13, 20, 30, 60, 120, 300, 900];

/** A modem that does not report its network. */
const NO_CARRIER = 'unknown';

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
