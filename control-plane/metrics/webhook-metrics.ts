// Metrics of webhooks of subscribers.
import type { Instruments } from '#shared/process/instruments.ts';
import { type Listeners, WEBHOOK_OUTCOMES } from './metric-events.ts';

/** A prompt receiver on the same continent answers within 0.2 s. */
const DELAY_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

export function webhookMetrics(make: Instruments, { webhooks }: { webhooks: () => number }): Listeners {
  const attempts = make.counter(
    'webhook_attempts',
    'Attempts to deliver a webhook, by outcome: delivered, refused, timeout, unreachable, not_allowed (no public address), gone',
    ['outcome'],
    WEBHOOK_OUTCOMES,
  );
  const delays = make.histogram(
    'webhook_delay',
    'Time from the event until the receiver answered 2xx, of deliveries that succeeded at the first attempt',
    DELAY_BUCKETS,
  );
  const disabled = make.counter(
    'webhooks_disabled',
    'Webhooks that were disabled because every attempt failed for three days, or the receiver was gone',
  );
  make.view('webhook_requests', 'Open requests to receivers of webhooks', [], (gauge) =>
    gauge.set(webhooks()),
  );
  return {
    webhook_tried({ isFirst, outcome, seconds }) {
      attempts.inc({ outcome });
      if (isFirst && outcome === 'delivered') delays.observe(seconds);
    },
    webhook_disabled: () => disabled.inc(),
  };
}
