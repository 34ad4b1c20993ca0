// One call that is up: its stream's client, its audio, the commands to its node, and its timeouts.
import { randomUUID } from 'node:crypto';
import type { WebSocket } from 'ws';
import type { Timer } from '#shared/clock.ts';
import { CommandRefusal } from '#shared/link/command-refusal.ts';
import type { CommandParams } from '#shared/link/messages.ts';
import type { Logger } from '#shared/log.ts';
import type { Answerer, LiveCallState } from '#shared/voice/call.ts';
import { MEDIA_CLOSE } from '#shared/voice/close-code.ts';
import { callCloseCode, causeOfClose } from '#shared/voice/release-cause.ts';
import type { Base } from '../bus/base.ts';
import type { Fleet } from '../nodes/fleet.ts';
import type { audioBudgets } from '../nodes/frame-limiter.ts';
import { isCallUnknown, NodeUnavailable } from '../nodes/node-link.ts';
import type { CallRow } from '../store/messages/calls.ts';
import { AudioBridge } from './audio-bridge.ts';
import { CallEnding, type HangUpReason } from './call-ending.ts';
import { Goodbye } from './goodbye.ts';
import type { MediaTickets } from './media-tickets.ts';
import type { StreamClient, StreamedCall } from './stream-client.ts';
import { closeStream, failure, REPLACED, RESTART, type StreamClosing } from './stream-closing.ts';
import type { StreamPlaces } from './stream-places.ts';

/** A modem answers ATA and ATH within seconds; after that the node reports the result anyway. */
const COMMAND_TIMEOUT_MS = 10_000;

/** The pause between attempts to open a media link. */
const MEDIA_RETRY_MS = 500;
/** Nothing announces that the instance with the node's link can be reached again. */
const OFFLINE_RETRY_MS = 1_000;

/** Attempts in a row to open the media link; after these the client is notified that there is none. */
const MEDIA_ATTEMPTS_MAX = 5;
/** A media link that was up for this long was successful. */
const MEDIA_GOOD_MS = 10_000;

/** The node reports the end of a call within this time after it ended at the node. */
const END_WAIT_MS = 2_000;
/** A client whose instance ended has at least this time to open the stream at another one. */
const REOPEN_MS = 2_000;
/** An instance that does not answer once may be slow. Twice in a row, with its media link gone, it is dead. */
const UNANSWERED_MAX = 2;

type CallCommand = 'answer' | 'hang_up' | 'open_media';

const STATE_RANK = { dialing: 0, ringing: 1, active: 2 } as const;

export interface CallSessionParts extends Pick<Base, 'clock' | 'log'> {
  fleet: Fleet;
  tickets: MediaTickets;
  places: StreamPlaces;
  audioBudgets: ReturnType<typeof audioBudgets>;
  mediaBaseUrl: string | null; // This instance's URL; null: that of the control link.
  /** Time in which a disconnected client may reconnect. */
  holdMs: number;
  /** An active call that was never streamed is hung up after this. */
  unclaimedMs: number;
  queueFrames: number;
  /** Called when the media link broke, with the time of the last audio. The node's link may be at another instance. */
  onMediaLost(upAt: Date): void;
  /** Called when the node says that it does not have the call any more. It reports the end, unless its disk is full. */
  onGone(): void;
  /** Called with each frame of the far end. */
  onAudio?(frame: Uint8Array, call: CallRow): void;
}

export class CallSession implements StreamedCall {
  readonly #parts: CallSessionParts;
  readonly trackedSinceMs: number;
  readonly #log: Logger;
  readonly #audio: AudioBridge;
  #call: CallRow;
  #client: StreamClient | undefined;
  #leavePlace: (() => void) | undefined;
  /** Ends the call unless a client connects. */
  #claim: Timer | undefined;
  #retry: Timer | undefined;
  #connecting: Promise<void> | undefined;
  readonly #ending: CallEnding;
  #goodbye: Goodbye | undefined;
  #mediaAttempts = 0;
  /** The last attempt reached no node. */
  #isOffline = false;
  #linkedAtMs = 0;
  /** The node has answered it; the report that it is active follows. */
  #isAnswered = false;
  #isOver = false;
  #undeliveredFrames = 0;
  #wasStreamed = false;
  /** Whether the node has the media link open; undefined before the first one. */
  #hasMedia: boolean | undefined;
  #unanswered = 0;
  #upAt: Date;

  constructor(call: CallRow, parts: CallSessionParts) {
    this.#upAt = call.startedAt;
    this.trackedSinceMs = parts.clock.now();
    this.#parts = parts;
    this.#call = call;
    this.#log = parts.log.child({ call: call.callId });
    this.#audio = new AudioBridge({
      budget: parts.audioBudgets.of(call.nodeId, call.iccid),
      queueFrames: parts.queueFrames,
      clock: parts.clock,
      log: this.#log,
      onLinkClosed: (code) => this.#onMediaClosed(code),
      onAudio: (frame) => parts.onAudio?.(frame, this.#call),
    });
    this.#ending = new CallEnding({
      ...parts,
      log: this.#log,
      hangUp: (reason) => this.#command('hang_up', { call_id: call.callId, reason }),
    });
    if (call.state === 'active') this.#awaitClient(parts.unclaimedMs);
  }

  get call(): CallRow {
    return this.#call;
  }

  get hasStream(): boolean {
    return this.#client !== undefined;
  }

  /** The last sign that the call was up. */
  get upAt(): Date {
    return new Date(Math.max(this.#upAt.getTime(), this.#audio.heardAt.getTime()));
  }

  /** Records a sign that the call was up. */
  wasUp(at: Date): void {
    if (at > this.#upAt) this.#upAt = at;
  }

  /** Audio that its streams did not carry; undefined when there was no stream. */
  get statistics(): { overflow_frames: number; undelivered_frames: number } | undefined {
    if (!this.#wasStreamed) return undefined;
    const undelivered = this.#undeliveredFrames + (this.#client?.undeliveredFrames ?? 0);
    return { overflow_frames: this.#audio.overflowFrames, undelivered_frames: undelivered };
  }

  /** Returns whether this is a later state. Reports and events can arrive late. */
  advance(state: LiveCallState, answeredAt: Date | null): boolean {
    if (STATE_RANK[state] <= STATE_RANK[this.#call.state]) return false;
    this.#call = { ...this.#call, state, answeredAt: this.#call.answeredAt ?? answeredAt };
    if (state !== 'active') return true;
    this.#goodbye?.answered();
    this.#client?.answered();
    if (this.#client === undefined) this.#awaitClient(this.#parts.unclaimedMs);
    else if (!this.#audio.isLinked) this.#connect();
    return true;
  }

  judged(answeredBy: Answerer): void {
    this.#call = { ...this.#call, answeredBy };
    this.#client?.judged?.(answeredBy);
  }

  /** The node has, or has lost, the media link of the call, to whichever instance. */
  mediaChanged(hasMedia: boolean | undefined): void {
    const isLost = hasMedia === false && this.#hasMedia !== false;
    this.#hasMedia = hasMedia;
    // The instance with the stream opens it again, unless that is what ended.
    if (isLost && this.#client === undefined && this.#call.state === 'active') this.#awaitReturn();
  }

  /** Gives a client the stream, instead of the present one, and answers a call. `isOther`: a client that broke will not hear its queue. */
  attach(client: StreamClient, { isOther = false } = {}): void {
    const older = this.#client;
    this.#forgetClient();
    closeStream(older, REPLACED);
    this.#client = client;
    this.#leavePlace = this.#parts.places.opened(this.#call.callId);
    this.#wasStreamed = true;
    this.#mediaAttempts = 0;
    this.#claim?.cancel();
    this.#audio.listen(client, { isOther: isOther || older !== undefined });
    if (this.#call.state === 'active') client.answered();
    if (!this.#audio.isLinked) this.#connect();
  }

  /** The client's socket is closed: on purpose, or because it broke. */
  leave(client: StreamClient, how: 'closed' | 'dropped'): void {
    if (this.#client !== client) return;
    this.#forgetClient();
    if (this.#isOver) return;
    // It said goodbye: the far end hears that to its end.
    if (this.#goodbye !== undefined && this.#audio.isLinked) return;
    if (how === 'closed') this.dismiss('local_hangup');
    else if (this.#parts.holdMs === 0) this.dismiss('abandoned');
    else this.#awaitClient(this.#parts.holdMs);
  }

  play(audio: Uint8Array): void {
    if (!this.#isOver && this.#goodbye === undefined) this.#audio.play(audio);
  }

  readonly mark = (name: string): void => this.#audio.mark(name);
  readonly clear = (): void => this.#audio.clear();
  readonly press = (digits: string): void => this.#audio.press(digits);

  finish(when: 'now' | 'played'): void {
    if (this.#isOver) return;
    const hangUp = (): void => this.dismiss('local_hangup');
    if (when === 'now') hangUp();
    else this.#goodbye ??= new Goodbye({ ...this.#parts, audio: this.#audio, hangUp }, this.#call.state);
  }

  /** Whether its end was requested: the line is free in a moment. */
  get isEnding(): boolean {
    return this.#ending.hasBegun;
  }

  /** Asks the node to end the call. Throws `CommandRefusal` or `NodeUnavailable`. The end itself is reported later. */
  hangUp(reason: HangUpReason = 'local_hangup'): Promise<void> {
    return this.#ending.hangUp(reason);
  }

  /** Asks the node to end an unwanted call; retries as often as necessary. */
  dismiss(reason: HangUpReason): void {
    if (this.#isOver) return;
    this.#retry?.cancel();
    this.#ending.dismiss(reason);
  }

  /** The node is linked again, and still has the call. */
  relinked(): void {
    if (this.#ending.again()) return;
    if (this.#client !== undefined && !this.#audio.isLinked) this.#connect();
  }

  /** The call has ended. */
  end(cause: number): void {
    this.#over({ cause });
    this.#audio.stop(MEDIA_CLOSE.normal, 'the call has ended');
  }

  /** This instance stops, and the call goes on. */
  release(): void {
    this.#over(RESTART);
    this.#audio.stop(MEDIA_CLOSE.goingAway, 'restart');
  }

  #over(closing: StreamClosing): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#claim?.cancel();
    this.#retry?.cancel();
    this.#ending.over();
    this.#goodbye?.cancel();
    this.#closeClient(closing);
  }

  #closeClient(closing: StreamClosing): void {
    const client = this.#client;
    this.#forgetClient();
    closeStream(client, closing);
  }

  #forgetClient(): void {
    if (this.#client === undefined) return;
    this.#undeliveredFrames += this.#client.undeliveredFrames;
    this.#client = undefined;
    this.#leavePlace?.();
    this.#audio.listen(undefined, { isOther: false });
  }

  #awaitClient(ms: number): void {
    this.#claim?.cancel();
    this.#claim = this.#parts.clock.after(ms, () => {
      void this.#dismissUnclaimed();
    });
  }

  #awaitReturn(): void {
    this.#awaitClient(Math.max(this.#parts.holdMs, REOPEN_MS));
  }

  async #dismissUnclaimed(): Promise<void> {
    // Another instance has the media link, and with it the client, or the wait for its return.
    const isServedElsewhere = (): boolean => this.#hasMedia === true && !this.#audio.isLinked;
    if (isServedElsewhere()) return;
    const place = await this.#parts.places.find(this.#call.callId);
    if (this.#client !== undefined || this.#isOver || isServedElsewhere()) return;
    this.#unanswered = place === 'unanswered' ? this.#unanswered + 1 : 0;
    const isDead = this.#hasMedia === false && this.#unanswered >= UNANSWERED_MAX;
    // The node would not end a call whose media link is here, so it does not matter that no instance can be asked.
    const isOnlyHere = place === 'unknown' && this.#audio.isLinked;
    if (place !== 'nowhere' && !isDead && !isOnlyHere) {
      // If this instance loses the node's link, the next one with it waits.
      if (this.#hasMedia === false && this.#parts.fleet.find(this.#call.nodeId) !== undefined)
        this.#awaitReturn();
      return;
    }
    const what =
      this.#hasMedia === false
        ? 'the stream of the call broke, and no client opened it again'
        : 'no client has opened the stream of the call';
    this.#log.info({ place }, `${what}: hanging up`);
    this.dismiss('abandoned');
  }

  #after(ms: number, work: () => void): void {
    this.#retry?.cancel();
    if (!this.#isOver) this.#retry = this.#parts.clock.after(ms, work);
  }

  #connect(): void {
    if (this.#isOver || this.#connecting !== undefined) return;
    this.#connecting = this.#openMedia()
      .catch((error: unknown) => this.#onNoMedia(error))
      .finally(() => {
        this.#connecting = undefined;
      });
  }

  async #openMedia(): Promise<void> {
    const { callId, direction, state } = this.#call;
    if (direction === 'inbound' && state === 'ringing' && !this.#isAnswered) {
      await this.#command('answer', { call_id: callId });
      this.#isAnswered = true;
    }
    const ticket = this.#parts.tickets.issue((socket) => this.#onMediaLink(socket));
    await this.#command('open_media', { call_id: callId, base_url: this.#parts.mediaBaseUrl, ticket });
  }

  #onMediaLink(socket: WebSocket): void {
    if (this.#isOver) {
      socket.close(MEDIA_CLOSE.normal, 'the call has ended');
      return;
    }
    this.#linkedAtMs = this.#parts.clock.now();
    this.#isOffline = false;
    this.#audio.connect(socket);
  }

  #onNoMedia(error: unknown): void {
    if (this.#isOver || this.#client === undefined) return;
    const isRefused = error instanceof CommandRefusal;
    // Some modems have no audio before the far end answers; then it is requested again.
    if (isRefused && this.#call.direction === 'outbound' && this.#call.state !== 'active') return;
    const isOffline = error instanceof NodeUnavailable && !error.isSent;
    if (!isOffline || !this.#isOffline) this.#log.warn({ err: error }, 'the call has no audio yet');
    this.#isOffline = isOffline;
    if (isCallUnknown(error)) {
      this.#parts.onGone();
      this.#after(END_WAIT_MS, () => this.#closeClient(failure('the node does not have this call')));
      return;
    }
    if (isOffline) this.#after(OFFLINE_RETRY_MS, () => this.relinked());
    else this.#retryMedia();
  }

  #onMediaClosed(code: number): void {
    if (this.#isOver) return;
    const [cause, isBroken] = [causeOfClose(code), code < callCloseCode(0)];
    if (isBroken) this.#parts.onMediaLost(this.#audio.heardAt);
    if (cause !== undefined) this.#parts.onGone();
    if (this.#client === undefined) {
      if (this.#goodbye !== undefined && isBroken) this.dismiss('local_hangup');
      return;
    }
    if (code === MEDIA_CLOSE.replaced || cause !== undefined) {
      this.#closeClient(cause === undefined ? REPLACED : { cause });
      return;
    }
    this.#log.info({ code }, 'the media link of the call broke: opening it again');
    if (this.#parts.clock.now() - this.#linkedAtMs >= MEDIA_GOOD_MS) this.#mediaAttempts = 0;
    this.#retryMedia();
  }

  #retryMedia(): void {
    this.#mediaAttempts += 1;
    if (this.#mediaAttempts < MEDIA_ATTEMPTS_MAX) {
      this.#after(MEDIA_RETRY_MS, () => this.#connect());
      return;
    }
    this.#closeClient(failure('the node cannot provide audio'));
    this.dismiss('abandoned');
  }

  async #command<N extends CallCommand>(name: N, params: CommandParams<N>): Promise<void> {
    await this.#parts.fleet.reach(this.#call.nodeId).command(name, params, {
      id: `${name}_${randomUUID()}`,
      timeLeftMs: COMMAND_TIMEOUT_MS,
      timeoutMs: COMMAND_TIMEOUT_MS,
    });
  }
}
