// The refusals of texts that a subscription may not send now, for its holder.
import type { SendingLimit } from '#shared/api/answers.ts';
import { Refusal } from '../domain/refusal.ts';
import type { ExceededLimit, SendingLevel } from '../domain/sending-limits.ts';
import { emitMetric } from '../metrics/metric-events.ts';
import type { SendAdmission } from '../store/messages/sending.ts';

/** Returns the limits that are nearly used. Throws `Refusal`: `recipient_opted_out`, `rate_limited`, `unauthorized`. */
export function admitted(admission: SendAdmission): readonly SendingLevel[] {
  switch (admission.kind) {
    case 'admitted':
      return admission.nearLimits;
    case 'opted_out':
      throw new Refusal(
        'recipient_opted_out',
        'This recipient asked your number to stop. It may be texted again once it sends START.',
      );
    case 'limited':
      emitMetric({ kind: 'rate_limited', limit: 'number' });
      throw limitReached(admission.exceeded, admission.retryAfterMs);
    case 'gone':
      throw new Refusal('unauthorized', 'The subscription has ended.');
  }
}

const COUNTED: Readonly<Record<SendingLimit, string>> = {
  messages_per_minute: 'texts in a minute',
  messages_per_day: 'texts in 24 hours',
  recipients_per_day: 'different recipients in 24 hours',
  repeated_text_recipients_per_day: 'recipients of the same text in 24 hours',
  unanswered_per_day: 'texts in 24 hours for the few texts that it received',
};

function limitReached({ limit, max, used }: ExceededLimit, retryAfterMs: number): Refusal {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  return new Refusal(
    'rate_limited',
    `Your number has used ${used} of ${max} ${COUNTED[limit]}. Carriers block numbers that send more. Try again in ${seconds} s.`,
    { details: { limit, used, max }, headers: { 'Retry-After': String(seconds) } },
  );
}
