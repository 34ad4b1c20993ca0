// The events of calls, as presence and webhooks send them.
import type { PresenceEvent } from '#shared/api/voice-frames.ts';
import type { Answerer } from '#shared/voice/call.ts';
import { shownAnswerer } from '../hearing/answered-by.ts';
import type { CallRow, EndedCall } from '../store/messages/calls.ts';

type Call = Pick<CallRow, 'callId' | 'direction' | 'peer' | 'number'>;

type EventOf<K extends PresenceEvent['kind']> = Extract<PresenceEvent, { kind: K }>;

/** Makes the events; `streamUrl` gives the URL of a call's stream. */
export function createPresenceEvents(streamUrl: (callId: string) => string) {
  const about = ({ callId, direction, number, peer }: Call, at: Date) => ({
    call_id: callId,
    direction,
    caller: peer,
    // A call with a subscription has a number.
    phone_number: number ?? '',
    stream_url: streamUrl(callId),
    at: at.toISOString(),
  });
  return {
    ringing: (call: Call, at: Date): EventOf<'ringing'> => ({ kind: 'ringing', ...about(call, at) }),
    answered: (call: Call, at: Date): EventOf<'answered'> => ({ kind: 'answered', ...about(call, at) }),
    detected: (call: Call, answeredBy: Answerer, at: Date): EventOf<'detected'> => ({
      kind: 'detected',
      ...about(call, at),
      answered_by: answeredBy,
    }),
    ended(
      call: Call & Pick<EndedCall, 'answeredAt' | 'answeredBy' | 'endedAt' | 'reason' | 'cause'>,
    ): EventOf<'ended'> {
      const { answeredAt, answeredBy, cause, endedAt, reason } = call;
      const durationMs = answeredAt === null ? 0 : Math.max(0, endedAt.getTime() - answeredAt.getTime());
      const event = {
        kind: 'ended' as const,
        ...about(call, endedAt),
        reason,
        cause,
        duration_ms: durationMs,
      };
      if (answeredBy === null) return event;
      return { ...event, answered_by: shownAnswerer({ answeredBy, answeredAt, hasEnded: true }) };
    },
  };
}

export type PresenceEvents = ReturnType<typeof createPresenceEvents>;
