// Ends connections that send invalid HTTP or are idle. Answers under way are finished first.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { RefusalCode } from '#shared/api/refusals.ts';
import type { Logger } from '#shared/log.ts';
import { Refusal } from '../domain/refusal.ts';
import { observe } from '../metrics/observation.ts';
import { answerOf } from './error-body.ts';
import { linger, writeAnswer } from './raw-answer.ts';

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

interface Connection {
  /** In the order in which they were asked, which is that of the answers. */
  exchanges: Set<Exchange>;
  /** The error of the input after them that cannot be parsed. */
  error?: NodeJS.ErrnoException;
  /** The step that waits for them. */
  next?: () => void;
}

export class Connections {
  readonly #log: Logger;
  readonly #connections = new WeakMap<Duplex, Connection>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** A request is there. */
  open(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const connection = this.#connectionOf(socket);
    const exchange = { request, response };
    connection.exchanges.add(exchange);
    response.once('close', () => {
      connection.exchanges.delete(exchange);
      this.#settle(socket, connection);
    });
  }

  /** The input is not HTTP, is too long, or did not come in time. */
  fail(error: NodeJS.ErrnoException, socket: Duplex): void {
    if (error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    if (!socket.writable) {
      linger(socket);
      return;
    }
    const connection = this.#connectionOf(socket);
    connection.error = error;
    this.#settle(socket, connection);
  }

  /** Calls `next` when all requests so far are answered, unless that was the end of the connection. */
  whenAnswered(socket: Duplex, next: () => void): void {
    const connection = this.#connectionOf(socket);
    // No other listener hears of the end of a connection that is between two parsers.
    const onError = (): void => void socket.destroy();
    socket.on('error', onError);
    connection.next = () => {
      socket.off('error', onError);
      next();
    };
    this.#settle(socket, connection);
  }

  /** Nothing has come or gone for a while: right while an answer is being made, not while one waits to be read. */
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

  #settle(socket: Duplex, connection: Connection): void {
    const { error, exchanges, next } = connection;
    if (socket.destroyed) return;
    if (error === undefined) {
      if (next === undefined || exchanges.size > 0) return;
      delete connection.next;
      next();
      return;
    }
    const [first, ...others] = exchanges;
    // The unreadable part is its own body: no other code will answer it.
    const isBroken = first?.request.complete === false;
    if (first !== undefined && (others.length > 0 || !isBroken)) return;
    if (first?.response.headersSent === true) socket.destroy();
    else if (socket.writable) {
      const answer = answerOf(unreadable(error), this.#log);
      observe({ kind: 'malformed', status: answer.status });
      writeAnswer(socket, answer, first?.request.method);
    }
  }
}

function unreadable({ code = '', message }: NodeJS.ErrnoException): Refusal {
  const [refusal, text] = WHY[code] ?? ['invalid_request', 'this is not HTTP'];
  return new Refusal(refusal, text, { cause: `${code} ${message}` });
}

/** By the codes of Node's parser. */
const WHY: Record<string, [RefusalCode, string] | undefined> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'the request line and the headers are too long'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'the request took too long'],
};
