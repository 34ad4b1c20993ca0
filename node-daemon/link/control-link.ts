// Keeps this node linked to its control plane: one link at a time, the next one open before the current one ends, and waits between tries.
import type { Timer } from '#shared/clock.ts';
import { APPROVAL_PENDING_STATUS, LINK_CLOSE } from '#shared/link/close.ts';
import type { SlotEvent } from '#shared/link/messages.ts';
import type { PinKey } from '#shared/link/pin-seal.ts';
import { LINK_PATH } from '#shared/link/version.ts';
import type { Random } from '#shared/random.ts';
import type { LiveCall } from '#shared/voice/call.ts';
import { ClockCorrection } from './clock-correction.ts';
import { fingerprintOf, type IdentitySource, makeProof } from './identity.ts';
import { type LinkEnd, LinkSocket, type LinkSocketParts } from './link-socket.ts';
import type { PinBox } from './pin-box.ts';
import { planReconnect } from './reconnect.ts';
import { SentFacts } from './sent-facts.ts';

/** A link that lasted this long was healthy, so the waits start from the beginning. */
const STABLE_MS = 5_000;
/** Slots change together. For example, a starting modem reports three changes at once. */
const SLOTS_DELAY_MS = 20;
/** Interval of reports of values that change with each message: how full the storages and the journal are. */
export const LOAD_REPORT_MS = 10_000;
/** Spreads the reconnects of a fleet, because a stopping server notifies all nodes at once. Short, because that server waits for them. */
const HANDOVER_DELAY_MAX_MS = 250;

/** The parts that the control link uses. */
interface ControlLinkParts
  extends Omit<LinkSocketParts, 'alarms' | 'calls' | 'clockCorrection' | 'pinKey' | 'sentFacts'> {
  readonly identity: IdentitySource;
  readonly random: Random;
  readonly alarms?: () => string[];
  readonly calls?: () => LiveCall[];
  /** For PINs of the control plane. Default: the node takes none. */
  readonly pins?: PinBox | undefined;
}

/** `pending`: the key waits for an operator’s approval. `away`: the control plane does not answer, or refuses the node. */
export type LinkState = 'linked' | 'pending' | 'away' | 'not_enrolled';

/** How the last attempt or link ended. */
export interface LinkFailure {
  /** HTTP status of a refused attempt; null for a link that ended, and for an attempt without an answer. */
  readonly status: number | null;
  /** Close code of WebSocket. */
  readonly code: number;
  readonly reason: string;
}

/** The state in words for an operator. */
export const LINK_WORDS: Readonly<Record<LinkState, string>> = {
  linked: 'linked',
  pending: 'waits for approval',
  away: 'no link',
  not_enrolled: 'not enrolled',
};

export class ControlLink {
  readonly #parts: LinkSocketParts;
  readonly #clockCorrection: ClockCorrection;
  readonly #identity: IdentitySource;
  readonly #random: Random;
  /** The link for facts, slots and events. */
  #current: LinkSocket | undefined;
  /** The link that is being opened. */
  #next: LinkSocket | undefined;
  /** All links that are not closed: these two, and links that were left. */
  readonly #open = new Set<LinkSocket>();
  #attempt = 0;
  /** 401s since the last welcome or long wait. */
  #proofsRefused = 0;
  #isPending = false;
  #failure: LinkFailure | undefined;
  #awaySince: number;
  #linkedAt = 0;
  #streamHoldMs: number | undefined;
  #timer: Timer | undefined;
  #slotsTimer: Timer | undefined;
  #loadTimer: Timer | undefined;
  #isStopped = false;
  /** Number of started links and of ended links. */
  #steps = 0;
  #onAllClosed: () => void = () => undefined;

  constructor({ identity, random, pins, alarms = () => [], calls = () => [], ...parts }: ControlLinkParts) {
    const clockCorrection = new ClockCorrection(parts);
    this.#clockCorrection = clockCorrection;
    const pinKey = (): PinKey | undefined => identity.current && pins?.keyOf(identity.current);
    const sentFacts = new SentFacts(parts.journal);
    this.#parts = { ...parts, alarms, calls, clockCorrection, pinKey, sentFacts };
    this.#identity = identity;
    this.#random = random;
    this.#awaySince = parts.clock.now();
    parts.journal.onFact(() => this.#current?.sendFacts());
    identity.onChange(() => this.#onIdentity());
  }

  /** Whether the control plane has welcomed this node. */
  get isLinked(): boolean {
    return this.#current !== undefined;
  }

  /** How long a call without its stream stays up, as the last link reported; undefined before, and of an older control plane. */
  get streamHoldMs(): number | undefined {
    return this.#streamHoldMs;
  }

  get state(): LinkState {
    if (this.isLinked) return 'linked';
    if (this.#identity.current === undefined) return 'not_enrolled';
    return this.#isPending ? 'pending' : 'away';
  }

  /** Why there is no link; undefined while there is one, and before the first attempt ended. */
  get failure(): LinkFailure | undefined {
    return this.isLinked ? undefined : this.#failure;
  }

  /** Grows while the node tries to connect. Undefined while it has a link, which the heartbeat watches, and while it needs none. */
  get steps(): number | undefined {
    const isIdle = this.#isStopped || this.isLinked || this.#identity.current === undefined;
    return isIdle ? undefined : this.#steps;
  }

  /** Keeps a link until `stop`, as soon as the node is enrolled. */
  start(): void {
    this.#clockCorrection.start();
    this.#sendLoad();
    this.#connect();
  }

  /** Reports soon to the control plane that slots or alarms have changed. */
  slotsChanged(): void {
    if (this.#current === undefined) return;
    this.#slotsTimer ??= this.#parts.clock.after(SLOTS_DELAY_MS, () => {
      this.#slotsTimer = undefined;
      this.#current?.sendSlots();
    });
  }

  /** Sends an event of a slot, while there is a link. */
  sendEvent(event: SlotEvent): void {
    this.#current?.sendEvent(event);
  }

  /** Sends the state of a call, while there is a link. The next link sends it in its hello. */
  callChanged(call: LiveCall): void {
    this.#current?.sendCall(call);
  }

  /** Closes the link and stays offline. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#current = undefined;
    this.#timer?.cancel();
    this.#slotsTimer?.cancel();
    this.#loadTimer?.cancel();
    this.#clockCorrection.stop();
    if (this.#open.size === 0) return;
    const closed = new Promise<void>((resolve) => {
      this.#onAllClosed = resolve;
    });
    for (const link of this.#open) link.close(LINK_CLOSE.goingAway);
    await closed;
  }

  #sendLoad(): void {
    this.#loadTimer = this.#parts.clock.after(LOAD_REPORT_MS, () => {
      this.#current?.sendNewSlots();
      this.#sendLoad();
    });
  }

  #connect(): void {
    this.#timer?.cancel();
    const identity = this.#identity.current;
    if (this.#isStopped || this.#next !== undefined || identity === undefined) return;
    const timeMs = this.#parts.clock.now() + this.#clockCorrection.offsetMs;
    const log = this.#parts.log.child({ nodeId: identity.nodeId });
    const link = new LinkSocket(
      linkUrl(identity.controlPlaneUrl),
      makeProof(identity, timeMs),
      { ...this.#parts, log },
      {
        onWelcome: () => this.#onWelcome(link),
        onDrain: () => this.#onDrain(link),
        onEnd: (end) => this.#onEnd(link, end),
      },
    );
    this.#next = link;
    this.#steps += 1;
    this.#open.add(link);
  }

  #onWelcome(link: LinkSocket): void {
    if (link !== this.#next) {
      link.close(LINK_CLOSE.left);
      return;
    }
    const older = this.#current;
    this.#next = undefined;
    this.#current = link;
    this.#streamHoldMs = link.streamHoldMs;
    this.#isPending = false;
    this.#proofsRefused = 0;
    this.#linkedAt = this.#parts.clock.now();
    older?.leave();
    // Sends the changes between hello and welcome.
    this.slotsChanged();
    for (const call of this.#parts.calls()) link.sendCall(call);
    link.sendFacts();
  }

  /** Connects to another instance. Until it succeeds, the node keeps this link. */
  #onDrain(link: LinkSocket): void {
    if (link !== this.#current || this.#next !== undefined) return;
    this.#parts.log.info({}, 'control plane instance is stopping: connecting to another one');
    this.#resetWaits();
    this.#connectIn(this.#random() * HANDOVER_DELAY_MAX_MS);
  }

  #onIdentity(): void {
    const identity = this.#identity.current;
    this.#parts.log.info({ nodeId: identity?.nodeId }, identity ? 'enrolled' : 'enrollment removed');
    this.#isPending = false;
    this.#failure = undefined;
    this.#next?.close(LINK_CLOSE.left, 'enrolled again');
    this.#next = undefined;
    this.#current?.leave();
    this.#current = undefined;
    this.#proofsRefused = 0;
    this.#resetWaits();
    this.#connect();
  }

  #onEnd(link: LinkSocket, end: LinkEnd): void {
    this.#open.delete(link);
    this.#steps += 1;
    if (this.#isStopped) {
      if (this.#open.size === 0) this.#onAllClosed();
      return;
    }
    if (link === this.#current) this.#onLost(end);
    else if (link === this.#next) {
      this.#next = undefined;
      this.#reconnect(end, { isLost: false });
    } else this.#parts.log.debug({ code: end.code }, 'an earlier link ended');
  }

  #onLost(end: LinkEnd): void {
    this.#current = undefined;
    this.#slotsTimer?.cancel();
    this.#slotsTimer = undefined;
    if (this.#parts.clock.now() - this.#linkedAt >= STABLE_MS) this.#resetWaits();
    // Otherwise the link that is being opened determines what happens next.
    if (this.#next === undefined) this.#reconnect(end, { isLost: true });
  }

  #resetWaits(): void {
    this.#attempt = 0;
    this.#awaySince = this.#parts.clock.now();
  }

  #reconnect(end: LinkEnd, { isLost }: { isLost: boolean }): void {
    const { clock, log } = this.#parts;
    const now = clock.now();
    const knownOffsetMs = this.#clockCorrection.offsetMs;
    const state = {
      isLost,
      attempt: this.#attempt,
      proofsRefused: this.#proofsRefused,
      awayMs: now - this.#awaySince,
      clockOffsetMs: knownOffsetMs,
    };
    const { reconnect, delayMs, clockOffsetMs } = planReconnect(end, state, now, this.#random());
    if (clockOffsetMs !== knownOffsetMs) {
      log.warn({ offByMs: clockOffsetMs }, 'this node’s clock is wrong: using the control plane’s time');
      this.#clockCorrection.learn(clockOffsetMs);
    }
    this.#attempt += 1;
    if (reconnect === 'stop') this.#proofsRefused = 0;
    else if (end.refusal?.status === 401) this.#proofsRefused += 1;
    const { code, reason, failure } = end;
    this.#failure = {
      status: end.refusal?.status ?? null,
      code,
      reason: reason || (failure instanceof Error ? failure.message : ''),
    };
    const fields = { code, reason, err: failure, reconnect, retryMs: Math.round(delayMs) };
    const wasPending = this.#isPending;
    this.#isPending = end.refusal?.status === APPROVAL_PENDING_STATUS;
    if (this.#isPending && !wasPending) this.#logPending(fields);
    else if (this.#isPending) log.debug(fields, 'this node’s key still waits for approval');
    else if (reconnect === 'stop')
      log.error(fields, 'the control plane refused this node: enroll it again, with --replace');
    else
      log.warn(
        fields,
        this.#current === undefined ? 'link to the control plane failed' : 'no other instance found yet',
      );
    this.#connectIn(delayMs);
  }

  #logPending(fields: object): void {
    const { current } = this.#identity;
    const fingerprint = current && fingerprintOf(current.key);
    this.#parts.log.warn(
      { ...fields, fingerprint },
      `this node’s key waits for approval: run "control-plane node approve ${current?.nodeId ?? '<name>'}" on the control plane`,
    );
  }

  #connectIn(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#parts.clock.after(delayMs, () => this.#connect());
  }
}

/** Returns the URL of the link for a control plane's base URL: ws for http, wss for https. */
export function linkUrl(controlPlaneUrl: string): string {
  const url = new URL(controlPlaneUrl);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  url.pathname = url.pathname.replace(/\/$/, '') + LINK_PATH;
  return url.href;
}
