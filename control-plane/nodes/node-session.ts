// One node's link from upgrade to close: hello, facts, slots, commands, heartbeat.
import { randomUUID } from 'node:crypto';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import type { Timer } from '#shared/clock.ts';
import {
  encodeFrame,
  FrameError,
  LINK_CLOSE,
  type NodeFrame,
  parseNodeFrame,
  type ServerFrame,
} from '#shared/link/frame.ts';
import {
  type CommandName,
  type CommandParams,
  type CommandResults,
  type Slot,
  smsOutcomeSchema,
} from '#shared/link/messages.ts';
import { LINK_VERSION, LINK_VERSION_MIN } from '#shared/link/version.ts';
import { acknowledgedSequence, closeLink, openLink, renewLink, replaceSlots } from '../store/nodes.ts';
import { FACT_WINDOW, FactInbox } from './fact-inbox.ts';
import { type NodeLink, NodeUnavailable } from './fleet.ts';
import { PendingCommands } from './pending-commands.ts';
import { bindPending, type ProvisioningParts, settleOpenSends } from './provisioning.ts';

const HELLO_TIMEOUT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 2_000;

/** Heartbeats after which a silent link is dead; other instances believe in it for one more. */
const MISSED_BEATS_MAX = 2;

export interface NodeSessionParts extends ProvisioningParts {
  heartbeatMs: number;
}

type Hello = Extract<NodeFrame, { type: 'hello' }>;

export class NodeSession implements NodeLink {
  readonly nodeId: string;
  readonly #linkId = randomUUID();
  readonly #socket: WebSocket;
  readonly #parts: NodeSessionParts;
  readonly #pending: PendingCommands;
  #isGreeted = false;
  #inbox: FactInbox | undefined;
  #timer: Timer;
  #missedBeats = 0;
  #slots: Slot[] | undefined;
  #storingSlots: Promise<void> | undefined;
  #binding: Promise<void> | undefined;
  #terminator: Timer | undefined;
  /** Resolves when the link is closed and the store knows it. */
  readonly closed: Promise<void>;

  constructor(socket: WebSocket, nodeId: string, parts: NodeSessionParts) {
    this.#socket = socket;
    this.nodeId = nodeId;
    this.#parts = { ...parts, log: parts.log.child({ node: nodeId }) };
    this.#pending = new PendingCommands(parts.clock);
    this.#timer = parts.clock.after(HELLO_TIMEOUT_MS, () => this.close(LINK_CLOSE.protocolError, 'no hello'));
    socket.on('message', (data, isBinary) => this.#onMessage(String(data), isBinary));
    socket.on('pong', () => {
      this.#missedBeats = 0;
    });
    socket.on('error', (error) => this.#parts.log.debug({ err: error }, 'link error'));
    this.closed = new Promise((resolve) => {
      socket.on('close', () => void this.#onClose().finally(resolve));
    });
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  async command<N extends CommandName>(
    name: N,
    params: CommandParams<N>,
    options: { id: string; timeLeftMs: number; timeoutMs: number },
  ): Promise<CommandResults[N]> {
    if (!this.isOpen) throw new NodeUnavailable('the link is closed', false);
    const text = encodeFrame({
      type: 'command',
      id: options.id,
      name,
      params,
      time_left_ms: options.timeLeftMs,
    });
    const result = this.#pending.wait(options.id, options.timeoutMs);
    this.#socket.send(text);
    const parsed = RESULT_SCHEMAS[name].safeParse(await result);
    // What it says cannot be understood, but the node did get the command.
    if (!parsed.success) throw new NodeUnavailable('the answer is no result', true);
    return parsed.data as CommandResults[N];
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
    // A peer that does not answer the close frame must not keep the socket.
    this.#terminator ??= this.#parts.clock.after(CLOSE_TIMEOUT_MS, () => this.#socket.terminate());
  }

  #onMessage(text: string, isBinary: boolean): void {
    try {
      if (isBinary) throw new FrameError('binary frame');
      this.#onFrame(parseNodeFrame(text));
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'bad frame from a node');
      this.close(LINK_CLOSE.protocolError, 'bad frame');
    }
  }

  #onFrame(frame: NodeFrame): void {
    if (frame.type === 'hello') {
      if (this.#isGreeted) throw new FrameError('second hello');
      this.#isGreeted = true;
      void this.#welcome(frame).catch((error: unknown) => this.#fail(error));
      return;
    }
    if (this.#inbox === undefined) throw new FrameError('hello first');
    switch (frame.type) {
      case 'fact':
        if (!this.#inbox.push(frame.sequence, frame.fact))
          throw new FrameError('a gap, or more than the window');
        return;
      case 'slots':
        this.#onSlots(frame.slots);
        return;
      case 'result':
        this.#pending.resolve(frame.id, frame.result);
        return;
      case 'refusal':
        this.#pending.refuse(frame.id, frame.code, frame.message);
        return;
    }
  }

  async #welcome(hello: Hello): Promise<void> {
    const { db, bus, clock, fleet, log, heartbeatMs } = this.#parts;
    const version = Math.min(LINK_VERSION, hello.version_max);
    if (version < LINK_VERSION_MIN || version < hello.version_min) {
      this.close(LINK_CLOSE.versionUnsupported, `this side speaks ${LINK_VERSION_MIN} to ${LINK_VERSION}`);
      return;
    }
    const openedAt = new Date(clock.now());
    const acknowledged = await acknowledgedSequence(db, this.nodeId, hello.journal_id);
    this.#inbox = new FactInbox({
      db,
      bus,
      clock,
      nodeId: this.nodeId,
      journalId: hello.journal_id,
      acknowledged,
      oldestSequence: hello.oldest_sequence,
      acknowledge: (sequence) => this.#send({ type: 'ack', sequence }),
      fail: (error) => this.#fail(error),
    });
    await openLink(db, { nodeId: this.nodeId, linkId: this.#linkId, aliveUntil: this.#aliveUntil() });
    if (!this.isOpen) return this.#onClose();
    fleet.attach(this)?.close(LINK_CLOSE.replaced, 'a newer link took over');
    this.#timer.cancel();
    this.#send({ type: 'welcome', version, heartbeat_ms: heartbeatMs, window: FACT_WINDOW, acknowledged });
    this.#beat();
    log.info({ slots: hello.slots.length, acknowledged }, 'node linked');
    this.#onSlots(hello.slots);
    await settleOpenSends(this.#parts, this, openedAt);
  }

  // Snapshots: when several come during one write, only the last is written.
  #onSlots(slots: Slot[]): void {
    this.#slots = slots;
    this.#storingSlots ??= this.#storeSlots()
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#storingSlots = undefined;
      });
  }

  async #storeSlots(): Promise<void> {
    const { db, clock, log } = this.#parts;
    while (this.#slots !== undefined) {
      const slots = this.#slots;
      this.#slots = undefined;
      const link = { nodeId: this.nodeId, linkId: this.#linkId };
      const { conflicts } = await replaceSlots(db, link, slots, new Date(clock.now()));
      for (const { iccid } of conflicts) log.warn({ iccid }, 'a SIM claims a number that another SIM has');
      this.#bindPending();
    }
  }

  // A node that answers slowly must not hold up what is known of its slots.
  #bindPending(): void {
    this.#binding ??= bindPending(this.#parts, this)
      .catch((error: unknown) => this.#parts.log.warn({ err: error }, 'cannot bind subscriptions'))
      .finally(() => {
        this.#binding = undefined;
      });
  }

  #beat(): void {
    if (this.#missedBeats >= MISSED_BEATS_MAX) {
      this.#socket.terminate();
      return;
    }
    this.#missedBeats += 1;
    this.#socket.ping();
    const { db, clock, heartbeatMs, log } = this.#parts;
    renewLink(db, this.#linkId, this.#aliveUntil()).catch((error: unknown) =>
      log.warn({ err: error }, 'cannot renew a link'),
    );
    this.#timer = clock.after(heartbeatMs, () => this.#beat());
  }

  #aliveUntil(): Date {
    const { clock, heartbeatMs } = this.#parts;
    return new Date(clock.now() + (MISSED_BEATS_MAX + 1) * heartbeatMs);
  }

  #send(frame: ServerFrame): void {
    if (this.isOpen) this.#socket.send(encodeFrame(frame));
  }

  #fail(error: unknown): void {
    this.#parts.log.error({ err: error }, 'cannot serve a link');
    this.close(1011, 'internal error');
  }

  async #onClose(): Promise<void> {
    const { db, fleet, log } = this.#parts;
    this.#timer.cancel();
    this.#terminator?.cancel();
    fleet.detach(this);
    this.#pending.abandon();
    await this.#inbox?.settled();
    await closeLink(db, this.#linkId).catch((error: unknown) =>
      log.warn({ err: error }, 'cannot close a link'),
    );
    log.info({}, 'node gone');
  }
}

const RESULT_SCHEMAS = {
  bind_sim: z.object({}),
  send_sms: smsOutcomeSchema,
} satisfies Record<CommandName, z.ZodType>;
