// A control plane of frames for tests of the daemon: it records a node's frames and answers as the test sets it.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { encodeFrame, type NodeFrame, parseNodeFrame, type ServerFrame } from '#shared/link/frame.ts';
import type { Fact, FactOf } from '#shared/link/messages.ts';
import type { Slot } from '#shared/link/slot.ts';
import { LINK_PATH, LINK_VERSION } from '#shared/link/version.ts';
import { until } from '../../fixtures/until.ts';

type FrameOf<T extends NodeFrame['type']> = Extract<NodeFrame, { type: T }>;
type FactFrame = FrameOf<'fact'> & { readonly atMs: number };

export class ScriptedControlPlane {
  /** All frames of all links, in order. */
  readonly frames: NodeFrame[] = [];
  /** Facts with the time of their arrival (performance.now). */
  readonly facts: FactFrame[] = [];
  /** The same as they were written. */
  readonly texts: string[] = [];
  readonly upgrades: IncomingMessage[] = [];
  readonly closes: { code: number; reason: string }[] = [];
  /** Whether facts are acknowledged as they come. */
  acknowledges = true;
  acknowledged = 0;
  window = 32;
  heartbeatMs = 60_000;
  streamHoldMs = 5_000;
  pings = true;
  /** The frame that a link gets after its hello; `undefined` leaves it waiting. */
  welcome: () => ServerFrame | undefined = () => ({
    type: 'welcome',
    version: LINK_VERSION,
    heartbeat_ms: this.heartbeatMs,
    stream_hold_ms: this.streamHoldMs,
    window: this.window,
    acknowledged: this.acknowledged,
  });
  /** Refuses upgrades with this HTTP status and these headers. */
  refusal: number | undefined;
  refusalHeaders: Record<string, string> = {};
  socket: WebSocket | undefined;
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({ noServer: true });
  readonly #heartbeats = new Set<NodeJS.Timeout>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('upgrade', (request, socket, head) => this.#onUpgrade(request, socket, head));
  }

  static async start(port = 0): Promise<ScriptedControlPlane> {
    const server = createServer(({ url }, response) =>
      response.writeHead(url === '/health/live' ? 200 : 404).end(),
    );
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new ScriptedControlPlane(server);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async stop(): Promise<void> {
    for (const heartbeat of this.#heartbeats) clearInterval(heartbeat);
    for (const client of this.#sockets.clients) client.terminate();
    this.#server.close();
    this.#server.closeAllConnections();
    if (this.#server.listening) await once(this.#server, 'close');
  }

  refuse(status: number, headers: Record<string, string> = {}): void {
    this.refusal = status;
    this.refusalHeaders = headers;
  }

  send(frame: ServerFrame): void {
    this.socket?.send(encodeFrame(frame));
  }

  framesOf<T extends NodeFrame['type']>(type: T): FrameOf<T>[] {
    return this.frames.filter((frame): frame is FrameOf<T> => frame.type === type);
  }

  factsOf<K extends Fact['kind']>(kind: K): FactOf<K>[] {
    return this.facts.flatMap(({ fact }) => (fact.kind === kind ? [fact as FactOf<K>] : []));
  }

  /** Gives a command and waits for its answer. */
  async command(
    name: string,
    params: unknown,
    { id = `c-${Math.random().toString(36).slice(2)}`, timeLeftMs = 30_000 } = {},
  ): Promise<FrameOf<'result'> | FrameOf<'refusal'>> {
    const from = this.frames.length;
    this.send({ type: 'command', id, name, params, time_left_ms: timeLeftMs });
    return until(
      `an answer to ${name} ${id}`,
      () =>
        this.frames
          .slice(from)
          .find(
            (frame): frame is FrameOf<'result'> | FrameOf<'refusal'> =>
              (frame.type === 'result' || frame.type === 'refusal') && frame.id === id,
          ),
      90_000,
    );
  }

  /** The state of a slot that the node reported last. */
  slotState(slot: string): string | undefined {
    const tellers = this.frames.filter((frame) => frame.type === 'hello' || frame.type === 'slots');
    return tellers.at(-1)?.slots.find((each) => each.slot === slot)?.state;
  }

  /** The slot in which a modem is, as the node reported it last. */
  slotOf(imei: string): Slot | undefined {
    const tellers = this.frames.filter((frame) => frame.type === 'hello' || frame.type === 'slots');
    return tellers.at(-1)?.slots.find((each) => each.device_id === imei);
  }

  modemState(imei: string): string | undefined {
    return this.slotOf(imei)?.state;
  }

  /** The alarms that the node reported last. */
  get alarms(): readonly string[] {
    const tellers = this.frames.filter((frame) => frame.type === 'hello' || frame.type === 'slots');
    return tellers.at(-1)?.alarms ?? [];
  }

  #onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.upgrades.push(request);
    if (this.refusal !== undefined || request.url !== LINK_PATH) {
      const headers = Object.entries({ ...this.refusalHeaders, Connection: 'close', 'Content-Length': '0' });
      const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      socket.end(`HTTP/1.1 ${this.refusal ?? 404} Refused\r\n${lines}\r\n`);
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (client) => this.#onLink(client));
  }

  #onLink(client: WebSocket): void {
    this.socket = client;
    client.on('message', (data) => {
      this.texts.push(String(data));
      this.#onFrame(client, parseNodeFrame(String(data)));
    });
    client.on('close', (code, reason) => this.closes.push({ code, reason: reason.toString() }));
    client.on('error', () => undefined);
    const heartbeat = setInterval(() => {
      if (this.pings) client.ping();
    }, this.heartbeatMs);
    this.#heartbeats.add(heartbeat);
    client.on('close', () => clearInterval(heartbeat));
  }

  #onFrame(client: WebSocket, frame: NodeFrame): void {
    this.frames.push(frame);
    if (frame.type === 'hello') {
      const welcome = this.welcome();
      if (welcome !== undefined) client.send(encodeFrame(welcome));
    } else if (frame.type === 'fact') {
      this.facts.push({ ...frame, atMs: performance.now() });
      if (!this.acknowledges) return;
      this.acknowledged = frame.sequence;
      client.send(encodeFrame({ type: 'ack', sequence: frame.sequence }));
    }
  }
}
