// The HTTP server: limits that hold before Koa sees a request, refusals on the raw socket, upgrades.
import { createServer, type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type Koa from 'koa';
import type { Logger } from '#shared/log.ts';
import { answerOf, type ErrorAnswer } from './error-body.ts';

/** A request that is not complete by then is a slow-loris or a broken client. */
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 10_000;

/** Longer than the idle time-out of common proxies (60 s), so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/** Requests in flight at a stop get this long. */
const DRAIN_TIMEOUT_MS = 5_000;
const IDLE_POLL_MS = 50;

/** Takes an upgrade, or throws a `Refusal` that is answered instead. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>;

export interface HttpServer {
  port: number;
  /** Begins to answer. To be called in the same turn in which `listenHttp` resolves: no request waits. */
  serve(app: Koa, onUpgrade: UpgradeHandler): void;
  /** Takes no new connection, lets requests in flight finish, then closes. */
  stop(): Promise<void>;
}

/** Takes the port, so that the parts to build can know it. Throws when it cannot be had. */
export async function listenHttp(options: { host: string; port: number; log: Logger }): Promise<HttpServer> {
  const server = createServer({
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else writeAnswer(socket, unreadable(error));
  });
  await listen(server, options.host, options.port);
  return {
    port: (server.address() as AddressInfo).port,
    serve(app, onUpgrade) {
      const handle = app.callback();
      server.on('request', (request, response) => void handle(request, response));
      server.on('upgrade', (request, socket, head) => {
        socket.on('error', () => socket.destroy());
        if (!isWebSocket(request)) {
          ignoreUpgrade(server, request, socket, head);
          return;
        }
        onUpgrade(request, socket, head).catch((error: unknown) =>
          writeAnswer(socket, answerOf(error, options.log)),
        );
      });
    },
    stop: () => drain(server),
  };
}

const isWebSocket = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === 'websocket';

/**
 * A request that offers another protocol, such as h2c, is one like any other (RFC 9110 §7.8): it is read again,
 * without the offer.
 */
function ignoreUpgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = rawHeaders.flatMap((name, index) =>
    index % 2 === 1 || /^(upgrade|connection|http2-settings)$/i.test(name)
      ? []
      : [`${name}: ${rawHeaders[index + 1]}\r\n`],
  );
  if (/\bclose\b/i.test(request.headers.connection ?? '')) lines.push('Connection: close\r\n');
  const start = Buffer.from(`${method} ${url} HTTP/${httpVersion}\r\n${lines.join('')}\r\n`, 'latin1');
  socket.unshift(Buffer.concat([start, head]));
  server.emit('connection', socket);
}

function unreadable(error: NodeJS.ErrnoException): ErrorAnswer {
  const isTooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const isSlow = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  return {
    status: isTooLarge ? 431 : isSlow ? 408 : 400,
    headers: {},
    body: {
      error: 'invalid_request',
      message: isTooLarge
        ? 'the headers are too long'
        : isSlow
          ? 'the request took too long'
          : 'this is not HTTP',
    },
  };
}

/** Answers on a socket that Koa never gets, and ends it. */
export function writeAnswer(socket: Duplex, { status, headers, body }: ErrorAnswer): void {
  const text = JSON.stringify(body);
  const lines = Object.entries({
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(text)),
    'Cache-Control': 'no-store',
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${text}`);
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
}

async function drain(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection is idle once its answer is out: clients would keep it for their next request.
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_POLL_MS);
  server.closeIdleConnections();
  const timeout = setTimeout(() => server.closeAllConnections(), DRAIN_TIMEOUT_MS);
  await closed;
  clearInterval(idle);
  clearTimeout(timeout);
}
