// Tracks calls in progress: those of nodes that are linked here, and those of other instances whose stream or dialing client is here.
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { sleep, type Timer } from '#shared/clock.ts';
import { KeyedQueue } from '#shared/keyed-queue.ts';
import type { Random } from '#shared/random.ts';
import type { LiveCall } from '#shared/voice/call.ts';
import { CAUSE } from '#shared/voice/release-cause.ts';
import type { Base } from '../bus/base.ts';
import { catchUp } from '../bus/catch-up.ts';
import { RefusalLog } from '../bus/refusal-log.ts';
import { emitMetric } from '../metrics/metric-events.ts';
import type { CallWatch } from '../nodes/fleet.ts';
import { reportedTime } from '../store/database/reported-values.ts';
import { untilAvailable } from '../store/database/until-available.ts';
import { isLinked } from '../store/fleet/node-links.ts';
import { endLostCall } from '../store/messages/call-ends.ts';
import {
  type CallRow,
  findCallStates,
  findOpenCall,
  putCall,
  setStreamStatistics,
} from '../store/messages/calls.ts';
import { isSameCall } from '../store/messages/same-call.ts';
import { makeRoomForUnsold } from '../store/messages/unsold-calls.ts';
import { type CallReport, findOwner, recordersOf, refuseChanged, reportedCall } from './call-reports.ts';
import { CallSession, type CallSessionParts } from './call-session.ts';
import { endForgottenCalls, GONE_MS, loseUnreported, lostCallLog, MISSING_MS } from './lost-calls.ts';
import { TrackedCalls } from './tracked-calls.ts';

/** A node without a link hangs its calls up after 30 s; any later report is too late. */
const LINK_LOST_MS = 40_000;

type LiveCallsParts = Omit<CallSessionParts, 'onMediaLost' | 'onAudio' | 'onGone'> &
  Pick<Base, 'db' | 'bus'> & { random: Random };

export class LiveCalls implements CallWatch {
  /** Identifies this instance in its events to the others. */
  readonly instance = randomUUID();
  readonly #parts: LiveCallsParts & { refusals: RefusalLog };
  readonly #calls: TrackedCalls;
  readonly #lostTimers = new Map<string, Timer>();
  readonly #writes = new KeyedQueue();
  readonly #watchers = new Set<(call: CallRow) => void>();
  readonly #stopCatchingUp: () => void;
  readonly #stopping = new AbortController();
  readonly #noteLost: (callId: string) => void;

  constructor(parts: LiveCallsParts) {
    this.#parts = { ...parts, refusals: new RefusalLog(parts, 'call report') };
    this.#calls = new TrackedCalls(parts.fleet);
    this.#noteLost = lostCallLog(parts);
    setMaxListeners(0, this.#stopping.signal); // One for each call that waits.
    parts.bus.subscribe((event) => {
      if (event.kind === 'call_ended') this.#onEnded(event.call.callId, event.call.cause);
      if (event.kind === 'call_changed' && event.instance !== this.instance) this.#follow(event.call);
    });
    this.#stopCatchingUp = catchUp(parts, () => this.#followStored());
  }

  /** Calls `watcher` for each call that begins here, once it is stored, and for each that advances here. The returned function stops that. */
  watch(watcher: (call: CallRow) => void): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /** A call of this subscription, or with null an unassigned one; undefined when this instance has none. */
  find(callId: string, subscriptionId: string | null): CallSession | undefined {
    const session = this.#calls.get(callId);
    return session?.call.subscriptionId === subscriptionId ? session : undefined;
  }

  /** As `find`, also of a call that another instance tracks. Undefined when there is none, or it has ended. */
  async open(callId: string, subscriptionId: string): Promise<CallSession | undefined> {
    const here = this.find(callId, subscriptionId);
    if (here !== undefined) return here;
    const call = await findOpenCall(this.#parts.db, callId);
    if (call?.subscriptionId !== subscriptionId || this.#calls.hasEnded(callId)) return undefined;
    if (this.#calls.has(callId)) return this.find(callId, subscriptionId);
    const session = this.begin(call);
    // It may have advanced while it was read: that event found no session here.
    this.#followStored([callId]).catch((error: unknown) =>
      this.#parts.log.warn({ err: error, call: callId }, 'reading the state of a call failed'),
    );
    return session;
  }

  /** Calls of subscriptions, up or being set up, at nodes that are linked here. Without probes and calls to numbers that are not sold. */
  customersCalls(): CallRow[] {
    return this.#calls.here().flatMap(({ call }) => (call.subscriptionId === null ? [] : [call]));
  }

  isBusy(place: { iccid: string; nodeId: string }): boolean {
    return this.#calls.isBusy(place);
  }

  ofSim(iccid: string): CallSession[] {
    return this.#calls.ofSim(iccid);
  }

  /** Inbound calls that ring now. */
  ringing(subscriptionId: string): CallRow[] {
    const calls = this.#calls.all().map(({ call }) => call);
    const isRinging = ({ direction, state }: CallRow): boolean =>
      direction === 'inbound' && state === 'ringing';
    return calls.filter((call) => call.subscriptionId === subscriptionId && isRinging(call));
  }

  /** Adds a call that is about to be dialed. */
  begin(call: CallRow): CallSession {
    const recorders = recordersOf(this.#parts, call, (verdict) => session.judged(verdict));
    const onGone = (): void => this.#miss([session], GONE_MS);
    const session: CallSession = new CallSession(call, { ...this.#parts, ...recorders, onGone });
    this.#calls.add(session);
    return session;
  }

  /** Removes a call that was not dialed after all. */
  forget(callId: string): void {
    this.#calls.remove(callId)?.release();
  }

  linked(nodeId: string, calls: readonly LiveCall[], heardAt: Date | undefined): void {
    this.#noteUp(nodeId, heardAt);
    this.#lostTimers.get(nodeId)?.cancel();
    this.#lostTimers.delete(nodeId);
    const reported = new Set(calls.map(({ call_id }) => call_id));
    const missing = this.#calls.ofNode(nodeId).filter(({ call }) => !reported.has(call.callId));
    this.#miss(missing, MISSING_MS);
    for (const frame of calls) this.#onReport(nodeId, frame, { isKnown: true });
    for (const session of this.#calls.ofNode(nodeId)) {
      const wasElsewhere = this.#calls.elsewhere.delete(session.call.callId);
      if (!reported.has(session.call.callId)) continue;
      session.relinked();
      if (wasElsewhere) this.#publish(session);
    }
    loseUnreported(this.#parts, {
      nodeId,
      reported,
      isKnown: (callId) => this.#calls.has(callId) || this.#calls.pending.has(callId),
      lose: (callId) => this.#endAsLost(callId),
    });
  }

  changed(nodeId: string, frame: LiveCall): void {
    this.#onReport(nodeId, frame, { isKnown: false });
  }

  unlinked(nodeId: string, heardAt: Date): void {
    this.#noteUp(nodeId, heardAt);
    this.#lostTimers.get(nodeId)?.cancel();
    const timer = this.#parts.clock.after(LINK_LOST_MS, () => {
      this.#lostTimers.delete(nodeId);
      this.#loseCallsOf(nodeId).catch((error: unknown) =>
        this.#parts.log.error({ err: error, node: nodeId }, 'ending the calls of a node failed'),
      );
    });
    this.#lostTimers.set(nodeId, timer);
  }

  /** Housekeeping: ends calls that no instance tracks, and those whose set-up never ends. */
  async endForgotten(): Promise<void> {
    const tracked = this.#calls.here();
    for (const { call } of tracked) this.#noteUp(call.nodeId, this.#parts.fleet.find(call.nodeId)?.heardAt);
    await endForgottenCalls(this.#parts, tracked, (callId) => this.#endAsLost(callId));
    await this.#followStored();
  }

  /** This instance stops: calls go on, and their clients may reconnect to another instance. */
  async stop(): Promise<void> {
    this.#stopCatchingUp();
    this.#stopping.abort();
    this.#parts.refusals.stop();
    for (const timer of this.#lostTimers.values()) timer.cancel();
    for (const session of this.#calls.all()) session.release();
    await this.#writes.ended();
  }

  /** Another instance tracks the call, whose state is this. */
  #follow({ callId, state, answeredAt }: Pick<CallRow, 'callId' | 'state' | 'answeredAt'>): void {
    const session = this.#calls.get(callId);
    // An event of an older link may come late.
    if (session === undefined || this.#parts.fleet.find(session.call.nodeId) !== undefined) return;
    this.#calls.elsewhere.add(callId);
    session.advance(state, answeredAt);
    session.relinked();
  }

  /** Reads the store for changes that the bus lost. */
  async #followStored(callIds: readonly string[] = [...this.#calls.elsewhere]): Promise<void> {
    for (const call of await findCallStates(this.#parts.db, callIds)) {
      if (!this.#calls.elsewhere.has(call.callId)) continue;
      if (call.state === 'ended') this.#onEnded(call.callId, call.cause ?? CAUSE.temporaryFailure);
      else this.#follow({ ...call, state: call.state });
    }
  }

  /** A node that lives has the calls that it reported, unless it reports otherwise. */
  #noteUp(nodeId: string, heardAt: Date | undefined): void {
    if (heardAt === undefined) return;
    for (const session of this.#calls.ofNode(nodeId))
      if (!this.#calls.elsewhere.has(session.call.callId)) session.wasUp(heardAt);
  }

  /** Gives up those of the calls that their node does not report meanwhile. */
  #miss(sessions: readonly CallSession[], afterMs: number): void {
    if (sessions.length === 0) return;
    for (const session of sessions) this.#calls.missing.add(session);
    const lose = (): void => this.#lose(sessions.filter((session) => this.#calls.missing.delete(session)));
    // The calls of an instance that stops go on.
    sleep(this.#parts.clock, afterMs, this.#stopping.signal).then(lose, () => undefined);
  }

  #onReport(nodeId: string, frame: LiveCall, { isKnown }: { isKnown: boolean }): void {
    const callId = frame.call_id;
    if (this.#calls.hasEnded(callId)) return;
    const session = this.#calls.get(callId);
    const pending = this.#calls.pending.get(callId);
    const known = session?.call ?? pending?.frame;
    if ((session?.call.nodeId ?? pending?.nodeId ?? nodeId) !== nodeId) {
      this.#parts.refusals.note('it is a call of another node', { node: nodeId, call: callId });
    } else if (known !== undefined && !isSameCall(known, frame)) {
      refuseChanged(this.#parts, nodeId, callId);
    } else if (known !== undefined) {
      if (pending !== undefined) pending.frame = frame;
      if (session !== undefined && this.#advance(session, frame)) this.#publish(session);
    } else if (this.#calls.hasTooMany(nodeId, frame.iccid)) {
      this.#parts.refusals.note('the node has too many calls', { node: nodeId, call: callId });
    } else {
      this.#calls.pending.set(callId, { nodeId, frame });
      this.#patiently(callId, nodeId, () => this.#beginPending(nodeId, frame, { isKnown }))
        .catch((error: unknown) =>
          this.#parts.log.error({ err: error, call: callId }, 'finding the subscription of a call failed'),
        )
        .finally(() => this.#calls.pending.delete(callId));
    }
  }

  async #beginPending(from: string, reported: LiveCall, { isKnown }: { isKnown: boolean }): Promise<void> {
    const { db, clock } = this.#parts;
    const callId = reported.call_id;
    const owner = await findOwner(this.#parts, from, reported, { isKnown });
    if (owner === undefined) return;
    if (owner.subscriptionId === null) await makeRoomForUnsold(db, reported.iccid);
    const now = new Date(clock.now());
    const wanted = (): CallReport | undefined =>
      this.#calls.hasEnded(callId) ? undefined : this.#calls.pending.get(callId);
    const callOf = (pending: CallReport): CallRow => reportedCall(pending, owner, now);
    const first = wanted();
    if (first === undefined) return;
    // A client that hears of it may ask another instance for it at once.
    const isStored = await putCall(db, callOf(first), now);
    const latest = wanted();
    if (latest === undefined) return;
    if (!isStored)
      return this.#parts.refusals.note('it has ended, or is of another node', { node: from, call: callId });
    // A client may have opened the stream of the recorded call meanwhile.
    const opened = this.#calls.get(callId);
    if (opened !== undefined && (opened.call.nodeId !== from || !isSameCall(opened.call, latest.frame)))
      return refuseChanged(this.#parts, from, callId);
    const session = opened ?? this.begin(callOf(latest));
    // Its node reported it here, and has lost its link since.
    if (this.#lostTimers.has(from)) this.#calls.elsewhere.delete(callId);
    this.#advance(session, latest.frame);
    this.#publish(session);
  }

  /** Whether the report is news of its state. */
  #advance(session: CallSession, frame: LiveCall): boolean {
    const now = new Date(this.#parts.clock.now());
    this.#calls.missing.delete(session);
    session.wasUp(now);
    const isNews = session.advance(frame.state, reportedTime(frame.answered_at, now));
    session.mediaChanged(frame.has_media);
    return isNews;
  }

  /** The node reports a call once: what the store cannot take now waits for it, while the call goes on and its node is linked here. */
  #patiently(callId: string, nodeId: string, work: () => Promise<unknown>): Promise<unknown> {
    const isWanted = (): boolean =>
      !this.#calls.hasEnded(callId) && this.#parts.fleet.find(nodeId) !== undefined;
    return untilAvailable({ ...this.#parts, signal: this.#stopping.signal }, work, isWanted);
  }

  /** First the local watchers, then the store, then the other instances. A call that begins is in the store before. */
  #publish({ call }: CallSession): void {
    for (const watcher of this.#watchers) watcher(call);
    const { db, bus, clock, log } = this.#parts;
    const write = async (): Promise<void> => {
      await this.#patiently(call.callId, call.nodeId, () => putCall(db, call, new Date(clock.now())));
      if (!this.#calls.hasEnded(call.callId))
        bus.publish({ kind: 'call_changed', instance: this.instance, call });
    };
    this.#writes
      .run(call.callId, write)
      .catch((error: unknown) => log.warn({ err: error, call: call.callId }, 'storing a call failed'));
  }

  #onEnded(callId: string, cause: number): void {
    const session = this.#calls.remove(callId);
    const statistics = session?.statistics;
    session?.end(cause);
    if (!statistics) return;
    const { overflow_frames: overflow, undelivered_frames: undelivered } = statistics;
    emitMetric({ kind: 'audio_carried', frames: { overflow, undelivered } });
    setStreamStatistics(this.#parts.db, callId, statistics).catch((error: unknown) =>
      this.#parts.log.warn({ err: error, call: callId }, 'storing the statistics of a stream failed'),
    );
  }

  /** Gives them up, unless another instance has the link of the node by now. */
  async #loseCallsOf(nodeId: string): Promise<void> {
    const { db, clock } = this.#parts;
    const lost = this.#calls.ofNode(nodeId).filter(({ call }) => !this.#calls.elsewhere.has(call.callId));
    if (lost.length === 0) return;
    // Without the store nothing is known of another link.
    if (!(await isLinked(db, nodeId, new Date(clock.now())).catch(() => false))) return this.#lose(lost);
    for (const { call } of lost) this.#calls.elsewhere.add(call.callId);
    await this.#followStored();
  }

  #lose(sessions: readonly CallSession[]): void {
    for (const { call } of sessions) {
      if (!this.#calls.has(call.callId)) continue;
      this.#endAsLost(call.callId).catch((error: unknown) => {
        this.#parts.log.warn({ err: error, call: call.callId }, 'storing the end of a call failed');
        this.#onEnded(call.callId, CAUSE.temporaryFailure);
      });
    }
  }

  /** The end of a call is then the last sign that it was up. */
  async #endAsLost(callId: string): Promise<void> {
    const { db, bus, clock } = this.#parts;
    const cause = CAUSE.temporaryFailure;
    this.#noteLost(callId);
    const now = new Date(clock.now());
    const upAt = this.#calls.get(callId)?.upAt;
    const call = await endLostCall(db, callId, { reason: 'contact_lost', cause, upAt, now });
    if (call === undefined) this.#onEnded(callId, cause);
    else {
      if (call.subscriptionId !== null) emitMetric({ kind: 'call_ended', call });
      bus.publish({ kind: 'call_ended', call });
    }
  }
}
