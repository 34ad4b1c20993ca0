// Requests, how long they took, and what was refused.
import { REFUSALS } from '#shared/api/refusals.ts';
import { type Instruments, type Listeners, WAIT_BUCKETS } from './instruments.ts';
import { LIMITS } from './observation.ts';

const USUAL_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Node's parser knows some dozens, and nobody needs to tell them apart. */
const methodLabel = (method: string): string => (USUAL_METHODS.has(method) ? method : 'other');

export function httpMetrics(make: Instruments): Listeners {
  const requests = make.counter('http_requests', 'Requests answered', ['route', 'method', 'status']);
  const durations = make.histogram(
    'http_request_duration',
    'From the headers of a request to its answer',
    WAIT_BUCKETS,
    ['route', 'method'],
  );
  const malformed = make.counter('http_malformed_requests', 'What was no request, or came too slowly', [
    'status',
  ]);
  const refusals = make.counter('refusals', 'Refusals by code', ['code'], Object.keys(REFUSALS));
  const limited = make.counter('rate_limited', 'Refusals by limit', ['limit'], LIMITS);
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
