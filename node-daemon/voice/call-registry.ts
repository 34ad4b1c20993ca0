// The registry of all calls of this host: the telephone of each, the reports to the control plane, and the fact at the end.
import { randomUUID } from 'node:crypto';
import { type Clock, sleep, type Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { AudioStatistics, LiveCall } from '#shared/voice/call.ts';
import type { Journal } from '../journal/journal.ts';
import { appendPersistently } from '../journal/persistent-append.ts';
import type { CallEnd } from './line-control.ts';
import type { CallObserver, Telephone } from './telephone.ts';

/** A call is ended after this time without a control plane, because it has no owner. */
const UNLINKED_MAX_MS = 30_000;
/** A call whose stream broke gets at least this time, because its node finds another instance within it. */
const BROKEN_MIN_MS = 2_000;
/** An answered call is ended after this time without an audio listener. The control plane has a shorter limit. */
const UNHEARD_MAX_MS = 60_000;
const OWNER_CHECK_MS = 500;

interface CallRegistryParts {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whether the control plane is connected. */
  readonly isLinked: () => boolean;
  /** How long a call without its stream stays up, as the control plane reported; undefined if it did not. */
  readonly streamHoldMs?: () => number | undefined;
  /** Called when the state of a call changed, to report it to the control plane. */
  readonly onChange: (call: LiveCall) => void;
}

interface Entry {
  live: LiveCall;
  /** Whether it came while the daemon was stopping. Such a call is reported only at its end. */
  readonly isLeft: boolean;
  readonly telephone: Telephone;
  unlinkedMs: number;
  unheardMs: number;
}

/** All calls of a host in progress, by their ids. */
export class CallRegistry implements CallObserver {
  readonly #parts: CallRegistryParts;
  readonly #entries = new Map<string, Entry>();
  #ownerTimer: Timer | undefined;
  #isDraining = false;
  #onDrained: () => void = () => undefined;

  constructor(parts: CallRegistryParts) {
    this.#parts = parts;
  }

  get live(): LiveCall[] {
    return [...this.#entries.values()].flatMap(({ isLeft, live }) => (isLeft ? [] : [live]));
  }

  /** Whether the daemon is stopping and starts no new calls. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /**
   * Leaves incoming calls unanswered from now on. Resolves when the calls in progress have ended, after `limitMs`, or when
   * `signal` is aborted.
   */
  async drain(limitMs: number, signal: AbortSignal): Promise<void> {
    this.#isDraining = true;
    if (this.live.length === 0 || limitMs === 0 || signal.aborted) return;
    this.#parts.log.info({ calls: this.live.length, limitMs }, 'waiting for calls to end');
    const drained = new AbortController();
    this.#onDrained = () => drained.abort();
    const ended = AbortSignal.any([drained.signal, signal]);
    await sleep(this.#parts.clock, limitMs, ended).catch(() => undefined);
  }

  newId(): string {
    return `call_${randomUUID()}`;
  }

  find(callId: string): Telephone | undefined {
    const entry = this.#entries.get(callId);
    return entry?.isLeft === true ? undefined : entry?.telephone;
  }

  /** Records a new call or the new state of a call. */
  note(live: LiveCall, telephone: Telephone): void {
    const known = this.#entries.get(live.call_id);
    const isLeft = known?.isLeft ?? (this.#isDraining && live.direction === 'inbound');
    if (known === undefined)
      this.#entries.set(live.call_id, { live, isLeft, telephone, unlinkedMs: 0, unheardMs: 0 });
    else known.live = live;
    if (!isLeft) this.#parts.onChange(live);
    this.#ownerTimer ??= this.#checkOwnersLater();
  }

  /** Records the end of a call as a fact for the control plane. */
  end(callId: string, { cause, reason }: CallEnd, audio: AudioStatistics | null): void {
    const entry = this.#entries.get(callId);
    if (entry === undefined) return;
    this.#entries.delete(callId);
    const { state: _state, has_media: _hasMedia, ...call } = entry.live;
    const ended = new Date(this.#parts.clock.now()).toISOString();
    const fact = { kind: 'call_ended', ...call, ended_at: ended, reason, cause, audio } as const;
    const { tried } = appendPersistently(this.#parts, [{ kind: 'fact', fact }]);
    // A stop that waits for calls also waits for the fact, which is sent as soon as it is written.
    void tried.then(() => {
      if (this.live.length === 0) this.#onDrained();
    });
    this.#parts.log.info({ call: callId, reason, cause, audio }, 'call ended');
  }

  stop(): void {
    this.#ownerTimer?.cancel();
    this.#ownerTimer = undefined;
  }

  #checkOwnersLater(): Timer {
    return this.#parts.clock.after(OWNER_CHECK_MS, () => {
      for (const [callId, entry] of this.#entries) this.#checkOwner(callId, entry);
      this.#ownerTimer = this.#entries.size > 0 ? this.#checkOwnersLater() : undefined;
    });
  }

  /** A call that has lost its stream and its control plane has no listener. */
  #unlinkedMaxMs({ live, telephone }: Entry): number {
    const holdMs = this.#parts.streamHoldMs?.();
    const wasStreamed = live.has_media !== undefined;
    if (holdMs === undefined || !wasStreamed || telephone.hasMedia) return UNLINKED_MAX_MS;
    return Math.min(UNLINKED_MAX_MS, Math.max(BROKEN_MIN_MS, holdMs));
  }

  #checkOwner(callId: string, entry: Entry): void {
    const isHeard = entry.live.state !== 'active' || entry.telephone.hasMedia;
    entry.unlinkedMs = this.#parts.isLinked() ? 0 : entry.unlinkedMs + OWNER_CHECK_MS;
    entry.unheardMs = isHeard ? 0 : entry.unheardMs + OWNER_CHECK_MS;
    if (entry.unlinkedMs < this.#unlinkedMaxMs(entry) && entry.unheardMs < UNHEARD_MAX_MS) return;
    entry.unlinkedMs = 0;
    entry.unheardMs = 0;
    this.#parts.log.warn({ call: callId }, 'ending a call: no link or no audio client for too long');
    entry.telephone.hangUp('abandoned').catch(() => undefined);
  }
}
