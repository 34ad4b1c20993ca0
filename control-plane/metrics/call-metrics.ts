// Metrics of calls, their audio, and open WebSockets.
import type { Instruments } from '#shared/process/instruments.ts';
import type { CallDirection, LiveCallState } from '#shared/voice/call.ts';
import type { Listeners } from './metric-events.ts';

/** Seconds of a conversation. */
const CALL_BUCKETS = [5, 15, 30, 60, 120, 300, 600, 1_800, 3_600];

const DIRECTIONS: readonly CallDirection[] = ['inbound', 'outbound'];
const STATES: readonly LiveCallState[] = ['dialing', 'ringing', 'active'];

export interface MeasuredCalls {
  /** Calls of subscriptions that are up or being set up, on nodes with a link to this instance. */
  calls(): Iterable<{ direction: CallDirection; state: LiveCallState }>;
  /** Open WebSockets by kind. */
  sockets(): Readonly<Record<string, number>>;
}

export function callMetrics(make: Instruments, view: MeasuredCalls): Listeners {
  const ended = make.counter(
    'calls',
    'Ended calls of subscribers; the reasons modem_lost, contact_lost, network_failure and abandoned are faults',
    ['direction', 'reason'],
  );
  const durations = make.histogram('call_duration', 'Duration of answered calls', CALL_BUCKETS, [
    'direction',
  ]);
  const frames = make.counter(
    'audio_frames',
    'Audio frames of 20 ms of ended calls of subscribers: captured, played, late, dropped and lost at the node; overflow and undelivered at the stream',
    ['outcome'],
  );
  make.view(
    'calls_up',
    'Calls of subscribers in progress on nodes that are linked to this instance',
    ['direction', 'state'],
    (gauge) => {
      for (const direction of DIRECTIONS) for (const state of STATES) gauge.set({ direction, state }, 0);
      for (const { direction, state } of view.calls()) gauge.inc({ direction, state });
    },
  );
  make.view('websockets', 'Open WebSockets: node, media, stream, presence', ['kind'], (gauge) => {
    for (const [kind, count] of Object.entries(view.sockets())) gauge.set({ kind }, count);
  });
  return {
    call_ended({ call: { direction, reason, answeredAt, endedAt } }) {
      ended.inc({ direction, reason });
      if (answeredAt === null) return;
      const ms = Math.max(0, endedAt.getTime() - answeredAt.getTime());
      durations.observe({ direction }, ms / 1000);
    },
    audio_carried(carried) {
      for (const [outcome, count] of Object.entries(carried.frames)) frames.inc({ outcome }, count);
    },
  };
}
