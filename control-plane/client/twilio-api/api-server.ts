// The HTTP server of the API: it admits programs with the credentials, never web pages, and bounds what they send.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import getRawBody from 'raw-body';
import { isLoopback, isLoopbackHost, isOfWebPage } from '#shared/loopback.ts';
import { discardRest } from '#shared/process/discard-rest.ts';
import { isApiError } from '../api-error.ts';
import { BotError } from '../bridge/bot.ts';
import type { TwilioAccount } from './account.ts';
import { isAuthorized } from './credentials.ts';
import { invalid, notFound, TwilioRefusal, unavailableOf } from './refusal.ts';

const BODY_BYTES_MAX = 64 * 1024;

const CONNECTIONS_MAX = 256;
const HEADERS_TIMEOUT_MS = 10_000;
/** Time-outs may be this late. */
const CHECK_MS = 1_000;
const REQUEST_TIMEOUT_MS = 30_000;

interface TwilioApiRequest {
  method: string;
  /** Below the account, without `.json`. */
  resource: string;
  fields: URLSearchParams;
}

interface ApiAnswer {
  status: number;
  /** Absent in a 204. */
  body?: object;
}

/** Answers a request, or undefined for a resource that is not there. May throw `TwilioRefusal`, `ApiError` and `BotError`. */
export type AnswerRequest = (request: TwilioApiRequest) => Promise<ApiAnswer | undefined>;

export function createApiServer(account: TwilioAccount, answer: AnswerRequest): Server {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_MS,
    },
    (request, response) => void respond(request, response, { account, answer }),
  );
  server.maxConnections = CONNECTIONS_MAX;
  return server;
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  parts: { account: TwilioAccount; answer: AnswerRequest },
): Promise<void> {
  try {
    const { status, body } = await answered(request, parts);
    write(response, status, body);
  } catch (error) {
    const refusal = refusalFor(error, parts.account);
    if (!request.complete) {
      response.setHeader('Connection', 'close');
      void discardRest(request);
    }
    if (refusal.status === 401) response.setHeader('WWW-Authenticate', 'Basic realm="Twilio API"');
    if (refusal.retryAfterSeconds !== undefined)
      response.setHeader('Retry-After', String(refusal.retryAfterSeconds));
    write(response, refusal.status, refusal.json);
  }
}

async function answered(
  request: IncomingMessage,
  { account, answer }: { account: TwilioAccount; answer: AnswerRequest },
): Promise<ApiAnswer> {
  refuseWebPages(request);
  if (!isAuthorized(request.headers.authorization, account))
    throw new TwilioRefusal({ status: 401, code: 20_003, message: 'Authenticate' });
  const { pathname, searchParams } = urlOf(request);
  const resource = /^\/2010-04-01\/Accounts\/(\w+)\/([\w/-]+)\.json$/.exec(pathname);
  if (resource === null || resource[1] !== account.sid) throw notFound(pathname);
  const method = request.method ?? '';
  const fields = method === 'POST' ? new URLSearchParams(await bodyOf(request)) : searchParams;
  const found = await answer({ method, resource: resource[2] ?? '', fields });
  if (found === undefined) throw notFound(pathname);
  return found;
}

/**
 * A page in a browser of this machine can post forms to 127.0.0.1, with credentials that the browser keeps. After DNS rebinding, its
 * requests have the name of its own host.
 */
function refuseWebPages({ headers, socket }: IncomingMessage): void {
  const { host = '' } = headers;
  const isOfPage = isOfWebPage(headers);
  if (!isOfPage && (!isLoopback(socket.localAddress ?? '') || isLoopbackHost(host))) return;
  throw new TwilioRefusal({
    status: 403,
    code: 20_403,
    message: isOfPage ? 'Web pages may not use this API.' : `Not the host of this API: ${host.slice(0, 100)}`,
  });
}

function urlOf(request: IncomingMessage): URL {
  const url = `http://localhost${request.url ?? ''}`;
  if (!URL.canParse(url)) throw notFound('');
  return new URL(url);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw invalid(20_001, 'Compressed bodies are not accepted.');
  try {
    const length = request.headers['content-length'] ?? null;
    return await getRawBody(request, { limit: BODY_BYTES_MAX, length, encoding: 'utf-8' });
  } catch (error) {
    if ((error as { type?: string }).type !== 'entity.too.large')
      throw invalid(20_001, 'The body could not be read.');
    const message = `The body must have at most ${BODY_BYTES_MAX} bytes.`;
    throw new TwilioRefusal({ status: 413, code: 20_001, message });
  }
}

function refusalFor(error: unknown, { note }: TwilioAccount): TwilioRefusal {
  if (error instanceof TwilioRefusal) return error;
  if (isApiError(error)) return unavailableOf(error);
  if (error instanceof BotError) return invalid(12_100, error.message);
  note(`a request failed: ${error instanceof Error ? error.stack : String(error)}`);
  return new TwilioRefusal({ status: 500, code: 20_500, message: 'An internal error occurred.' });
}

function write(response: ServerResponse, status: number, body: object | undefined): void {
  if (body === undefined) {
    response.writeHead(status, { 'Cache-Control': 'no-store' }).end();
    return;
  }
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': 'no-store',
  });
  response.end(JSON.stringify(body));
}
