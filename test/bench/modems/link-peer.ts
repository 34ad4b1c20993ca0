// The control plane's end of one link, at the least cost: the daemon is measured, not what answers it.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { encodeFrame, type NodeFrame, type ServerFrame } from '#shared/link/frame.ts';
import { LINK_PATH, LINK_VERSION } from '#shared/link/version.ts';

/** As the control plane has them. */
const WINDOW = 256;
/** It acknowledges what a commit holds; the database takes about this long for one. */
const COMMIT_MS = 2;
/** Longer than any part of the bench. */
const HEARTBEAT_MS = 60 * 60 * 1000;

/** Takes one daemon at a time, whatever its identity, and believes every frame. */
export class LinkPeer {
  /** Called with each frame as it came, unchecked. */
  onFrame: (frame: NodeFrame) => void = () => undefined;
  #slots = new Map<string, string>();
  #socket: WebSocket | undefined;
  #acknowledged = 0;
  #received = 0;
  #commit: NodeJS.Timeout | undefined;
  readonly #server: Server;
  readonly #sockets: WebSocketServer;

  private constructor(server: Server) {
    this.#server = server;
    this.#sockets = new WebSocketServer({ server, path: LINK_PATH, perMessageDeflate: false });
    this.#sockets.on('connection', (socket) => {
      this.#socket = socket;
      socket.on('message', (data) => this.#take(JSON.parse(String(data)) as NodeFrame));
      socket.on('error', () => undefined);
    });
  }

  static async start(): Promise<LinkPeer> {
    const server = createServer((_, response) => response.writeHead(404).end());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new LinkPeer(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The state of a slot that the daemon reported last. */
  slotState(slot: string): string | undefined {
    return this.#slots.get(slot);
  }

  send(frame: ServerFrame): void {
    this.#socket?.send(encodeFrame(frame));
  }

  async stop(): Promise<void> {
    clearTimeout(this.#commit);
    for (const client of this.#sockets.clients) client.terminate();
    this.#sockets.close();
    this.#server.close();
    this.#server.closeAllConnections();
    if (this.#server.listening) await once(this.#server, 'close');
  }

  #take(frame: NodeFrame): void {
    if (frame.type === 'hello') this.#welcome();
    if (frame.type === 'hello' || frame.type === 'slots') {
      this.#slots = new Map(frame.slots.map(({ slot, state }) => [slot, state]));
    } else if (frame.type === 'fact') {
      this.#received = frame.sequence;
      this.#commit ??= setTimeout(() => this.#acknowledge(), COMMIT_MS);
    }
    this.onFrame(frame);
  }

  #welcome(): void {
    this.send({
      type: 'welcome',
      version: LINK_VERSION,
      heartbeat_ms: HEARTBEAT_MS,
      window: WINDOW,
      acknowledged: this.#acknowledged,
    });
  }

  #acknowledge(): void {
    this.#commit = undefined;
    this.#acknowledged = this.#received;
    this.send({ type: 'ack', sequence: this.#acknowledged });
  }
}
