// Webhooks of subscribers, with the renderings of the API.
import { toHistory, toInbound } from '../handlers/sms.ts';
import { createPoster } from '../webhooks/poster.ts';
import { Webhooks } from '../webhooks/webhooks.ts';
import type { ServiceBase } from './store.ts';
import type { Telephony } from './telephony.ts';

export function startWebhooks(base: ServiceBase, { presenceEvents }: Telephony): Webhooks {
  const { config } = base;
  const poster = createPoster({
    userAgent: 'simrack-webhooks',
    timeoutMs: config.webhookTimeoutMs,
    allowsPrivate: config.webhookAllowPrivate,
  });
  return new Webhooks({
    ...base,
    poster,
    renderings: {
      received: toInbound,
      sent: toHistory,
      call(type, call, at) {
        const {
          answered_at: answeredAt,
          answered_by: answeredBy,
          cause,
          direction,
          ended_at: endedAt,
          id,
          number,
          peer,
          reason,
        } = call;
        const about = { callId: id, direction, peer, number };
        if (type === 'call.ringing') return presenceEvents.ringing(about, at);
        if (type === 'call.answered' || endedAt === null || reason === null || cause === null)
          return presenceEvents.answered(about, at);
        return presenceEvents.ended({ ...about, answeredAt, answeredBy, endedAt, reason, cause });
      },
    },
  });
}
