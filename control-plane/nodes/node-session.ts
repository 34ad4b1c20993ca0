// One node's link from upgrade to close: hello, facts, slots, events, commands, drain.
import { randomUUID } from 'node:crypto';
import type { WebSocket } from 'ws';
import * as z from 'zod';
import type { Timer } from '#shared/clock.ts';
import { LINK_CLOSE } from '#shared/link/close.ts';
import {
  encodeFrame,
  FrameError,
  type NodeFrame,
  parseNodeFrame,
  type ServerFrame,
} from '#shared/link/frame.ts';
import {
  type CommandName,
  type CommandParams,
  type CommandResults,
  smsOutcomeSchema,
} from '#shared/link/messages.ts';
import { LINK_VERSION, LINK_VERSION_MIN, LINK_VERSIONS } from '#shared/link/version.ts';
import type { Random } from '#shared/random.ts';
import type { TokenBucket } from '#shared/token-bucket.ts';
import { dialOutcomeSchema } from '#shared/voice/call.ts';
import { closeLink, type LinkStatus, openLink, renewLink } from '../store/fleet/node-links.ts';
import { addRefusals } from '../store/fleet/node-refusals.ts';
import { FACT_WINDOW, FactInbox } from './fact-inbox.ts';
import type { CallWatch } from './fleet.ts';
import { FACT_COST, FrameLimiter, type factBudgets } from './frame-limiter.ts';
import { Heartbeat } from './heartbeat.ts';
import type { ProvenNode } from './identity-check.ts';
import { limitLines } from './line-budget.ts';
import { type NodeLink, NodeUnavailable } from './node-link.ts';
import { OpenSends } from './open-sends.ts';
import { PendingCommands } from './pending-commands.ts';
import { SlotEvents } from './slot-events.ts';
import { SlotSnapshots, type SnapshotParts } from './slot-snapshots.ts';

const HELLO_TIMEOUT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 2_000;

/** Time for commands in flight, and for the node to find another instance, before a link ends. */
const DRAIN_MS = 4_000;
const DRAIN_LEAVE_MS = 2_000;

export interface NodeSessionParts extends SnapshotParts {
  calls: CallWatch;
  heartbeatMs: number;
  /** How long a request of a send waits for its outcome. */
  sendTimeoutMs: number;
  random: Random;
  /** Budget for frames from this node. */
  budget: TokenBucket;
  /** The characters of facts that the store takes, of each SIM of a node. */
  factBudgets: ReturnType<typeof factBudgets>;
  /** A node ends a call that has lost its stream and its link for this long. */
  streamHoldMs: number;
}

type Hello = Extract<NodeFrame, { type: 'hello' }>;

const CLOSE_CODE_OF = {
  replaced: LINK_CLOSE.replaced,
  unauthorized: LINK_CLOSE.unauthorized,
  revoked: LINK_CLOSE.revoked,
} as const satisfies Record<Exclude<LinkStatus, 'up'>, number>;

export class NodeSession implements NodeLink {
  readonly nodeId: string;
  readonly #publicKey: Buffer;
  readonly linkId = randomUUID();
  readonly #socket: WebSocket;
  readonly #parts: NodeSessionParts;
  readonly #pending: PendingCommands;
  readonly #heartbeat: Heartbeat;
  readonly #snapshots: SlotSnapshots;
  readonly #events: SlotEvents;
  readonly #limiter: FrameLimiter;
  #isGreeted = false;
  #inbox: FactInbox | undefined;
  #openSends: OpenSends | undefined;
  #isDraining = false;
  #mayClose = false;
  readonly #timers: Timer[] = [];
  /** Resolves when the link is closed and the store has recorded it. */
  readonly closed: Promise<void>;

  constructor(socket: WebSocket, node: ProvenNode, parts: NodeSessionParts) {
    this.#socket = socket;
    this.nodeId = node.nodeId;
    this.#publicKey = node.publicKey;
    this.#parts = {
      ...parts,
      log: limitLines(parts.log.child({ node: node.nodeId }), parts.reportBudget.lines),
    };
    const { clock, heartbeatMs, random } = parts;
    this.#pending = new PendingCommands(clock, () => this.#closeWhenIdle());
    this.#heartbeat = new Heartbeat({
      clock,
      random,
      intervalMs: heartbeatMs,
      ping: (payload) => socket.ping(payload),
      takeRest: () => this.#limiter.takeRest(),
      onBeat: (aliveUntil) => {
        void this.#renew(aliveUntil);
        void this.#openSends?.ask().catch((error) => this.#fail(error));
        // Includes SIMs that the node has not confirmed yet, and numbers that another instance sold meanwhile.
        if (!this.#isDraining) {
          void this.#snapshots.bindPending();
          void this.#snapshots.unlock();
        }
        void this.#snapshots
          .recheckAll()
          .catch((error: unknown) =>
            this.#parts.log.warn({ err: error }, 'checking the claims of SIMs failed'),
          );
      },
      onDead: () => {
        this.#parts.log.warn({}, 'node did not answer two heartbeats: ending its link');
        socket.terminate();
      },
    });
    this.#snapshots = new SlotSnapshots(this.#parts, this, this.linkId, (error) => this.#fail(error));
    this.#events = new SlotEvents({ ...this.#parts, nodeId: this.nodeId });
    const { budget } = parts;
    this.#limiter = new FrameLimiter({
      budget,
      clock,
      socket,
      onExceeded: (frames) => this.#onTooFast(frames),
    });
    const helloTimer = clock.after(HELLO_TIMEOUT_MS, () => {
      if (!this.#isGreeted) this.close(LINK_CLOSE.protocolError, 'no hello');
    });
    this.#timers.push(helloTimer);
    socket.on('message', (data, isBinary) => this.#onMessage(String(data), isBinary));
    socket.on('ping', () => this.#limiter.count());
    socket.on('pong', (payload) => {
      this.#limiter.count();
      this.#heartbeat.answered(payload.toString('latin1'));
    });
    socket.on('error', (error) => this.#parts.log.debug({ err: error }, 'link error'));
    this.closed = new Promise((resolve) => {
      socket.on('close', (code) => void this.#onClose(code).finally(resolve));
    });
  }

  get heardAt(): Date {
    return this.#heartbeat.heardAt;
  }

  #isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  async command<N extends CommandName>(
    name: N,
    params: CommandParams<N>,
    options: { id: string; timeLeftMs: number; timeoutMs: number },
  ): Promise<CommandResults[N]> {
    if (!this.#isOpen()) throw new NodeUnavailable('the link is closed', false);
    if (this.#isDraining) throw new NodeUnavailable('this instance is stopping', false);
    const { id, timeLeftMs, timeoutMs } = options;
    const text = encodeFrame({ type: 'command', id, name, params, time_left_ms: timeLeftMs });
    const result = this.#pending.wait(id, timeoutMs);
    this.#socket.send(text);
    const parsed = RESULT_SCHEMAS[name].safeParse(await result);
    // The answer is invalid, but the node did get the command.
    if (!parsed.success) throw new NodeUnavailable('the answer is not a valid result', true);
    return parsed.data as CommandResults[N];
  }

  slotsWritten(): Promise<void> {
    return this.#snapshots.written();
  }

  /** The slots or the link of another node changed: it may have released a SIM that this node reports. */
  othersChanged(): void {
    this.#snapshots.recheck();
  }

  async recheck(): Promise<void> {
    await this.#renew(this.#heartbeat.aliveUntil);
  }

  /** Asks the node to connect elsewhere, lets commands in flight finish and closes, within `DRAIN_MS`. Resolves when the link is closed. */
  async drain(): Promise<void> {
    const { clock, fleet } = this.#parts;
    this.#isDraining = true;
    fleet.retire(this);
    if (this.#inbox === undefined) this.close(LINK_CLOSE.goingAway, 'restart');
    else {
      this.#send({ type: 'drain', within_ms: DRAIN_MS });
      this.#timers.push(
        clock.after(DRAIN_MS, () => this.close(LINK_CLOSE.goingAway, 'restart')),
        clock.after(DRAIN_LEAVE_MS, () => this.hasNowhereToGo()),
      );
    }
    await this.closed;
  }

  hasNowhereToGo(): void {
    this.#mayClose = this.#isDraining;
    this.#closeWhenIdle();
  }

  #closeWhenIdle(): void {
    if (this.#mayClose && this.#pending.size === 0) this.close(LINK_CLOSE.goingAway, 'restart');
  }

  close(code: number, reason: string): void {
    if (!this.#isOpen()) return;
    this.#socket.close(code, reason);
    // A peer that does not answer the close frame must not keep the socket.
    this.#timers.push(this.#parts.clock.after(CLOSE_TIMEOUT_MS, () => this.#socket.terminate()));
  }

  #onMessage(text: string, isBinary: boolean): void {
    // The node repeats on its next link messages that arrive while this one is closing.
    if (!this.#isOpen()) return;
    this.#heartbeat.heard();
    this.#limiter.measure(text.length);
    try {
      if (isBinary) throw new FrameError('binary frame');
      this.#onFrame(parseNodeFrame(text), text.length);
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'bad frame from a node');
      this.close(LINK_CLOSE.protocolError, 'bad frame');
    }
  }

  #onFrame(frame: NodeFrame, length: number): void {
    if (frame.type === 'hello') {
      if (this.#isGreeted) throw new FrameError('second hello');
      this.#limiter.count();
      this.#isGreeted = true;
      void this.#greet(frame).catch((error: unknown) => this.#fail(error));
      return;
    }
    if (this.#inbox === undefined) throw new FrameError('hello first');
    const isNewFact = frame.type === 'fact' && !this.#inbox.has(frame.sequence);
    this.#limiter.count(isNewFact ? FACT_COST : 1);
    if (isNewFact && 'iccid' in frame.fact)
      this.#limiter.count(length, this.#parts.factBudgets.of(this.nodeId, frame.fact.iccid));
    switch (frame.type) {
      case 'fact':
        if (!this.#inbox.push(frame.sequence, frame.fact))
          throw new FrameError('a gap, or more than the window');
        return;
      case 'slots':
        this.#snapshots.put(frame);
        return;
      case 'event':
        this.#events.put(frame.event);
        return;
      case 'call':
        this.#parts.calls.changed(this.nodeId, frame.call);
        return;
      case 'result':
        this.#pending.resolve(frame.id, frame.result);
        return;
      case 'refusal':
        this.#pending.refuse(frame);
        return;
    }
  }

  async #greet(hello: Hello): Promise<void> {
    if (hello.version_max < LINK_VERSION_MIN || hello.version_min > LINK_VERSION) {
      this.close(LINK_CLOSE.versionUnsupported, `this side speaks ${LINK_VERSIONS}`);
      return;
    }
    const { clock, fleet } = this.#parts;
    // Not before its turn: until then an earlier link of the node may take sends.
    let openedAt = new Date(clock.now());
    await fleet.turns.run(this.nodeId, () =>
      fleet.opening.run(() => {
        openedAt = new Date(clock.now());
        return this.#open(hello);
      }),
    );
    this.#openSends = new OpenSends(this.#parts, this, openedAt);
    await this.#openSends.ask();
  }

  async #open(hello: Hello): Promise<void> {
    if (!this.#isOpen() || this.#isDraining) return;
    const { db, bus, calls, clock, fleet, log, heartbeatMs, streamHoldMs } = this.#parts;
    const acknowledged = await openLink(db, {
      ...this.#link,
      journalId: hello.journal_id,
      aliveUntil: this.#heartbeat.aliveUntil,
    });
    // The node was revoked or enrolled again since its upgrade.
    if (acknowledged === undefined) return this.recheck();
    // The link was closed meanwhile, before the store knew of it.
    if (!this.#isOpen()) return closeLink(db, this.linkId, new Date(clock.now()));
    this.#inbox = new FactInbox({
      db,
      bus,
      clock,
      log,
      nodeId: this.nodeId,
      journalId: hello.journal_id,
      acknowledged,
      oldestSequence: hello.oldest_sequence,
      slotsWritten: () => this.slotsWritten(),
      acknowledge: (sequence) => this.#send({ type: 'ack', sequence }),
      fail: (error) => this.#fail(error),
    });
    const older = fleet.attach(this);
    older?.close(LINK_CLOSE.replaced, 'a newer link took over');
    bus.publish({ kind: 'node_linked', nodeId: this.nodeId, linkId: this.linkId });
    this.#send({
      type: 'welcome',
      version: LINK_VERSION,
      heartbeat_ms: heartbeatMs,
      stream_hold_ms: streamHoldMs,
      window: FACT_WINDOW,
      acknowledged,
    });
    this.#heartbeat.start();
    this.#snapshots.setPinKey(hello.pin_key, this.#publicKey);
    this.#snapshots.put(hello);
    calls.linked(this.nodeId, hello.calls, older?.heardAt);
    log.info({ version: LINK_VERSION, slots: hello.slots.length, acknowledged }, 'node linked');
  }

  get #link(): { nodeId: string; linkId: string; publicKey: Buffer } {
    return { nodeId: this.nodeId, linkId: this.linkId, publicKey: this.#publicKey };
  }

  async #renew(aliveUntil: Date): Promise<void> {
    try {
      const status = await renewLink(this.#parts.db, this.#link, aliveUntil);
      // A node that was asked to leave has its newer link elsewhere; its remaining commands finish here.
      if (status === 'up' || (status === 'replaced' && this.#isDraining)) return;
      this.#parts.log.info({ status }, 'link closed');
      this.close(CLOSE_CODE_OF[status], status);
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'renewing a link failed');
    }
  }

  #onTooFast(frames: number): void {
    const { clock, db, log } = this.#parts;
    log.warn({ frames }, 'node exceeded its frame limit');
    const refusal = { nodeId: this.nodeId, reason: 'frames', count: frames } as const;
    addRefusals(db, refusal, new Date(clock.now())).catch((error: unknown) =>
      log.warn({ err: error }, 'counting the frames of a node failed'),
    );
  }

  #send(frame: ServerFrame): void {
    if (this.#isOpen()) this.#socket.send(encodeFrame(frame));
  }

  #fail(error: unknown): void {
    this.#parts.log.error({ err: error }, 'serving a link failed');
    this.close(LINK_CLOSE.internalError, 'internal error');
  }

  async #onClose(code: number): Promise<void> {
    const { db, bus, calls, clock, fleet, log } = this.#parts;
    this.#heartbeat.stop();
    this.#limiter.stop();
    for (const timer of this.#timers) timer.cancel();
    if (fleet.detach(this)) calls.unlinked(this.nodeId, this.heardAt);
    this.#pending.abandon();
    await Promise.all([this.#inbox?.idle(), this.#events.idle(), this.#snapshots.end()]);
    await closeLink(db, this.linkId, new Date(clock.now())).catch((error: unknown) =>
      log.warn({ err: error }, 'closing a link failed'),
    );
    bus.publish({ kind: 'node_changed', nodeId: this.nodeId, mayHaveReleased: true });
    log.info({ code }, 'node link ended');
  }
}

const RESULT_SCHEMAS = {
  bind_sim: z.object({}),
  send_sms: smsOutcomeSchema,
  dial: dialOutcomeSchema,
  answer: z.object({}),
  hang_up: z.object({}),
  open_media: z.object({}),
  restart_modem: z.object({}),
  unlock_sim: z.object({}),
} satisfies Record<CommandName, z.ZodType>;
