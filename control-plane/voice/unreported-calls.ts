// Calls that a node had at another instance and does not report when it links to this one: they are only in the store.
import type { Base } from '../bus/base.ts';
import type { Fleet } from '../nodes/fleet.ts';
import { findOpenCallsOfNode } from '../store/messages/calls.ts';
import { DIAL_START_MS } from './call-session.ts';

/** A node reports the ends of its missing calls right after its hello. */
export const MISSING_MS = 5_000;

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
