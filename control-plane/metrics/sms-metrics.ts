// Metrics of messages in and out, and of claims that wait.
import { isKnownCarrier } from '#shared/carriers/carrier-name.ts';
import type { Instruments } from '#shared/process/instruments.ts';
import { WAIT_BUCKETS } from './http-metrics.ts';
import { type Listeners, RECEIVED_RESULTS, SEND_OUTCOMES } from './metric-events.ts';

/** Some clients wait for a message, others check once an hour. */
const CLAIM_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 15, 60, 300, 3_600, 86_400];

/** Seconds. Most reports come within ten; a phone that was off delays them for hours. */
const REPORT_BUCKETS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 900, 3_600, 14_400, 86_400];

/** A node may report any text as its carrier, and each label is a series of Prometheus for weeks. */
const carrierLabel = (reported: string | null): string => {
  if (reported === null) return 'unknown';
  return isKnownCarrier(reported) ? reported : 'other';
};

export function smsMetrics(make: Instruments, { waits }: { waits: () => number }): Listeners {
  const sent = make.counter(
    'sms_sent',
    'SMS to send, by outcome: accepted, rejected by carrier or modem, unknown, rate_limited, refused by the node, offline',
    ['outcome'],
    SEND_OUTCOMES,
  );
  const sending = make.histogram(
    'sms_send_duration',
    'Time from the request until the carrier accepted the SMS',
    WAIT_BUCKETS,
  );
  const received = make.counter(
    'sms_received',
    'Received SMS: stored, probe and unreadable; unheld and undated ones could not be assigned to a subscriber and were dropped',
    ['result'],
    RECEIVED_RESULTS,
  );
  const reports = make.counter(
    'sms_delivery_reports',
    'Delivery reports of carriers on texts of subscribers, by status',
    ['status'],
  );
  const ended = make.counter(
    'sms_ended',
    'Texts of subscribers whose end is known, by carrier of the sender: delivered, or why they failed',
    ['carrier', 'result'],
  );
  const reporting = make.histogram(
    'sms_report_delay',
    'Time from the request until the service had the report that a text was delivered, by carrier of the sender',
    REPORT_BUCKETS,
    ['carrier'],
  );
  const delays = make.histogram(
    'sms_claim_delay',
    'Time from the commit of a received SMS to its claim',
    CLAIM_BUCKETS,
  );
  const givenBack = make.counter(
    'sms_given_back',
    'Claimed SMS that did not reach the client, and can be claimed again',
  );
  make.view('sms_waits', 'Calls of receive_sms that wait for a message', [], (gauge) => gauge.set(waits()));
  return {
    sms_sent({ outcome, seconds }) {
      sent.inc({ outcome });
      if (outcome === 'accepted') sending.observe(seconds);
    },
    sms_received: ({ result, count }) => received.inc({ result }, count),
    sms_reported: ({ status }) => reports.inc({ status }),
    text_ended({ carrier: reported, result, reportSeconds }) {
      const carrier = carrierLabel(reported);
      ended.inc({ carrier, result });
      if (result === 'delivered' && reportSeconds !== undefined)
        reporting.observe({ carrier }, reportSeconds);
    },
    sms_claimed: ({ seconds }) => delays.observe(seconds),
    sms_given_back: ({ count }) => givenBack.inc(count),
  };
}
