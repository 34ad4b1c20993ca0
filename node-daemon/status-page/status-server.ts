// The node's read-only HTTP server for people and Prometheus on this host: pages and metrics.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import { isLoopbackHost } from '#shared/loopback.ts';
import { type Listening, listen } from '#shared/process/listen.ts';
import type { NodeStatus } from './node-status.ts';
import { overviewPage } from './overview-page.ts';
import { CONTENT_SECURITY_POLICY } from './page.ts';
import { slotPage } from './slot-page.ts';

const CONNECTIONS_MAX = 64;
const HEADERS_MAX = 8 * 1024;
const HEADERS_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 10_000;
/** Time limit for an idle connection, such as one of a client that does not read its answer. */
const IDLE_TIMEOUT_MS = 30_000;

const HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};
const HTML_TYPE = 'text/html; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

const problem = (status: number, text: string): Answer => ({ status, type: TEXT_TYPE, text: `${text}\n` });

/** The parts of the server. */
export interface StatusServerParts {
  readonly registry: Registry;
  readonly status: () => NodeStatus;
  /** Port; 0 selects a free one. */
  readonly port: number;
}

/** Listens on 127.0.0.1. If the port cannot be opened, rejects with an error that names the configuration key. */
export function serveStatus({ registry, status, port }: StatusServerParts): Promise<Listening> {
  const answer = async ({ method = '', url = '/', headers }: IncomingMessage): Promise<Answer> => {
    // A web page could resolve its own name to 127.0.0.1 and read any server there (DNS rebinding). Its requests contain that name.
    if (!isLoopbackHost(headers.host ?? ''))
      return problem(421, 'This server answers http://localhost only.');
    if (method !== 'GET' && method !== 'HEAD') return problem(405, 'This server supports GET and HEAD only.');
    const [path = '/'] = url.split('?');
    if (path === '/metrics')
      return { status: 200, type: registry.contentType, text: await registry.metrics() };
    const text = path === '/' ? overviewPage(status()) : slotPage(slotOf(path), status());
    return text === undefined
      ? problem(404, 'Not found. See / and /metrics.')
      : { status: 200, type: HTML_TYPE, text };
  };
  const server = createServer({ maxHeaderSize: HEADERS_MAX }, (request, response) => {
    answer(request).then(
      (each) => send(response, request.method, each),
      () => send(response, request.method, problem(500, 'The page failed. See the log of the daemon.')),
    );
  });
  server.maxConnections = CONNECTIONS_MAX;
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.setTimeout(IDLE_TIMEOUT_MS);
  return listen(server, { port, option: 'metrics.port' });
}

/** Slot names need no encoding. */
const slotOf = (path: string): string => /^\/slots\/([^/]{1,64})$/.exec(path)?.[1] ?? '';

function send(response: ServerResponse, method: string | undefined, { status, type, text }: Answer): void {
  const body = Buffer.from(text);
  const allow = status === 405 ? { allow: 'GET, HEAD' } : {};
  response.writeHead(status, { ...HEADERS, ...allow, 'content-type': type, 'content-length': body.length });
  response.end(method === 'HEAD' ? undefined : body);
}
