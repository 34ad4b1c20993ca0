// One WebSocket to the control plane, from its opening to its end: hello, facts until they are acknowledged, commands, heartbeat.
//
//   connecting ──open──► greeting ──welcome──► linked ──leave──► leaving ──► closed
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { Clock, Timer } from '#shared/clock.ts';
import { LINK_CLOSE } from '#shared/link/close.ts';
import {
  encodeFrame,
  FrameError,
  type NodeFrame,
  parseServerFrame,
  type ServerFrame,
} from '#shared/link/frame.ts';
import type { SlotEvent } from '#shared/link/messages.ts';
import type { PinKey } from '#shared/link/pin-seal.ts';
import type { Slot } from '#shared/link/slot.ts';
import { LINK_FRAME_BYTES_MAX, LINK_VERSION, LINK_VERSION_MIN } from '#shared/link/version.ts';
import type { Logger } from '#shared/log.ts';
import type { LiveCall } from '#shared/voice/call.ts';
import type { Journal } from '../journal/journal.ts';
import type { ClockCorrection } from './clock-correction.ts';
import type { CommandHandler } from './command-handler.ts';
import type { SentFacts } from './sent-facts.ts';

const HANDSHAKE_TIMEOUT_MS = 10_000;
const WELCOME_TIMEOUT_MS = 10_000;
const CLOSE_TIMEOUT_MS = 1_000;
/** After the node has left a link, answers may still use it for this long. */
const LEAVE_TIMEOUT_MS = 30_000;
/** The node leaves the link after this many missing pings. */
const HEARTBEATS_MISSED_MAX = 2;
/** Upper limit for the server's heartbeat, because timers accept at most 24 days. */
const EXPECT_MAX_MS = 24 * 60 * 60 * 1000;
/** Most commands at the same time. Each waits in a bounded queue of its slot. */
const COMMANDS_MAX = 4096;

/** The parts that a link uses. */
export interface LinkSocketParts {
  readonly journal: Pick<Journal, 'state' | 'onFact' | 'acknowledge' | 'renew'>;
  readonly sentFacts: SentFacts;
  readonly clockCorrection: Pick<ClockCorrection, 'corrected' | 'correctedCall' | 'correctedSlots'>;
  readonly commands: Pick<CommandHandler, 'handle'>;
  readonly slots: () => Slot[];
  /** Alarms of the whole node, such as "journal_unavailable". */
  readonly alarms: () => string[];
  readonly calls: () => LiveCall[];
  /** The key that PINs are sealed for; undefined if this node takes none. */
  readonly pinKey: () => PinKey | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Why a link ended or could not be opened. */
export interface LinkEnd {
  readonly code: number;
  readonly reason: string;
  /** Status and headers of a refused upgrade. */
  readonly refusal: { status: number; headers: IncomingMessage['headers'] } | undefined;
  readonly failure: unknown;
}

/** The state of the slots and the node. */
type SlotsSnapshot = Omit<Extract<NodeFrame, { type: 'slots' }>, 'type'>;

interface LinkEvents {
  onWelcome(): void;
  onDrain(): void;
  onEnd(end: LinkEnd): void;
}

export class LinkSocket {
  readonly #parts: LinkSocketParts;
  readonly #events: LinkEvents;
  readonly #socket: WebSocket;
  /** Facts that may be unacknowledged; undefined before the welcome and after leaving. */
  #window: number | undefined;
  #isWelcomed = false;
  #isLeaving = false;
  #heartbeatMs = 0;
  #streamHoldMs: number | undefined;
  /** Highest sequence number sent on this link. */
  #sent = 0;
  /** Contents of the last slots frame, as JSON. */
  #sentSlots = '';
  #commandsUnderWay = 0;
  #connection: Socket | undefined;
  /** Whether the connection holds back the frames of this turn of the event loop. */
  #isCorked = false;
  #timer: Timer | undefined;
  #endTimer: Timer | undefined;

  constructor(url: string, authorization: string, parts: LinkSocketParts, events: LinkEvents) {
    this.#parts = parts;
    this.#events = events;
    const socket = new WebSocket(url, {
      headers: { authorization },
      perMessageDeflate: false,
      maxPayload: LINK_FRAME_BYTES_MAX,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    });
    this.#socket = socket;
    let refusal: LinkEnd['refusal'];
    let failure: unknown;
    socket.on('upgrade', (response) => {
      this.#connection = response.socket;
    });
    socket.on('open', () => this.#greet());
    socket.on('message', (data, isBinary) => this.#onMessage(data.toString(), isBinary));
    socket.on('ping', () => this.#expectPing());
    socket.on('unexpected-response', (_request, { statusCode = 0, headers }) => {
      refusal = { status: statusCode, headers };
      failure = new Error(`the control plane answered ${statusCode}`);
      socket.terminate();
    });
    socket.on('error', (error) => {
      failure ??= error;
    });
    socket.on('close', (code, reason) => {
      this.#timer?.cancel();
      this.#endTimer?.cancel();
      this.#window = undefined;
      events.onEnd({ code, reason: reason.toString(), refusal, failure });
    });
  }

  /** How long a call without its stream stays up, as in the welcome. */
  get streamHoldMs(): number | undefined {
    return this.#streamHoldMs;
  }

  /** Sends the facts that the window allows, oldest first. */
  sendFacts(): void {
    const { facts, acknowledged } = this.#parts.journal.state;
    while (this.#window !== undefined && this.#sent - acknowledged < this.#window) {
      const sequence = this.#sent + 1;
      const fact = facts.get(sequence);
      if (fact === undefined) return;
      this.#sent = sequence;
      this.#parts.sentFacts.note(sequence);
      this.#send({ type: 'fact', sequence, fact: this.#parts.clockCorrection.corrected(sequence, fact) });
    }
  }

  sendSlots(): void {
    this.#sendSlots(this.#snapshot());
  }

  /** Sends a slots frame if it differs from the last one. */
  sendNewSlots(): void {
    const snapshot = this.#snapshot();
    if (JSON.stringify(snapshot) !== this.#sentSlots) this.#sendSlots(snapshot);
  }

  sendEvent(event: SlotEvent): void {
    if (this.#window !== undefined) this.#send({ type: 'event', event });
  }

  sendCall(call: LiveCall): void {
    if (this.#window === undefined) return;
    this.#send({ type: 'call', call: this.#parts.clockCorrection.correctedCall(call) });
  }

  /** Call it when another link has taken over. This link then sends only answers to its own commands. */
  leave(): void {
    this.#isLeaving = true;
    this.#window = undefined;
    this.#endTimer = this.#parts.clock.after(LEAVE_TIMEOUT_MS, () => this.#socket.terminate());
    this.#leaveWhenIdle();
  }

  close(code: number, reason = ''): void {
    this.#window = undefined;
    this.#socket.close(code, reason);
    // A peer that does not answer the close must not keep the process running.
    this.#endTimer?.cancel();
    this.#endTimer = this.#parts.clock.after(CLOSE_TIMEOUT_MS, () => this.#socket.terminate());
  }

  #snapshot(): SlotsSnapshot {
    const { journal, slots, alarms, clockCorrection } = this.#parts;
    return {
      slots: clockCorrection.correctedSlots(slots()),
      alarms: alarms(),
      journal_depth: journal.state.facts.size,
    };
  }

  #sendSlots(snapshot: SlotsSnapshot): void {
    if (this.#window === undefined) return;
    this.#sentSlots = JSON.stringify(snapshot);
    this.#send({ type: 'slots', ...snapshot });
  }

  #leaveWhenIdle(): void {
    if (this.#isLeaving && this.#commandsUnderWay === 0)
      this.close(LINK_CLOSE.left, 'another link took over');
  }

  #greet(): void {
    const { journal, calls, clockCorrection, pinKey } = this.#parts;
    const { journalId, facts } = journal.state;
    const [oldest = 0] = facts.keys();
    this.#send({
      type: 'hello',
      version_min: LINK_VERSION_MIN,
      version_max: LINK_VERSION,
      journal_id: journalId,
      oldest_sequence: oldest,
      ...this.#snapshot(),
      calls: calls().map((call) => clockCorrection.correctedCall(call)),
      pin_key: pinKey(),
    });
    this.#expect(WELCOME_TIMEOUT_MS, 'no welcome');
  }

  #onMessage(text: string, isBinary: boolean): void {
    try {
      if (isBinary) throw new FrameError('a binary frame');
      this.#onFrame(parseServerFrame(text));
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'the control plane sent an invalid frame');
      this.close(LINK_CLOSE.protocolError, 'bad frame');
    }
  }

  #onFrame(frame: ServerFrame): void {
    if (frame.type === 'welcome') {
      if (this.#isWelcomed) throw new FrameError('second welcome');
      this.#onWelcome(frame);
      return;
    }
    if (!this.#isWelcomed) throw new FrameError(`${frame.type} before welcome`);
    switch (frame.type) {
      case 'ack':
        // A link that was left ignores acknowledgements: the new link sends those facts again, without gaps.
        if (this.#window === undefined) return;
        this.#parts.journal.acknowledge(Math.min(frame.sequence, this.#sent));
        this.sendFacts();
        return;
      case 'command':
        void this.#onCommand(frame);
        return;
      case 'drain':
        this.#events.onDrain();
        return;
    }
  }

  #onWelcome(frame: Extract<ServerFrame, { type: 'welcome' }>): void {
    const { journal, sentFacts, log } = this.#parts;
    this.#isWelcomed = true;
    if (frame.version < LINK_VERSION_MIN || frame.version > LINK_VERSION) {
      this.close(LINK_CLOSE.versionUnsupported, 'no version in common');
      return;
    }
    if (frame.acknowledged > sentFacts.highest) {
      // The journal is an older copy. Its next facts would count as already known.
      log.error(
        { acknowledged: frame.acknowledged },
        'journal renewed: the control plane acknowledged facts that it does not contain',
      );
      void this.#renewJournal();
      return;
    }
    journal.acknowledge(frame.acknowledged);
    this.#sent = journal.state.acknowledged;
    this.#window = frame.window;
    this.#heartbeatMs = frame.heartbeat_ms;
    this.#streamHoldMs = frame.stream_hold_ms;
    this.#expectPing();
    log.info({ version: frame.version }, 'linked');
    this.#events.onWelcome();
  }

  async #renewJournal(): Promise<void> {
    const { journal, log } = this.#parts;
    await journal.renew().catch((error: unknown) => log.error({ err: error }, 'journal renewal failed'));
    this.close(LINK_CLOSE.goingAway, 'the journal has a new identity');
  }

  async #onCommand(frame: Extract<ServerFrame, { type: 'command' }>): Promise<void> {
    const { id, name, params, time_left_ms: timeLeftMs } = frame;
    if (this.#commandsUnderWay >= COMMANDS_MAX) {
      this.#send({
        type: 'refusal',
        id,
        code: 'slot_busy',
        message: 'The node has too many commands at once. Try again later.',
      });
      return;
    }
    this.#commandsUnderWay += 1;
    const answer = await this.#parts.commands.handle({ id, name, params, timeLeftMs });
    this.#commandsUnderWay -= 1;
    if (answer.ok) this.#send({ type: 'result', id, ok: true, result: answer.result });
    else {
      const { code, message, retryAfterMs } = answer;
      const wait =
        retryAfterMs === undefined ? {} : { retry_after_ms: Math.max(0, Math.round(retryAfterMs)) };
      this.#send({ type: 'refusal', id, code, message, ...wait });
    }
    this.#leaveWhenIdle();
  }

  #send(frame: NodeFrame): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#cork();
    try {
      this.#socket.send(encodeFrame(frame), () => undefined);
    } catch (error) {
      this.#parts.log.error({ err: error, type: frame.type }, 'failed to send a frame');
    }
  }

  /** Lets frames that are sent together, such as the facts and results of one sync of the journal, share one write. */
  #cork(): void {
    const connection = this.#connection;
    if (this.#isCorked || connection === undefined) return;
    this.#isCorked = true;
    connection.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      connection.uncork();
    });
  }

  /** Ends the link unless one of the next pings comes in time. */
  #expectPing(): void {
    if (this.#isWelcomed) this.#expect(this.#heartbeatMs * HEARTBEATS_MISSED_MAX, 'no heartbeat');
  }

  #expect(withinMs: number, failure: string): void {
    this.#timer?.cancel();
    this.#timer = this.#parts.clock.after(Math.min(withinMs, EXPECT_MAX_MS), () => {
      this.#parts.log.warn({ failure }, 'link timed out');
      this.#socket.terminate();
    });
  }
}
