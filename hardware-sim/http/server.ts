// The HTTP interface on the loopback address: finds the route, writes the JSON, turns errors into JSON.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Logger } from '#shared/log.ts';
import { isLoopbackHost, isOfWebPage } from '#shared/loopback.ts';
import { listen } from '#shared/process/listen.ts';
import { HttpError, httpErrorOf, refuseUpgrade, STATUSES } from './http-error.ts';
import type { Answers, Route } from './route.ts';

const HOST = '127.0.0.1';
/** A client that takes longer to send its request has gone. */
const REQUEST_TIMEOUT_MS = 10_000;

/** A server that listens. */
export interface HttpServer {
  /** Without a slash at the end. */
  url: string;
  close(): Promise<void>;
}

/** Listens on `port`, or on a free one for 0. Rejects when the port is taken. */
export async function startServer(
  { routes, upgrade }: Pick<Answers, 'routes' | 'upgrade'>,
  port: number,
  log: Logger,
): Promise<HttpServer> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (incoming, response) => {
    response.on('error', (error) => log.debug({ err: error }, 'client went away'));
    answer(routes, incoming, response).catch((error) => fail(response, error, log));
  });
  server.on('upgrade', (incoming, socket, head) => {
    socket.on('error', (error) => log.debug({ err: error }, 'client went away'));
    if (isRefused(incoming)) refuseUpgrade(socket, '403 Forbidden');
    else upgrade(incoming, socket, head);
  });
  const { port: boundPort, stop } = await listen(server, {
    host: HOST,
    port,
    option: '--port (SIMULATOR_PORT)',
  });
  return { url: `http://${HOST}:${boundPort}`, close: stop };
}

async function answer(
  routes: readonly Route[],
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (isRefused(incoming))
    throw new HttpError(
      'forbidden',
      'web pages may not use the simulator: no Origin, and a Host of loopback',
    );
  const { pathname, searchParams: query } = parsedUrl(incoming.url ?? '/');
  const onPath = routes.flatMap((route) => {
    const parameter = match(route.path, pathname);
    return parameter === undefined ? [] : [{ route, parameter }];
  });
  const found = onPath.find(({ route }) => route.method === incoming.method);
  if (found === undefined) {
    if (onPath.length === 0) throw new HttpError('not_found', `nothing exists at ${pathname}`);
    const allowed = onPath.map(({ route }) => route.method).join(', ');
    response.setHeader('allow', allowed);
    throw new HttpError('method_not_allowed', `${pathname} takes ${allowed}`);
  }
  const { route, parameter } = found;
  const body = await route.handle({ incoming, response, query, parameter });
  if (body !== undefined) writeJson(response, route.status ?? 200, body);
}

/** A page in a browser of this machine can send requests to 127.0.0.1. After DNS rebinding they have the name of the page's host. */
const isRefused = ({ headers }: IncomingMessage): boolean =>
  isOfWebPage(headers) || !isLoopbackHost(headers.host ?? '');

function parsedUrl(url: string): URL {
  try {
    return new URL(`http://${HOST}${url}`);
  } catch (cause) {
    throw new HttpError('invalid_request', 'the path cannot be read', { cause });
  }
}

/** The parameter of a path that fits the pattern: empty when the pattern has none. */
function match(pattern: string, pathname: string): string | undefined {
  const expected = pattern.split('/');
  const given = pathname.split('/');
  if (expected.length !== given.length) return undefined;
  let parameter = '';
  for (const [index, part] of expected.entries()) {
    const segment = given[index] ?? '';
    if (part.startsWith('{')) parameter = segment;
    else if (part !== segment) return undefined;
  }
  return parameter;
}

function fail(response: ServerResponse, error: unknown, log: Logger): void {
  const known = httpErrorOf(error);
  if (known === undefined) log.error({ err: error }, 'request failed');
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { code, message } = known ?? new HttpError('internal_error', 'the simulator failed; see its log');
  // The rest of a body that was not read would look like the next request.
  if (!response.req.complete) response.setHeader('connection', 'close');
  writeJson(response, STATUSES[code], { error: code, message });
}

function writeJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(body));
}
