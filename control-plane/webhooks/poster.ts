// One signed POST to a receiver. The receiver is a stranger: nothing that it does takes longer than the time-out or more than a few KiB.
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Clock } from '#shared/clock.ts';
import { linkedSignal } from '#shared/process/linked-signal.ts';
import { retryAfterMsOf } from '#shared/retry-after.ts';
import { webhookSignatureOf } from '../domain/webhook-signature.ts';
import { type AgentOptions, type Agents, createAgents, isAddressRefused } from './agents.ts';

/** Bytes of a response that are read, so that the connection can be used again. */
const ANSWER_BYTES_MAX = 16 * 1024;
const ANSWER_MS_MAX = 1_000;

interface Post {
  url: string;
  /** Each signs. */
  keys: readonly Buffer[];
  id: string;
  body: string;
}

export interface PostResult {
  outcome: 'delivered' | 'gone' | 'refused' | 'timeout' | 'unreachable' | 'not_allowed' | 'stopped';
  /** HTTP status; null without a response. */
  status: number | null;
  /** For the holder: no text of the receiver, no address. Null if it was delivered. */
  error: string | null;
  /** The receiver asked to wait this long. */
  retryAfterMs: number;
  durationMs: number;
}

export interface Poster {
  /** Never rejects. `signal` stops it without a result that counts. */
  post(post: Post, signal?: AbortSignal): Promise<PostResult>;
  close(): void;
}

interface PosterOptions extends AgentOptions {
  userAgent: string;
  timeoutMs: number;
  clock: Clock;
}

type Answered = Pick<PostResult, 'outcome' | 'status' | 'error'> & { retryAfterMs?: number };

export function createPoster({ userAgent, timeoutMs, clock, ...agentOptions }: PosterOptions): Poster {
  const agents = createAgents(agentOptions);
  const attempt = async (post: Post, stop: AbortSignal | undefined) => {
    const timeout = new AbortController();
    const timer = clock.after(timeoutMs, () => timeout.abort());
    const { signal, unlink } = linkedSignal(timeout.signal, stop);
    try {
      return resultOf(await send(post, signal, { agents, clock, userAgent }), new Date(clock.now()));
    } catch (error) {
      if (stop?.aborted === true)
        return { outcome: 'stopped', status: null, error: 'the service stopped' } as const;
      if (timeout.signal.aborted) {
        const seconds = timeoutMs / 1000;
        return { outcome: 'timeout', status: null, error: `no answer in ${seconds} s` } as const;
      }
      return failureOf(error);
    } finally {
      timer.cancel();
      unlink();
    }
  };

  return {
    async post(post, stop) {
      const startedAt = clock.now();
      const answered: Answered = await attempt(post, stop);
      return { retryAfterMs: 0, ...answered, durationMs: Math.max(0, clock.now() - startedAt) };
    },
    close: () => agents.destroy(),
  };
}

/** Sends one signed request. Rejects if its connection breaks before a response. */
function send(
  post: Post,
  signal: AbortSignal,
  parts: { agents: Agents; clock: Clock; userAgent: string },
): Promise<IncomingMessage> {
  const { agents, clock, userAgent } = parts;
  const url = new URL(post.url);
  const body = Buffer.from(post.body);
  // The receiver compares it with its own clock.
  const timestamp = Math.floor(clock.now() / 1000);
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
    method: 'POST',
    agent: agents.of(url),
    signal,
    headers: {
      'Content-Type': 'application/json',
      'Content-Length': body.length,
      'User-Agent': userAgent,
      'webhook-id': post.id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': post.keys
        .map((key) => webhookSignatureOf(key, post.id, timestamp, post.body))
        .join(' '),
    },
  });
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    request.once('response', (response) => {
      isAnswered = true;
      discard(response, clock);
      resolve(response);
    });
    // A connection may break after the answer, too.
    let failure: NodeJS.ErrnoException | undefined;
    request.on('error', (error) => {
      failure = error;
    });
    request.once('close', () => {
      // The receiver closed an idle connection at the same moment. It knows a repeated id.
      const isStale = request.reusedSocket && failure?.code === 'ECONNRESET' && !isAnswered;
      if (isStale) send(post, signal, parts).then(resolve, reject);
      else reject(failure ?? new Error('the connection was closed without an answer'));
    });
    request.end(body);
  });
}

/** Reads a short answer, and ends the connection of any other. */
function discard(response: IncomingMessage, clock: Clock): void {
  let left = ANSWER_BYTES_MAX;
  const timer = clock.after(ANSWER_MS_MAX, () => response.destroy());
  response.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) response.destroy();
  });
  response.on('error', () => undefined);
  response.once('close', () => timer.cancel());
}

function resultOf({ statusCode: status = 0, headers }: IncomingMessage, now: Date): Answered {
  const detail = `HTTP ${status}`;
  if (status >= 200 && status < 300) return { outcome: 'delivered', status, error: null };
  if (status === 410) return { outcome: 'gone', status, error: detail };
  if (status >= 300 && status < 400)
    return { outcome: 'refused', status, error: `${detail}: redirects are not followed` };
  const retryAfterMs = retryAfterMsOf(headers['retry-after'], now);
  return { outcome: 'refused', status, error: detail, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

function failureOf(error: unknown): Answered {
  if (isAddressRefused(error))
    return { outcome: 'not_allowed', status: null, error: 'the address is not public' };
  const { code } = error as { code?: unknown };
  return { outcome: 'unreachable', status: null, error: typeof code === 'string' ? code : 'no connection' };
}
