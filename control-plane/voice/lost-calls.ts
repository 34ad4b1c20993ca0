// Calls that are given up: no instance tracks them, their node does not report them, or their set-up never ends.
import { TokenBucket } from '#shared/token-bucket.ts';
import type { Base } from '../bus/base.ts';
import type { Fleet } from '../nodes/fleet.ts';
import {
  type CallRow,
  findForgottenCalls,
  findOpenCallsOfNode,
  vouchForCalls,
} from '../store/messages/calls.ts';
import { deleteUnsoldCalls } from '../store/messages/unsold-calls.ts';

/** A call has ended after this time without an instance, and several rounds of housekeeping. */
const FORGOTTEN_MS = 3 * 60_000;

/** A node ends an unanswered call after 90 s of dialing and 180 s of ringing. One whose disk is full cannot report that. */
const SET_UP_MAX_MS = 5 * 60_000;

/** A node must begin to dial within this time: the client waits for the response. */
export const DIAL_START_MS = 10_000;

const UNSOLD_KEPT_MS = 30 * 24 * 60 * 60_000;

/** A node reports the ends of its missing calls right after its hello. */
export const MISSING_MS = 5_000;

/** And the end of a call that it says it does not have, once its disk and the store have taken it. */
export const GONE_MS = 30_000;

/** Lines of the log about calls that are given up: a node can invent any number of them. */
const LINES = { burst: 500, perSecond: 1 };

/** Returns a function that logs that a call is given up. */
export function lostCallLog({ clock, log }: Pick<Base, 'clock' | 'log'>): (callId: string) => void {
  const lines = new TokenBucket(clock, LINES);
  return (callId) => {
    if (lines.tryTake()) log.warn({ call: callId }, 'call given up: its node no longer reports it');
  };
}

interface Tracked {
  readonly call: Pick<CallRow, 'callId' | 'state'>;
  readonly trackedSinceMs: number;
  readonly upAt: Date;
}

/** Housekeeping of calls. `tracked`: those of nodes that are linked here. */
export async function endForgottenCalls(
  { db, clock }: Pick<Base, 'db' | 'clock'>,
  tracked: readonly Tracked[],
  lose: (callId: string) => Promise<void>,
): Promise<void> {
  const now = clock.now();
  // Not since its start: the clock of the node may be wrong.
  const isOverdue = ({ call, trackedSinceMs }: Tracked): boolean =>
    call.state !== 'active' && trackedSinceMs < now - SET_UP_MAX_MS;
  const known = tracked
    .filter((session) => !isOverdue(session))
    .map(({ call: { callId }, upAt }) => ({ callId, upAt }));
  await vouchForCalls(db, known, new Date(now));
  const isKnown = new Set(known.map(({ callId }) => callId));
  const forgotten = await findForgottenCalls(db, new Date(now - FORGOTTEN_MS));
  const overdue = tracked.filter(isOverdue).map(({ call }) => call.callId);
  for (const callId of new Set([...overdue, ...forgotten])) if (!isKnown.has(callId)) await lose(callId);
  await deleteUnsoldCalls(db, new Date(now - UNSOLD_KEPT_MS));
}

interface Unreported {
  nodeId: string;
  /** Calls in the node's hello. */
  reported: ReadonlySet<string>;
  /** Whether this instance has the call, or is about to, and so ends it by itself. */
  isKnown(callId: string): boolean;
  lose(callId: string): Promise<void>;
}

/** Gives them up after a while, if the node is still linked here. Without the store, housekeeping ends them later. */
export function loseUnreported(
  { clock, db, fleet, log }: Pick<Base, 'clock' | 'db' | 'log'> & { fleet: Pick<Fleet, 'find'> },
  { nodeId, reported, isKnown, lose }: Unreported,
): void {
  const warn = (error: unknown): void =>
    log.warn({ err: error, node: nodeId }, 'ending the earlier calls of a node failed');
  const dialedBefore = new Date(clock.now() - DIAL_START_MS);
  findOpenCallsOfNode(db, nodeId, dialedBefore).then((open) => {
    const missing = open.filter((callId) => !reported.has(callId) && !isKnown(callId));
    if (missing.length === 0) return;
    clock.after(MISSING_MS, () => {
      if (fleet.find(nodeId) === undefined) return;
      for (const callId of missing) if (!isKnown(callId)) lose(callId).catch(warn);
    });
  }, warn);
}
