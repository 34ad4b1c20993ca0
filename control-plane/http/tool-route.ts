// POST /mcp: HTTP checks before the tools see a request, and refusals in JSON-RPC.
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { Context, Middleware } from 'koa';
import type { Clock } from '#shared/clock.ts';
import type { Base } from '../bus/base.ts';
import { bearerChallenge } from '../discovery/protected-resource.ts';
import { tokenKey, tokenOf } from '../domain/bearer-token.ts';
import { WHOLE } from '../domain/checked-input.ts';
import { Refusal } from '../domain/refusal.ts';
import type { ToolSession } from '../mcp/cancellations.ts';
import type { Caller } from '../mcp/tool.ts';
import { callsIn, cancelledIn, membersOf, type ToolEndpoint } from '../mcp/tool-endpoint.ts';
import type { AnswerParts } from './answer.ts';
import { untilGone } from './connections.ts';
import { type ErrorAnswer, errorAnswerOf } from './error-body.ts';
import { setHeaders } from './headers.ts';
import { readJson } from './request-body.ts';
import { requestIdOf } from './request-record.ts';

interface ToolRouteParts extends AnswerParts, Pick<Base, 'clock' | 'log'> {
  baseUrl: string;
}

/** JSON-RPC 2.0 §5.1. */
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const INTERNAL_ERROR = -32_603;
/** A code of our own choice. */
const SERVER_ERROR = -32_000;

/** Messages of a batch. */
const MEMBERS_MAX = 16;

/** Fields and elements of the whole body. A call of a tool has thirty. */
const VALUES_MAX = 1_000;

/** Twice the longest call. */
const ANSWER_TIMEOUT_MS = 120_000;

const SESSION_ID = 'Mcp-Session-Id';

/** Headers that belong to the connection, not to the response. */
const HOP_BY_HOP = new Set(['connection', 'content-length', 'transfer-encoding']);

export function serveTools(endpoint: ToolEndpoint, parts: ToolRouteParts): Middleware {
  const origins = originsOf(parts.baseUrl);

  async function callerIn(ctx: Context, message: unknown): Promise<Caller | undefined> {
    if (endpoint.needsBearer(message)) return callerOf(ctx, parts);
    if (ctx.get('Authorization') === '' || cancelledIn(message).length === 0) return undefined;
    // A notification gets no refusal; one without a valid token has no effect.
    return callerOf(ctx, parts).catch(() => undefined);
  }

  return async (ctx) => {
    const refusalOf = (error: unknown) => errorAnswerOf(error, parts.log, requestIdOf(ctx));
    let message: unknown;
    try {
      checkOrigin(ctx.get('Origin'), origins);
      message = await readJson(ctx);
      checkSize(message);
      const members = membersOf(message);
      // Each call succeeds or fails by itself.
      if (callsIn(message).length > 1 || members.length > MEMBERS_MAX)
        throw new Refusal(
          'invalid_request',
          `A request can contain one tool call and ${MEMBERS_MAX} messages.`,
          { details: { field: WHOLE } },
        );
      const caller = await callerIn(ctx, message);
      const { address, subscription } = parts.limits;
      for (let member = 0; member < Math.max(1, members.length); member += 1) {
        const counted =
          caller === undefined ? address.count(ctx.ip) : subscription.count(caller.subscription.id);
        setHeaders(ctx, (await counted).headers);
      }
      const lost = untilGone(ctx.res);
      endInTime(ctx.res, parts.clock);
      // The id distinguishes the calls of clients with one token, and is for nothing else: without a token there is no session.
      if (members.some(({ method }) => method === 'initialize') && ctx.get('Authorization') !== '')
        ctx.set(SESSION_ID, randomUUID());
      const request = requestOf(ctx, parts.baseUrl + ctx.path, lost);
      const explain = (error: unknown) => toolRefusal(refusalOf(error));
      const response = await endpoint.answer({
        request,
        message,
        caller,
        lost,
        explain,
        session: sessionOf(ctx, caller),
      });
      if (lost.aborted) return;
      if ('message' in response) {
        ctx.set('Content-Type', 'application/json');
        ctx.body = JSON.stringify(response.message);
      } else await copy(response, ctx);
    } catch (error) {
      refuse(ctx, refusalOf(error), idOf(message));
    }
  };
}

/** Sessions are not stored. Calls that need no token end too soon to be canceled. */
function sessionOf(ctx: Context, caller: Caller | undefined): ToolSession | undefined {
  const id = ctx.get(SESSION_ID);
  return id === '' || caller === undefined ? undefined : { id, key: caller.key };
}

/** The schemas of the protocol name each wrong value of a message, and the error has all of that: a few thousand take a second. */
function checkSize(message: unknown): void {
  let left = VALUES_MAX;
  const open = [message];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const inside = Object.values(value);
    left -= inside.length;
    if (left < 0)
      throw new Refusal('invalid_request', `A request can contain ${VALUES_MAX} values.`, {
        details: { field: WHOLE },
      });
    open.push(...inside.filter((each) => each !== undefined));
  }
}

/** Signs of life would keep a connection open without any response. */
function endInTime(response: ServerResponse, clock: Clock): void {
  const timer = clock.after(ANSWER_TIMEOUT_MS, () => response.destroy());
  response.once('close', () => timer.cancel());
}

/** Pages of other origins must not use a server that the browser can reach (DNS rebinding); programs send no origin. */
function checkOrigin(origin: string, allowed: ReadonlySet<string>): void {
  if (origin !== '' && !allowed.has(origin))
    throw new Refusal('origin_not_allowed', 'Web pages of this origin may not call the tools.');
}

/** A loopback address has several names. */
function originsOf(baseUrl: string): Set<string> {
  const { hostname, origin, port, protocol } = new URL(baseUrl);
  const loopbacks = ['127.0.0.1', 'localhost', '[::1]'];
  if (!loopbacks.includes(hostname)) return new Set([origin]);
  return new Set(loopbacks.map((name) => new URL(`${protocol}//${name}:${port}`).origin));
}

async function callerOf(ctx: Context, { authenticate, baseUrl }: ToolRouteParts): Promise<Caller> {
  const { authorization } = ctx.headers;
  try {
    return {
      subscription: await authenticate(authorization, ctx.ip),
      key: tokenKey(tokenOf(authorization) ?? ''),
      check: () => authenticate(authorization),
    };
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'unauthorized') throw error;
    const { code, details, message } = error;
    const challenge = bearerChallenge(baseUrl, authorization !== undefined);
    const headers = { ...error.headers, 'WWW-Authenticate': challenge };
    throw new Refusal(code, message, { details, headers, cause: error });
  }
}

/**
 * The parts of a request that the protocol reads; the body is already parsed. A `Request` of Node would cost a fifth of a small call: it
 * copies and checks again what HTTP has checked, and adds a signal of its own.
 */
function requestOf(ctx: Context, url: string, signal: AbortSignal): Request {
  const headers = { get: (name: string): string | null => ctx.get(name) || null };
  return { method: 'POST', url, headers, signal } as unknown as Request;
}

async function copy(response: Response, ctx: Context): Promise<void> {
  ctx.status = response.status;
  for (const [name, value] of response.headers) if (!HOP_BY_HOP.has(name)) ctx.set(name, value);
  if (response.body === null) {
    ctx.body = '';
    ctx.remove('Content-Type');
    return;
  }
  const isStream = response.headers.get('content-type') === 'text/event-stream';
  ctx.body = isStream ? Readable.fromWeb(response.body as ReadableStream) : await response.text();
}

/** The refusal as a tool result: an agent sees no headers. */
function toolRefusal({ body, headers }: ErrorAnswer): Record<string, unknown> {
  const seconds = headers['Retry-After'];
  return { ...body, ...(seconds === undefined ? {} : { retry_after: Number(seconds) }) };
}

function refuse(ctx: Context, answer: ErrorAnswer, id: string | number | null): void {
  const { body, headers, status } = answer;
  ctx.status = status;
  ctx.set(headers);
  ctx.body = {
    jsonrpc: '2.0',
    id,
    error: { code: codeOf(answer), message: body.message, data: body },
  };
}

function codeOf({ body: { error }, status }: ErrorAnswer): number {
  if (error === 'invalid_json') return PARSE_ERROR;
  if (status >= 500) return INTERNAL_ERROR;
  return error === 'invalid_request' ? INVALID_REQUEST : SERVER_ERROR;
}

/** The id of a single request; a batch has none. */
function idOf(message: unknown): string | number | null {
  const { id } = (message ?? {}) as { id?: unknown };
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
