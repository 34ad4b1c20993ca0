// Messages in and out, and those who wait for them.
import { type Instruments, type Listeners, WAIT_BUCKETS } from './instruments.ts';
import { RECEIPTS, SEND_OUTCOMES } from './observation.ts';

/** Some wait for a message, others look once an hour. */
const CLAIM_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 15, 60, 300, 3_600, 86_400];

export function smsMetrics(make: Instruments, { waits }: { waits: () => number }): Listeners {
  const sent = make.counter(
    'sms_sent',
    'Messages to be sent, by what came of it',
    ['outcome'],
    SEND_OUTCOMES,
  );
  const sending = make.histogram(
    'sms_send_duration',
    'From the request to the word of the carrier',
    WAIT_BUCKETS,
  );
  const received = make.counter('sms_received', 'Messages that nodes received', ['result'], RECEIPTS);
  const reports = make.counter('sms_delivery_reports', 'Delivery reports of carriers', ['status']);
  const delays = make.histogram(
    'sms_claim_delay',
    'From the storing of a message to its claim',
    CLAIM_BUCKETS,
  );
  const givenBack = make.counter('sms_given_back', 'Messages claimed whose answer nobody got');
  make.view('sms_waits', 'Claims that wait for a message', [], (gauge) => gauge.set(waits()));
  return {
    sms_sent({ outcome, seconds }) {
      sent.inc({ outcome });
      if (outcome === 'accepted') sending.observe(seconds);
    },
    sms_received: ({ result, count }) => received.inc({ result }, count),
    sms_reported: ({ status }) => reports.inc({ status }),
    sms_claimed: ({ seconds }) => delays.observe(seconds),
    sms_given_back: ({ count }) => givenBack.inc(count),
  };
}
