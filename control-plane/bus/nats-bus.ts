// The bus of several instances: events and requests go through NATS. Events reach the parts of this instance without it.
import { randomUUID } from 'node:crypto';
import {
  type ConnectionOptions,
  connect,
  type Msg,
  type NatsConnection,
  NoRespondersError,
  RequestError,
  type Subscription,
} from '@nats-io/transport-node';
import { type Clock, sleep, type Timer, withTimeout } from '#shared/clock.ts';
import { messageOf } from '#shared/error-message.ts';
import type { Logger } from '#shared/log.ts';
import { type Bus, type BusEvent, type Finding, NoAnswer, NoResponder, type Responder } from './bus.ts';
import { LocalBus } from './local-bus.ts';
import type { MessageSeal } from './message-seal.ts';
import { CONNECT_TIMEOUT_MS, connectionOptions, type NatsOptions, RECONNECT_MS } from './nats-options.ts';
import { RefusalLog } from './refusal-log.ts';
import { FRESH_MS, ReplayGuard, type Stamp } from './replay-guard.ts';

/** Events for other instances. Not `sms_received`, one for each text: a waiting claim looks again within a second. */
const SHARED: ReadonlySet<BusEvent['kind']> = new Set([
  'subscription_changed',
  'call_changed',
  'call_judged',
  'call_ended',
  'tool_call_cancelled',
  'node_linked',
  'node_identity_changed',
  'operator_acted',
  'probe_arrived',
  'node_changed',
]);

/** Queue group: one of the instances that serve a subject gets each request. */
const QUEUE = 'one';
const CLOSE_TIMEOUT_MS = 2_000;
/** For this long after an instance refused a message because of its time, it does not rely on the others. */
const DOUBT_MS = 5 * 60_000;
/** An instance answers at once whether it serves a subject. */
const SERVES_TIMEOUT_MS = 5_000;
/** For this long what it said is used. */
const FINDING_MS = 1_000;

interface NatsBusParts {
  options: NatsOptions;
  seal: MessageSeal;
  /** First word of all subjects: services that share NATS do not meet. */
  prefix: string;
  clock: Clock;
  log: Logger;
}

interface SharedEvent extends Stamp {
  sender: string;
  event: BusEvent;
}

/**
 * Its id ties the answer to it. Without `request` it only asks whether an instance serves the subject: strangers can say in the name of NATS
 * that none does, so that is believed only of a question that carries nothing.
 */
interface Question extends Stamp {
  request?: unknown;
}

type Answer = { value: unknown } | { failed: string };

/** Rejects when NATS refuses the credentials. Otherwise it connects as soon as there is a server, and again when it was lost. */
export async function openNatsBus(parts: NatsBusParts): Promise<Bus> {
  const bus = new NatsBus(parts, await connectionOptions(parts.options));
  await bus.start();
  return bus;
}

class NatsBus implements Bus {
  readonly #parts: NatsBusParts;
  readonly #options: ConnectionOptions;
  readonly #local: LocalBus;
  readonly #replays: ReplayGuard;
  readonly #refusals: RefusalLog;
  readonly #self = randomUUID();
  /** By subject; undefined while there is no connection. */
  readonly #served = new Map<string, { responder: Responder; subscription: Subscription | undefined }>();
  readonly #stopped = new AbortController();
  #connection: NatsConnection | undefined;
  /** Whether NATS answers. */
  #isLinked = false;
  /** Set while the clocks of the instances are in doubt: they refuse messages of each other. */
  #doubt: Timer | undefined;

  constructor(parts: NatsBusParts, options: ConnectionOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#local = new LocalBus(parts.clock);
    this.#replays = new ReplayGuard(parts.clock);
    this.#refusals = new RefusalLog(parts, 'bus message');
  }

  get isConnected(): boolean {
    return this.trouble() === undefined;
  }

  trouble(): string | undefined {
    if (!this.#isLinked) return 'NATS does not answer: other instances cannot be reached';
    if (this.#doubt === undefined) return undefined;
    return `a message of another instance was refused in the last ${DOUBT_MS / 60_000} minutes: its time differs by more than ${FRESH_MS / 1_000} seconds. Set the clocks of all instances by NTP`;
  }

  async start(): Promise<void> {
    try {
      await this.#connect();
    } catch (error) {
      if (isRefusal(error)) throw new Error(`NATS refuses this service: ${messageOf(error)}`);
      this.#parts.log.warn({ err: error }, 'no NATS server answers: other instances cannot be reached');
      void this.#connectLater();
    }
  }

  publish(event: BusEvent): void {
    this.#local.publish(event);
    if (!this.#isLinked || !SHARED.has(event.kind)) return;
    const shared: SharedEvent = { ...this.#replays.stamp(), sender: this.#self, event };
    this.#connection?.publish(this.#eventSubject, this.#parts.seal.seal(this.#eventSubject, shared));
  }

  subscribe(listener: (event: BusEvent) => void): void {
    this.#local.subscribe(listener);
  }

  find(name: string, timeoutMs = SERVES_TIMEOUT_MS): Finding {
    const served = this.#ask(name, {}, timeoutMs).then(() => undefined);
    served.catch(() => undefined);
    return { askedAt: this.#parts.clock.now(), served };
  }

  async request(
    name: string,
    request: unknown,
    { timeoutMs, finding }: { timeoutMs: number; finding?: Finding | undefined },
  ): Promise<unknown> {
    const { clock } = this.#parts;
    const end = clock.now() + timeoutMs;
    const isFresh = finding !== undefined && clock.now() - finding.askedAt < FINDING_MS;
    try {
      await (isFresh ? finding : this.find(name, Math.min(timeoutMs, SERVES_TIMEOUT_MS))).served;
    } catch (cause) {
      throw new NoResponder(`no instance serves ${name}`, {
        cause,
        isUndecided: this.#isLinked && !isNoResponder(cause),
      });
    }
    try {
      return await this.#ask(name, { request }, Math.max(1, end - clock.now()));
    } catch (cause) {
      throw new NoAnswer(`no answer from the instance that serves ${name}: ${messageOf(cause)}`, { cause });
    }
  }

  async #ask(name: string, asked: { request?: unknown }, timeoutMs: number): Promise<unknown> {
    const connection = this.#connection;
    // The client would keep the request for the next connection.
    if (connection === undefined || !this.#isLinked) throw new Error('NATS does not answer');
    const subject = this.#subjectOf(name);
    const question: Question = { ...this.#replays.stamp(), ...asked };
    const { seal } = this.#parts;
    const reply = await connection.request(subject, seal.seal(subject, question), { timeout: timeoutMs });
    const answer = seal.open(`${subject} ${question.id}`, reply.data) as Answer | undefined;
    if (answer === undefined) throw new Error('the answer is not authentic');
    if ('failed' in answer) throw new Error(answer.failed);
    return answer.value;
  }

  serve(name: string, responder: Responder): () => void {
    this.#served.get(name)?.subscription?.unsubscribe();
    const served = { responder, subscription: this.#listen(name, responder) };
    this.#served.set(name, served);
    return () => {
      served.subscription?.unsubscribe();
      if (this.#served.get(name) === served) this.#served.delete(name);
    };
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#doubt?.cancel();
    this.#refusals.stop();
    // A closed connection throws at its caller.
    const connection = this.#connection;
    this.#connection = undefined;
    // Without `bus_changed`: its listeners would read from a database that is about to close.
    this.#isLinked = false;
    const closed = connection?.close().catch(() => undefined);
    await Promise.race([closed, sleep(this.#parts.clock, CLOSE_TIMEOUT_MS)]);
  }

  get #eventSubject(): string {
    return this.#subjectOf('events');
  }

  #subjectOf(name: string): string {
    return `${this.#parts.prefix}.${name}`;
  }

  async #connect(): Promise<void> {
    const connection = await connect(this.#options);
    if (this.#stopped.signal.aborted) return connection.close();
    this.#connection = connection;
    this.#subscribe(connection, this.#eventSubject, { callback: (message) => this.#onEvent(message) });
    for (const [name, served] of this.#served) served.subscription = this.#listen(name, served.responder);
    // The server knows of all subscriptions now.
    const flushed = withTimeout(
      this.#parts.clock,
      connection.flush(),
      CONNECT_TIMEOUT_MS,
      () => new Error('no answer'),
    );
    await flushed.catch(async (error: unknown) => {
      this.#connection = undefined;
      void connection.close().catch(() => undefined);
      throw error;
    });
    void this.#followStatus(connection);
    this.#setLinked(true);
  }

  async #connectLater(): Promise<void> {
    const { clock, log } = this.#parts;
    while (!this.#stopped.signal.aborted && this.#connection === undefined) {
      await sleep(clock, RECONNECT_MS);
      await this.#connect().then(
        () => log.info({}, 'connected to NATS: other instances can be reached'),
        (error: unknown) => log.debug({ err: error }, 'no NATS server answers'),
      );
    }
  }

  async #followStatus(connection: NatsConnection): Promise<void> {
    const { log } = this.#parts;
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') {
        this.#setLinked(false);
        log.warn({}, 'the connection to NATS broke: other instances cannot be reached');
      } else if (type === 'reconnect') {
        this.#setLinked(true);
        log.info({}, 'connected to NATS again');
      }
    }
  }

  #setLinked(isLinked: boolean): void {
    this.#isLinked = isLinked;
    this.#report();
  }

  #doubtClocks(): void {
    const isNew = this.#doubt === undefined;
    this.#doubt?.cancel();
    this.#doubt = this.#parts.clock.after(DOUBT_MS, () => {
      this.#doubt = undefined;
      this.#report();
    });
    if (isNew) this.#report();
  }

  #report(): void {
    if (!this.#stopped.signal.aborted)
      this.#local.publish({ kind: 'bus_changed', isConnected: this.isConnected });
  }

  #listen(name: string, responder: Responder): Subscription | undefined {
    const { log } = this.#parts;
    const callback = (message: Msg): void =>
      void this.#answer(message, responder).catch((error: unknown) =>
        log.error({ err: error, subject: message.subject }, 'answering another instance failed'),
      );
    return (
      this.#connection && this.#subscribe(this.#connection, this.#subjectOf(name), { queue: QUEUE, callback })
    );
  }

  /** NATS reports a subscription that its user may not have in the place of a message. */
  #subscribe(
    connection: NatsConnection,
    subject: string,
    { callback, ...options }: { queue?: string; callback: (message: Msg) => void },
  ): Subscription {
    return connection.subscribe(subject, {
      ...options,
      callback: (error, message) => {
        if (error === null) callback(message);
        else this.#parts.log.error({ err: error, subject }, 'NATS refuses a subscription of this service');
      },
    });
  }

  #onEvent(message: Msg): void {
    const shared = this.#open<SharedEvent>(message);
    if (shared !== undefined && shared.sender !== this.#self) this.#local.publish(shared.event);
  }

  /** Undefined, with a line in the log, for a message that is not authentic, came before, or has another time. */
  #open<M extends Stamp>({ subject, data }: Msg): M | undefined {
    const { clock, seal } = this.#parts;
    const opened = seal.open(subject, data) as M | undefined;
    const judgement = opened && this.#replays.judge(opened);
    if (judgement === 'taken') return opened;
    if (this.#stopped.signal.aborted) return undefined;
    if (opened === undefined) this.#refusals.note('it is not authentic', { subject });
    else if (judgement === 'repeat') this.#refusals.note('it came before', { subject });
    else {
      const aheadSeconds = Math.round((opened.at - clock.now()) / 1000);
      this.#refusals.note('its time differs; check the clocks of all instances', { subject, aheadSeconds });
      this.#doubtClocks();
    }
    return undefined;
  }

  async #answer(message: Msg, responder: Responder): Promise<void> {
    const { seal, log } = this.#parts;
    const { subject } = message;
    const question = this.#open<Question>(message);
    if (question === undefined) return;
    const served = 'request' in question ? responder(question.request) : Promise.resolve(null);
    const answer: Answer = await served.then(
      (value) => ({ value }),
      (error: unknown) => {
        log.error({ err: error, subject }, 'request from another instance failed');
        return { failed: 'the instance that serves it failed: see its log' };
      },
    );
    const respond = (answer: Answer): boolean =>
      message.respond(seal.seal(`${subject} ${question.id}`, answer));
    try {
      respond(answer);
    } catch (error) {
      log.error({ err: error, subject }, 'NATS takes no answer of that size: raise its max_payload');
      respond({ failed: 'its answer is too long for NATS' });
    }
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof Error && /^(Authorization|UserAuthenticationExpired|Permission)/.test(error.name);

const isNoResponder = (error: unknown): boolean =>
  error instanceof NoRespondersError || (error instanceof RequestError && error.isNoResponders());
