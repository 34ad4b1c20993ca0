// Requests, how long they took, and what was refused.
import { REFUSALS } from '#shared/api/refusals.ts';
import { type Instruments, type Listeners, WAIT_BUCKETS } from './instruments.ts';
import { LIMITS } from './observation.ts';

const USUAL_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Node's parser knows some dozens; the metrics do not need to distinguish them. */
const methodLabel = (method: string): string => (USUAL_METHODS.has(method) ? method : 'other');

export function httpMetrics(make: Instruments): Listeners {
  const requests = make.counter(
    'http_requests',
    'Answered HTTP requests; route is the path template, or none',
    ['route', 'method', 'status'],
  );
  const durations = make.histogram(
    'http_request_duration',
    'Time from the headers of a request to its answer; /mcp and /voice/dial wait for others',
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
    `Requests refused by a limit: ${LIMITS.join(', ')}; sms and calls are limits of a node`,
    ['limit'],
    LIMITS,
  );
  return {
    answered({ route, method: told, status, seconds }) {
      const method = methodLabel(told);
      requests.inc({ route, method, status });
      durations.observe({ route, method }, seconds);
    },
    malformed: ({ status }) => malformed.inc({ status }),
    refused: ({ code }) => refusals.inc({ code }),
    rate_limited: ({ limit }) => limited.inc({ limit }),
  };
}
