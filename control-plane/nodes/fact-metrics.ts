// Metric events about committed facts: messages and calls.
import type { Fact } from '#shared/link/messages.ts';
import type { AudioStatistics } from '#shared/voice/call.ts';
import type { BusEvent } from '../bus/bus.ts';
import { emitMetric } from '../metrics/metric-events.ts';
import type { UnassignedMessages } from '../store/messages/messages.ts';

export function emitFactMetrics(
  facts: readonly Fact[],
  { events, unheld, undated }: { events: readonly BusEvent[] } & UnassignedMessages,
): void {
  const received = facts.filter(({ kind }) => kind === 'sms_received').length;
  const probes = events.filter(({ kind }) => kind === 'probe_arrived').length;
  emitMetric({
    kind: 'sms_received',
    result: 'stored',
    count: Math.max(0, received - unheld - undated - probes),
  });
  emitMetric({ kind: 'sms_received', result: 'unheld', count: unheld });
  emitMetric({ kind: 'sms_received', result: 'undated', count: undated });
  emitMetric({ kind: 'sms_received', result: 'probe', count: probes });
  for (const fact of facts) {
    if (fact.kind === 'sms_unreadable') emitMetric({ kind: 'sms_received', result: 'unreadable', count: 1 });
    else if (fact.kind === 'sms_report') emitMetric({ kind: 'sms_reported', status: fact.status });
    else if (fact.kind === 'call_ended' && fact.audio !== null)
      emitMetric({ kind: 'audio_carried', frames: framesOf(fact.audio) });
  }
  for (const event of events)
    if (event.kind === 'call_ended') emitMetric({ kind: 'call_ended', call: event.call });
}

function framesOf({
  captured_frames,
  played_frames,
  late_frames,
  dropped_frames,
  lost_frames,
}: AudioStatistics) {
  return {
    captured: captured_frames,
    played: played_frames,
    late: late_frames,
    dropped: dropped_frames,
    lost: lost_frames,
  };
}
