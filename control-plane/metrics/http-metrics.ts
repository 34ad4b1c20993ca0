// Metrics of requests: number, duration and refusals.
import { REFUSALS } from '#shared/api/refusals.ts';
import type { Instruments } from '#shared/process/instruments.ts';
import { LIMITS, type Listeners } from './metric-events.ts';

/** Seconds, from a read in memory to a request that waits for a carrier or a block. */
export const WAIT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

const USUAL_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Node's parser knows dozens of methods; the metrics do not need to distinguish the rare ones. */
const methodLabel = (method: string): string => (USUAL_METHODS.has(method) ? method : 'other');

export function httpMetrics(make: Instruments): Listeners {
  const requests = make.counter(
    'http_requests',
    'Answered HTTP requests; route is the path template, or none',
    ['route', 'method', 'status'],
  );
  const durations = make.histogram(
    'http_request_duration',
    'Time from the headers of a request to its response; /mcp and /voice/dial include waits for messages and for the far end',
    WAIT_BUCKETS,
    ['route', 'method'],
  );
  const malformed = make.counter(
    'http_malformed_requests',
    'Malformed or slow requests, answered with 400, 408 or 431',
    ['status'],
  );
  const refusals = make.counter(
    'refusals',
    'Refusals, by error code, including upgrades and tools; internal_error is a fault of the service',
    ['code'],
    Object.keys(REFUSALS),
  );
  const limited = make.counter(
    'rate_limited',
    `Requests refused by a limit: ${LIMITS.join(', ')}. The limits sms and calls are those of a node`,
    ['limit'],
    LIMITS,
  );
  return {
    answered({ route, method: requested, status, seconds }) {
      const method = methodLabel(requested);
      requests.inc({ route, method, status });
      durations.observe({ route, method }, seconds);
    },
    malformed: ({ status }) => malformed.inc({ status }),
    refused: ({ code }) => refusals.inc({ code }),
    rate_limited: ({ limit }) => limited.inc({ limit }),
  };
}
