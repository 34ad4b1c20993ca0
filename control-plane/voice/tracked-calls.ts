// The calls that an instance knows: those of its nodes, those that another instance tracks, and those that have just ended.
import { LRUCache } from 'lru-cache';
import type { Fleet } from '../nodes/fleet.ts';
import { type CallReport, isOneTooMany } from './call-reports.ts';
import type { CallSession } from './call-session.ts';

/** Ended calls that are remembered, so that a late report does not begin them again. */
const ENDED_MAX = 10_000;

export class TrackedCalls {
  readonly #fleet: Fleet;
  readonly #sessions = new Map<string, CallSession>();
  readonly #ended = new LRUCache<string, true>({ max: ENDED_MAX });
  /** New calls whose subscription is being read. */
  readonly pending = new Map<string, CallReport>();
  /** Calls that another instance tracks: their nodes are linked there. */
  readonly elsewhere = new Set<string>();
  /** Not in the hello of their nodes, or ended as these say, and not reported since: one that is being dialed may be reported later. */
  readonly missing = new Set<CallSession>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  get(callId: string): CallSession | undefined {
    return this.#sessions.get(callId);
  }

  has(callId: string): boolean {
    return this.#sessions.has(callId);
  }

  hasEnded(callId: string): boolean {
    return this.#ended.has(callId);
  }

  all(): CallSession[] {
    return [...this.#sessions.values()];
  }

  /** Those of nodes that are linked here. */
  here(): CallSession[] {
    return this.all().filter(
      ({ call }) => !this.elsewhere.has(call.callId) && this.#fleet.find(call.nodeId) !== undefined,
    );
  }

  ofNode(nodeId: string): CallSession[] {
    return this.all().filter(({ call }) => call.nodeId === nodeId);
  }

  ofSim(iccid: string): CallSession[] {
    return this.all().filter(({ call }) => call.iccid === iccid);
  }

  /**
   * Whether the SIM has a call at the node that holds it. Open calls of a former holder do not count, nor those of a node that has no link
   * any more.
   */
  isBusy({ iccid, nodeId }: { iccid: string; nodeId: string }): boolean {
    const isLinked = this.#fleet.find(nodeId) !== undefined;
    const isUp = ({ call }: CallSession): boolean =>
      call.nodeId === nodeId && (isLinked || this.elsewhere.has(call.callId));
    const begins = (pending: CallReport): boolean =>
      pending.nodeId === nodeId && pending.frame.iccid === iccid;
    return this.ofSim(iccid).some(isUp) || [...this.pending.values()].some(begins);
  }

  /** Missing calls leave room on their SIM, but not at the node: it could leave out others in each hello. */
  hasTooMany(nodeId: string, iccid: string): boolean {
    const sessions = this.ofNode(nodeId);
    const present = sessions.filter((session) => !this.missing.has(session)).map(({ call }) => call);
    const begun = [...this.pending.values()]
      .filter((call) => call.nodeId === nodeId && !this.has(call.frame.call_id))
      .map(({ frame }) => frame);
    const ofSim = [...present, ...begun].filter((call) => call.iccid === iccid).length;
    return isOneTooMany({ ofNode: sessions.length + begun.length, ofSim });
  }

  add(session: CallSession): void {
    const { callId, nodeId } = session.call;
    this.#sessions.set(callId, session);
    if (this.#fleet.find(nodeId) === undefined) this.elsewhere.add(callId);
  }

  /** It has ended, or was not dialed after all. */
  remove(callId: string): CallSession | undefined {
    const session = this.#sessions.get(callId);
    this.#ended.set(callId, true);
    this.#sessions.delete(callId);
    this.elsewhere.delete(callId);
    return session;
  }
}
