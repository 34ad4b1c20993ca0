// The HTTP server: limits that apply before Koa sees a request, refusals on the raw socket, upgrades.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type Koa from 'koa';
import { type Clock, every } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { listen } from '#shared/process/listen.ts';
import { Refusal } from '../domain/refusal.ts';
import { emitMetric } from '../metrics/metric-events.ts';
import { Connections, capConnections, isWebSocket } from './connections.ts';
import { errorAnswerOf } from './error-body.ts';
import { endWith, writeAnswer } from './raw-answer.ts';

/** Bytes of the request line and the headers together; the description of `headers_too_large` states it. */
const HEADER_BYTES_MAX = 16 * 1024;

/** Connections are checked at this share of a timeout, so a timeout may be this late. */
const CHECK_SHARE = 0.25;
const CHECK_MS = { min: 25, max: 1_000 };

/** Requests in flight at a stop get this long. */
const DRAIN_TIMEOUT_MS = 5_000;
const IDLE_POLL_MS = 50;

/** Handles an upgrade, or throws a `Refusal` that is sent instead. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>;

export interface HttpServer {
  port: number;
  /** Begins to respond. Call it in the same turn in which `listenHttp` resolves, so that no request waits. */
  serve(app: Koa, onUpgrade: UpgradeHandler): void;
  /** Accepts no new connection, finishes requests in flight, then closes. */
  stop(): Promise<void>;
}

export interface HttpOptions {
  host: string;
  port: number;
  clock: Clock;
  log: Logger;
  /** From the first byte, or from the start of the connection, to the end of the headers. */
  headersTimeoutMs: number;
  /** From there to the end of the request. */
  requestTimeoutMs: number;
  /** For a connection without a request. */
  keepAliveTimeoutMs: number;
  /** For a client that does not read its response. */
  unreadTimeoutMs: number;
  /** Open connections per network. */
  connectionsPerAddress: number;
  /** All connections come from a proxy, so they are not counted by address. */
  isBehindProxy: boolean;
}

/** Binds the port, so that the parts to build can know it. Throws when that fails. */
export async function listenHttp(options: HttpOptions): Promise<HttpServer> {
  const { clock, headersTimeoutMs, keepAliveTimeoutMs, log, requestTimeoutMs, unreadTimeoutMs } = options;
  const checkMs = Math.min(headersTimeoutMs, requestTimeoutMs) * CHECK_SHARE;
  const server = createServer({
    requestTimeout: requestTimeoutMs,
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    connectionsCheckingInterval: Math.min(CHECK_MS.max, Math.max(CHECK_MS.min, checkMs)),
    keepAliveTimeout: keepAliveTimeoutMs,
    maxHeaderSize: HEADER_BYTES_MAX,
    // Checked by `normalize`, where the response has a body.
    requireHostHeader: false,
  });
  server.timeout = unreadTimeoutMs;
  server.maxHeadersCount = HEADERS_MAX;
  const onFlood = options.isBehindProxy
    ? () => undefined
    : capConnections(server, clock, options.connectionsPerAddress);
  const connections = new Connections(options, onFlood);
  server.on('clientError', (error, socket) => connections.fail(error, socket));
  server.on('timeout', (socket) => connections.idle(socket, unreadTimeoutMs));
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    writeAnswer(socket, clock, errorAnswerOf(noTunnel(), log));
  });
  const { port } = await listen(server, { ...options, option: 'PORT' });
  // The system refused one connection, for lack of memory: the others go on.
  server.on('error', (error) => log.error({ err: error }, 'a connection could not be accepted'));
  return {
    port,
    serve(app, onUpgrade) {
      const handle = app.callback();
      const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
        if (!connections.open(request, response)) return;
        try {
          normalize(request);
        } catch (error) {
          const answer = errorAnswerOf(error, log);
          emitMetric({ kind: 'malformed', status: answer.status });
          endWith(response, answer);
          return;
        }
        void handle(request, response);
      };
      server.on('request', onRequest);
      // An unknown expectation may be ignored (RFC 9110 §10.1.1).
      server.on('checkExpectation', onRequest);
      server.on('upgrade', (request, socket, head) => {
        if (!isWebSocket(request)) {
          connections.whenAnswered(request.socket, unreadTimeoutMs, () =>
            ignoreUpgrade(server, request, socket, head),
          );
          return;
        }
        socket.on('error', () => socket.destroy());
        onUpgrade(request, socket, head).catch((error: unknown) =>
          writeAnswer(socket, clock, errorAnswerOf(error, log)),
        );
      });
    },
    stop: () => drain(server, connections, clock),
  };
}

const noTunnel = (): Refusal =>
  new Refusal('method_not_allowed', 'This server is not a proxy.', {
    headers: { Allow: 'GET, HEAD, POST, OPTIONS' },
  });

/** A request that offers another protocol, such as h2c, is an ordinary request (RFC 9110 §7.8): it is parsed again without the offer. */
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

async function drain(server: Server, connections: Connections, clock: Clock): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection is idle once its response is sent: clients keep it for their next request.
  const idle = every(clock, IDLE_POLL_MS, () => server.closeIdleConnections());
  server.closeIdleConnections();
  const timeout = clock.after(DRAIN_TIMEOUT_MS, () => {
    server.closeAllConnections();
    connections.endWaiting();
  });
  await closed;
  idle.cancel();
  timeout.cancel();
}

/** RFC 3986 §3.2.2, and a port. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~%!$&'()*+,;=-]*)(?::\d{0,5})?$/i;

/** Node drops headers beyond this number without reporting it. */
const HEADERS_MAX = 256;

/**
 * Checks the version, the number of headers and `Host` (RFC 9112 §3.2), and brings the target into origin form, because routes know paths
 * only. Throws `Refusal` `invalid_request`, `headers_too_large`.
 */
function normalize(request: IncomingMessage): void {
  const { httpVersion, rawHeaders, url = '' } = request;
  if (!httpVersion.startsWith('1.'))
    throw new Refusal('invalid_request', 'The request is not HTTP/1.', {
      details: { field: 'HTTP-version', expected: 'HTTP/1.1' },
    });
  if (rawHeaders.length >= 2 * HEADERS_MAX)
    throw new Refusal('headers_too_large', `A request must have fewer than ${HEADERS_MAX} headers`);
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1') || !HOST.test(request.headers.host ?? ''))
    throw new Refusal('invalid_request', 'A request must have one Host header.', {
      details: { field: 'Host', expected: 'one Host header' },
    });
  if (url.startsWith('/') || url === '*') return;
  if (!URL.canParse(url))
    throw new Refusal('invalid_request', 'The target of the request is not a URL.', {
      details: { field: 'request-target', expected: 'a path, or a URL' },
    });
  const { pathname, search } = new URL(url);
  request.url = pathname + search;
}
