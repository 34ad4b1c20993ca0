// Limits connections: those of one network, those that send invalid HTTP or are idle. Responses under way are finished first.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { RefusalCode } from '#shared/api/refusals.ts';
import type { Clock, Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { WHOLE } from '../domain/checked-input.ts';
import { Refusal } from '../domain/refusal.ts';
import { emitMetric } from '../metrics/metric-events.ts';
import { clientNetworkOf } from './client-network.ts';
import { errorAnswerOf } from './error-body.ts';
import { linger, writeAnswer } from './raw-answer.ts';

/** Common clients send a request after the last response. One that sends many at once takes the turns of others. */
const PIPELINED_MAX = 3;

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

interface Connection {
  /** Requests in order; responses have the same order. */
  exchanges: Set<Exchange>;
  /** The parse error of the input after them. */
  error?: NodeJS.ErrnoException;
  /** Runs when they are answered. */
  next?: () => void;
}

export class Connections {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #onFlood: (socket: Socket) => void;
  readonly #connections = new WeakMap<Duplex, Connection>();
  /** Between two parsers; the server does not know them. */
  readonly #waiting = new Set<Duplex>();

  /** `onFlood` is called when a connection is dropped for its many requests. */
  constructor({ clock, log }: { clock: Clock; log: Logger }, onFlood: (socket: Socket) => void) {
    this.#clock = clock;
    this.#log = log;
    this.#onFlood = onFlood;
  }

  /** A request has begun. Returns false if it is dropped, with its connection: too many before it have no response yet. */
  open(request: IncomingMessage, response: ServerResponse): boolean {
    const { socket } = request;
    if (socket.destroyed) return false;
    const connection = this.#connectionOf(socket);
    if (connection.exchanges.size >= PIPELINED_MAX) {
      emitMetric({ kind: 'rate_limited', limit: 'pipelined' });
      socket.resetAndDestroy();
      this.#onFlood(socket);
      return false;
    }
    const exchange = { request, response };
    connection.exchanges.add(exchange);
    response.once('close', () => {
      connection.exchanges.delete(exchange);
      this.#proceed(socket, connection);
    });
    return true;
  }

  /** The input is not HTTP, is too long, or did not arrive in time. */
  fail(error: NodeJS.ErrnoException, socket: Duplex): void {
    if (error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    if (!socket.writable) {
      linger(socket, this.#clock);
      return;
    }
    const connection = this.#connectionOf(socket);
    connection.error = error;
    this.#proceed(socket, connection);
  }

  /** Calls `next` when all requests so far are answered, unless the connection ends with that. `unreadMs`: as of `idle`. */
  whenAnswered(socket: Socket, unreadMs: number, next: () => void): void {
    const connection = this.#connectionOf(socket);
    // Between two parsers no other listener handles the end of a connection, or its silence.
    const onError = (): void => void socket.destroy();
    const onTimeout = (): void => this.idle(socket, unreadMs);
    const onClose = (): void => void this.#waiting.delete(socket);
    this.#waiting.add(socket);
    socket.on('error', onError).on('timeout', onTimeout).once('close', onClose).setTimeout(unreadMs);
    connection.next = () => {
      onClose();
      socket.off('error', onError).off('timeout', onTimeout).off('close', onClose);
      next();
    };
    this.#proceed(socket, connection);
  }

  /** Ends the connections that wait to be parsed again. */
  endWaiting(): void {
    for (const socket of this.#waiting) socket.destroy();
  }

  /** The connection was silent for a while. That is normal while the response is being made, but not while a response waits to be read. */
  idle(socket: Socket, againMs: number): void {
    const isAnswering = (this.#connections.get(socket)?.exchanges.size ?? 0) > 0;
    if (isAnswering && socket.writableLength === 0) socket.setTimeout(againMs);
    else socket.destroy();
  }

  #connectionOf(socket: Duplex): Connection {
    const connection = this.#connections.get(socket) ?? { exchanges: new Set() };
    this.#connections.set(socket, connection);
    return connection;
  }

  #proceed(socket: Duplex, connection: Connection): void {
    const { error, exchanges, next } = connection;
    if (socket.destroyed) return;
    if (error === undefined) {
      if (next === undefined || exchanges.size > 0) return;
      delete connection.next;
      next();
      return;
    }
    const [first, ...others] = exchanges;
    // The unparsable part is the body of this request, so no handler will respond.
    const isBroken = first?.request.complete === false;
    if (first !== undefined && (others.length > 0 || !isBroken)) return;
    if (first?.response.headersSent === true) socket.destroy();
    else if (socket.writable) {
      const answer = errorAnswerOf(unreadable(error), this.#log);
      emitMetric({ kind: 'malformed', status: answer.status });
      writeAnswer(socket, this.#clock, answer, first?.request.method);
    }
  }
}

function unreadable({ code = '', message }: NodeJS.ErrnoException): Refusal {
  const [refusal, text] = WHY[code] ?? ['invalid_request', 'The request is not valid HTTP.'];
  const details = refusal === 'invalid_request' ? { field: WHOLE, expected: 'HTTP/1.1' } : {};
  return new Refusal(refusal, text, { cause: `${code} ${message}`, details });
}

/** By the error codes of Node's parser. */
const WHY: Record<string, [RefusalCode, string] | undefined> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The request line and the headers are too long.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request took too long.'],
};

/** RFC 6455 §4.1 requires a GET. An upgrade with any other method is ignored. */
export const isWebSocket = ({ headers, method }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';

/** A network is blocked after this many of its connections were dropped for their requests within `BLOCKED_MS`. */
const FLOODS_MAX = 20;
const BLOCKED_MS = 5_000;

interface Neighbours {
  sockets: Set<Socket>;
  floods: number;
  /** Forgets the floods. */
  timer?: Timer;
}

/**
 * Counts by the address at the other end of the socket, WebSockets included; an IPv6 /64 is one address. A connection beyond `max` is
 * reset: a response would keep it, and its cost, for longer. Call the result with each socket that was dropped for its many requests: what
 * it had sent is parsed nevertheless, so a network with many of them gets no connection for a while.
 */
export function capConnections(server: Server, clock: Clock, max: number): (flooding: Socket) => void {
  const open = new Map<string, Neighbours>();
  const networks = new WeakMap<Socket, string>();
  const upgraded = new WeakSet<Duplex>();
  // A WebSocket does not end for the requests of a neighbor.
  server.on('upgrade', (request, socket) => {
    if (isWebSocket(request)) upgraded.add(socket);
  });
  const forget = (network: string): void => {
    const { floods = 0, sockets } = open.get(network) ?? {};
    if (floods === 0 && sockets?.size === 0) open.delete(network);
  };
  server.on('connection', (socket: Socket) => {
    // A socket is reported again after a request whose protocol upgrade was ignored.
    if (socket.remoteAddress === undefined || networks.has(socket)) return;
    const { network } = clientNetworkOf(socket.remoteAddress);
    const neighbours = open.get(network) ?? { sockets: new Set(), floods: 0 };
    if (neighbours.sockets.size >= max || neighbours.floods >= FLOODS_MAX) {
      emitMetric({ kind: 'rate_limited', limit: 'connections' });
      socket.resetAndDestroy();
      return;
    }
    open.set(network, neighbours);
    networks.set(socket, network);
    neighbours.sockets.add(socket);
    socket.once('close', () => {
      neighbours.sockets.delete(socket);
      forget(network);
    });
  });
  server.once('close', () => {
    for (const { timer } of open.values()) timer?.cancel();
  });
  return (flooding) => {
    const network = networks.get(flooding);
    const neighbours = network === undefined ? undefined : open.get(network);
    if (network === undefined || neighbours === undefined) return;
    neighbours.floods += 1;
    if (neighbours.floods === 1)
      neighbours.timer = clock.after(BLOCKED_MS, () => {
        neighbours.floods = 0;
        forget(network);
      });
    if (neighbours.floods < FLOODS_MAX) return;
    for (const socket of neighbours.sockets) if (!upgraded.has(socket)) socket.resetAndDestroy();
  };
}

/** A signal that aborts when the connection closes before the whole response was handed to the network. */
export function untilGone(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const { socket } = response;
  let isSent = false;
  // Node 20 emits `finish` even if the connection was lost before it accepted the response.
  response.prependOnceListener('finish', () => {
    isSent = socket?.destroyed === false;
  });
  response.once('close', () => {
    if (!isSent) controller.abort();
  });
  if (response.destroyed) controller.abort();
  return controller.signal;
}
