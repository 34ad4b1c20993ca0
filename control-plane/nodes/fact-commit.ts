// The common part of committing facts from a link and facts that waited for their SIM, and the metrics of both.
import type { Fact } from '#shared/link/messages.ts';
import type { AudioStatistics } from '#shared/voice/call.ts';
import { FRAME_MS } from '#shared/voice/media.ts';
import type { Base } from '../bus/base.ts';
import type { BusEvent } from '../bus/bus.ts';
import { isProbeId } from '../domain/probe-text.ts';
import { emitMetric, emitTextEnd } from '../metrics/metric-events.ts';
import type { DatabaseTransaction } from '../store/database/database.ts';
import { countUnheld } from '../store/fleet/node-links.ts';
import { hasDueFacts, type KeyedFact, takeWaitingFacts } from '../store/fleet/waiting-facts.ts';
import type { UnassignedMessages } from '../store/messages/messages.ts';
import { applyFacts } from './facts.ts';

/** Applies the facts that `takeFacts` returns, in the same transaction. Then counts them and publishes the changes. */
export async function commitFacts(
  { db, bus, clock, log }: Base,
  nodeId: string,
  takeFacts: (trx: DatabaseTransaction, now: () => Date) => Promise<readonly KeyedFact[]>,
): Promise<void> {
  const now = (): Date => new Date(clock.now());
  const { facts, events, audio, ends, unassigned } = await db.transaction().execute(async (trx) => {
    const facts = await takeFacts(trx, now);
    const { events, audio, ends, ...unassigned } = await applyFacts(trx, facts, now());
    const count = unassigned.unheld + unassigned.undated;
    if (count > 0) await countUnheld(trx, nodeId, count);
    return { facts, events, audio, ends, unassigned };
  });
  const { unheld, undated } = unassigned;
  if (unheld + undated > 0) log.warn({ unheld, undated }, 'messages discarded: number not sold when sent');
  emitFactMetrics(
    facts.map(({ fact }) => fact),
    { events, audio, ...unassigned },
  );
  for (const end of ends) emitTextEnd(end);
  for (const event of events) bus.publish(event);
}

/** Applies the waiting facts of SIMs that the node now holds. Costs one query if there are none. */
export async function commitWaitingFacts(parts: Base, nodeId: string): Promise<void> {
  if (!(await hasDueFacts(parts.db, nodeId))) return;
  await commitFacts(parts, nodeId, (trx, now) => takeWaitingFacts(trx, nodeId, now()));
}

function emitFactMetrics(
  facts: readonly Fact[],
  {
    events,
    audio,
    unheld,
    undated,
  }: { events: readonly BusEvent[]; audio: readonly AudioStatistics[] } & UnassignedMessages,
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
    else if (fact.kind === 'sms_report' && !isProbeId(fact.command_id))
      emitMetric({ kind: 'sms_reported', status: fact.status });
  }
  for (const each of audio) emitMetric({ kind: 'audio_carried', frames: framesOf(each) });
  for (const event of events)
    if (event.kind === 'call_ended' && event.call.subscriptionId !== null)
      emitMetric({ kind: 'call_ended', call: event.call });
}

/** A node may report any count: more than a day of audio is none. */
const FRAMES_MAX = (24 * 60 * 60 * 1_000) / FRAME_MS;

function framesOf(audio: AudioStatistics) {
  const clamped = (count: number): number => Math.min(count, FRAMES_MAX);
  return {
    captured: clamped(audio.captured_frames),
    played: clamped(audio.played_frames),
    late: clamped(audio.late_frames),
    dropped: clamped(audio.dropped_frames),
    lost: clamped(audio.lost_frames),
  };
}
