// The one WebSocket to the control plane: hello, facts until they are acknowledged, commands, heartbeat.
//
//   connecting ──open──► greeting ──welcome──► linked ──close, misses──► (back-off) ──► connecting
import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import type { Clock, Timer } from '#shared/clock.ts';
import { NODE_ID_HEADER } from '#shared/link/credential.ts';
import {
  encodeFrame,
  LINK_CLOSE,
  type NodeFrame,
  parseServerFrame,
  type ServerFrame,
} from '#shared/link/frame.ts';
import type { Slot } from '#shared/link/messages.ts';
import { LINK_FRAME_BYTES_MAX, LINK_PATH, LINK_VERSION, LINK_VERSION_MIN } from '#shared/link/version.ts';
import type { Logger } from '#shared/log.ts';
import { BackOff } from '../back-off.ts';
import type { Journal } from '../journal/journal.ts';
import type { CommandHandler } from './command-handler.ts';

const RETRY = { firstMinMs: 50, firstMaxMs: 250, capMs: 30_000 };
/** A refusal that stays one until somebody changes something: do not hammer. */
const REFUSED_RETRY_MS = 30_000;
/** A link that lasted this long was well: what ended it is new. */
const STABLE_MS = 5_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;
const WELCOME_TIMEOUT_MS = 10_000;
const CLOSE_TIMEOUT_MS = 1_000;
/** A node that misses this many pings leaves the link. */
const HEARTBEATS_MISSED_MAX = 2;
/** Whatever the server asks for; timers know no more than 24 days. */
const EXPECT_MAX_MS = 24 * 60 * 60 * 1000;
/** Slots change together: a modem that comes up tells three things at once. */
const SLOTS_DELAY_MS = 20;
/** Commands that are under way at once; each waits in a bounded queue of its slot. */
export const COMMANDS_MAX = 4096;

const REFUSED_CODES: ReadonlySet<number> = new Set([
  LINK_CLOSE.unauthorized,
  LINK_CLOSE.replaced,
  LINK_CLOSE.versionUnsupported,
]);

/** Where the link goes and what it carries. */
export interface ControlLinkParts {
  /** Base URL of the control plane, http or https. */
  readonly controlPlaneUrl: string;
  readonly nodeId: string;
  /** Proof of identity. Never logged. */
  readonly linkSecret: string;
  readonly journal: Journal;
  readonly commands: Pick<CommandHandler, 'handle'>;
  readonly slots: () => Slot[];
  readonly clock: Clock;
  readonly log: Logger;
}

/** Keeps one link to the control plane, again and again. */
export class ControlLink {
  readonly #parts: ControlLinkParts;
  readonly #backOff = new BackOff(RETRY);
  #socket: WebSocket | undefined;
  /** Set while linked. */
  #window: number | undefined;
  #heartbeatMs = 0;
  /** Highest sequence sent on this link. */
  #sent = 0;
  #linkedAt = 0;
  #commandsUnderWay = 0;
  #refused = false;
  #timer: Timer | undefined;
  #slotsTimer: Timer | undefined;
  #stopped = false;

  constructor(parts: ControlLinkParts) {
    this.#parts = parts;
    parts.journal.onFact(() => this.#sendFacts());
  }

  /** Keeps a link until `stop`, whatever happens. */
  start(): void {
    this.#connect();
  }

  /** Tells the control plane, soon, that slots have changed. */
  slotsChanged(): void {
    if (this.#window === undefined) return;
    this.#slotsTimer ??= this.#parts.clock.after(SLOTS_DELAY_MS, () => {
      this.#slotsTimer = undefined;
      if (this.#window !== undefined) this.#send({ type: 'slots', slots: this.#parts.slots(), alarms: [] });
    });
  }

  /** Leaves the link for good. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#window = undefined;
    this.#timer?.cancel();
    this.#slotsTimer?.cancel();
    const socket = this.#socket;
    if (socket === undefined) return;
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.close(LINK_CLOSE.goingAway);
    // A peer that does not answer the close must not keep the process.
    this.#timer = this.#parts.clock.after(CLOSE_TIMEOUT_MS, () => socket.terminate());
    await closed;
  }

  #connect(): void {
    if (this.#stopped) return;
    const { linkSecret, nodeId } = this.#parts;
    const socket = new WebSocket(linkUrl(this.#parts.controlPlaneUrl), {
      headers: { authorization: `Bearer ${linkSecret}`, [NODE_ID_HEADER]: nodeId },
      perMessageDeflate: false,
      maxPayload: LINK_FRAME_BYTES_MAX,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    });
    this.#socket = socket;
    this.#refused = false;
    let failure: unknown;
    socket.on('open', () => this.#greet());
    socket.on('message', (data, isBinary) => this.#onMessage(socket, data.toString(), isBinary));
    socket.on('ping', () => this.#expectPing());
    socket.on('unexpected-response', (_request, response: IncomingMessage) => {
      const status = response.statusCode ?? 0;
      failure = new Error(`the control plane answers ${status}`);
      this.#refused = status === 401 || status === 403 || status === 426;
      socket.terminate();
    });
    socket.on('error', (error) => {
      failure ??= error;
    });
    socket.on('close', (code, reason) => this.#onClose(socket, code, reason.toString(), failure));
  }

  #greet(): void {
    const { journal, slots } = this.#parts;
    const { journalId, facts } = journal.state;
    const [oldest = 0] = facts.keys();
    this.#send({
      type: 'hello',
      version_min: LINK_VERSION_MIN,
      version_max: LINK_VERSION,
      journal_id: journalId,
      oldest_sequence: oldest,
      slots: slots(),
      alarms: [],
    });
    this.#expect(WELCOME_TIMEOUT_MS, 'no welcome');
  }

  #onMessage(socket: WebSocket, text: string, isBinary: boolean): void {
    if (socket !== this.#socket || this.#stopped) return;
    try {
      if (isBinary) throw new Error('a binary frame');
      this.#onFrame(parseServerFrame(text));
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'the control plane sent what is no frame');
      socket.close(LINK_CLOSE.protocolError, 'no frame');
    }
  }

  #onFrame(frame: ServerFrame): void {
    if (frame.type === 'welcome') this.#onWelcome(frame);
    else if (this.#window === undefined) throw new Error(`${frame.type} before welcome`);
    else if (frame.type === 'ack') {
      this.#parts.journal.acknowledge(Math.min(frame.sequence, this.#sent));
      this.#sendFacts();
    } else if (frame.type === 'command') void this.#onCommand(frame);
  }

  #onWelcome(frame: Extract<ServerFrame, { type: 'welcome' }>): void {
    const { clock, journal, log } = this.#parts;
    if (frame.version < LINK_VERSION_MIN || frame.version > LINK_VERSION) {
      this.#refused = true;
      this.#socket?.close(LINK_CLOSE.versionUnsupported, 'no version in common');
      return;
    }
    if (frame.acknowledged >= journal.state.nextSequence) {
      // The journal was put back to an older copy: its next facts would be taken for known ones.
      log.error({ acknowledged: frame.acknowledged }, 'the control plane knows more of the journal: renewed');
      this.#leaveAfter(journal.renew());
      return;
    }
    journal.acknowledge(frame.acknowledged);
    this.#sent = journal.state.acknowledged;
    this.#window = frame.window;
    this.#heartbeatMs = frame.heartbeat_ms;
    this.#linkedAt = clock.now();
    log.info({ version: frame.version }, 'linked');
    this.#expectPing();
    // What changed between hello and welcome.
    this.slotsChanged();
    this.#sendFacts();
  }

  #leaveAfter(work: Promise<void>): void {
    work
      .catch((error) => this.#parts.log.error({ err: error }, 'the journal was not renewed'))
      .finally(() => this.#socket?.close(LINK_CLOSE.goingAway));
  }

  async #onCommand(frame: Extract<ServerFrame, { type: 'command' }>): Promise<void> {
    const { id, name, params, time_left_ms: timeLeftMs } = frame;
    if (this.#commandsUnderWay >= COMMANDS_MAX) {
      this.#send({ type: 'refusal', id, code: 'slot_busy', message: 'too many commands at once' });
      return;
    }
    this.#commandsUnderWay += 1;
    const answer = await this.#parts.commands.handle({ id, name, params, timeLeftMs });
    this.#commandsUnderWay -= 1;
    // Over another link than the one it came by is as good: the id says what is answered.
    if (this.#window === undefined) return;
    if (answer.ok) this.#send({ type: 'result', id, ok: true, result: answer.result });
    else this.#send({ type: 'refusal', id, code: answer.code, message: answer.message });
  }

  /** Sends what the window allows, oldest first. */
  #sendFacts(): void {
    const { facts, acknowledged } = this.#parts.journal.state;
    while (this.#window !== undefined && this.#sent - acknowledged < this.#window) {
      const sequence = this.#sent + 1;
      const fact = facts.get(sequence);
      if (fact === undefined) return;
      this.#sent = sequence;
      this.#send({ type: 'fact', sequence, fact });
    }
  }

  #send(frame: NodeFrame): void {
    try {
      this.#socket?.send(encodeFrame(frame), () => undefined);
    } catch (error) {
      this.#parts.log.error({ err: error, type: frame.type }, 'a frame was not sent');
    }
  }

  /** The link is over unless the next ping, or one after it, comes in time. */
  #expectPing(): void {
    if (this.#window === undefined) return;
    this.#expect(this.#heartbeatMs * HEARTBEATS_MISSED_MAX, 'no heartbeat');
  }

  #expect(withinMs: number, failure: string): void {
    const socket = this.#socket;
    this.#timer?.cancel();
    this.#timer = this.#parts.clock.after(Math.min(withinMs, EXPECT_MAX_MS), () => {
      this.#parts.log.warn({ failure }, 'leaving the link');
      socket?.terminate();
    });
  }

  #onClose(socket: WebSocket, code: number, reason: string, failure: unknown): void {
    if (socket !== this.#socket) return;
    const { clock, log } = this.#parts;
    if (this.#window !== undefined && clock.now() - this.#linkedAt >= STABLE_MS) this.#backOff.reset();
    this.#window = undefined;
    this.#socket = undefined;
    this.#timer?.cancel();
    this.#slotsTimer?.cancel();
    this.#slotsTimer = undefined;
    if (this.#stopped) return;
    const refused = this.#refused || REFUSED_CODES.has(code);
    const delayMs = refused ? REFUSED_RETRY_MS : this.#backOff.next();
    log.warn({ code, reason, err: failure, retryMs: Math.round(delayMs), refused }, 'no link');
    this.#timer = clock.after(delayMs, () => this.#connect());
  }
}

/** The link's URL below a control plane's base URL: ws for http, wss for https. */
export function linkUrl(controlPlaneUrl: string): string {
  const url = new URL(controlPlaneUrl);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  url.pathname = url.pathname.replace(/\/$/, '') + LINK_PATH;
  return url.href;
}
