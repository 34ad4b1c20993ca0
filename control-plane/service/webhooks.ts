// Webhooks of subscribers, with the renderings of the API.
import { toHistory, toInbound } from '../handlers/sms.ts';
import type { QueuedCall } from '../store/webhooks/webhook-queue.ts';
import { createPoster } from '../webhooks/poster.ts';
import { Webhooks } from '../webhooks/webhooks.ts';
import type { ServiceBase } from './store.ts';
import type { Telephony } from './telephony.ts';

export function startWebhooks(base: ServiceBase, { presenceEvents }: Telephony): Webhooks {
  const { config } = base;
  const poster = createPoster({
    userAgent: 'simrack-webhooks',
    timeoutMs: config.webhookTimeoutMs,
    clock: base.clock,
    allowsPrivate: config.webhookAllowPrivate,
  });
  return new Webhooks({
    ...base,
    poster,
    renderings: {
      received: toInbound,
      sent: toHistory,
      ringing: (call, at) => presenceEvents.ringing(aboutOf(call), at),
      answered: (call, at) => presenceEvents.answered(aboutOf(call), at),
      ended(call) {
        const { answered_at: answeredAt, answered_by: answeredBy, cause, ended_at: endedAt, reason } = call;
        if (endedAt === null || reason === null || cause === null) return undefined;
        return presenceEvents.ended({ ...aboutOf(call), answeredAt, answeredBy, endedAt, reason, cause });
      },
    },
  });
}

const aboutOf = ({ id, direction, peer, number }: QueuedCall) => ({ callId: id, direction, peer, number });
