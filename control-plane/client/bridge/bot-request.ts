// An HTTP request to a bot's app or API: its time, its size, and its failures.
import { linkedSignal } from '#shared/process/linked-signal.ts';
import { startOfBody } from '#shared/response-body.ts';
import { type BotCall, BotError } from './bot.ts';

/** As Twilio's: https://www.twilio.com/docs/usage/webhooks/webhooks-connection-overrides. */
const REQUEST_TIMEOUT_MS = 15_000;
const ANSWER_BYTES_MAX = 64 * 1024;

/** Bytes that are read of an error page. */
const PROBLEM_BYTES_MAX = 2 * 1024;
const SHOWN_CHARACTERS = 100;

/** The app did not get the request: it is safe to send it again. */
export class AppUnreachableError extends BotError {
  override name = 'AppUnreachableError';
}

/** Resolves with the body of the answer. Throws `BotError`, and the reason of `signal`. */
export async function fetchText(url: string, init: RequestInit, signal: AbortSignal): Promise<string> {
  const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  const linked = linkedSignal(signal, timeout);
  try {
    const response = await fetch(url, { ...init, redirect: 'error', signal: linked.signal });
    if (!response.ok) {
      const { text } = await startOfBody(response, PROBLEM_BYTES_MAX);
      const line = firstLineOf(text);
      throw new BotError(`${url} answered with status ${response.status}${line === '' ? '' : `: ${line}`}`);
    }
    return await textOf(response, url);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof BotError) throw error;
    if (timeout.aborted) throw new BotError(`no answer from ${url} within ${REQUEST_TIMEOUT_MS / 1000} s`);
    const { message, cause } = error as Error;
    const problem = cause instanceof Error ? cause.message : message;
    const words = `no answer from ${url}: ${speaksNoTls(cause) ? 'it does not speak TLS: use http://' : problem}`;
    throw isUnsent(cause) ? new AppUnreachableError(words) : new BotError(words);
  } finally {
    linked.unlink();
  }
}

/** The first line with text, as much of it as people read. */
export const firstLineOf = (text: string): string =>
  text
    .trim()
    .split(/[\r\n]/, 1)[0]
    ?.slice(0, SHOWN_CHARACTERS) ?? '';

/** Whether a server answered a TLS handshake with something else, by the words of OpenSSL. */
export const speaksNoTls = (error: unknown): boolean =>
  error instanceof Error && /wrong version number|packet length too long/i.test(error.message);

interface ApiRequest {
  /** `http:` or `https:`. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  body: unknown;
}

/** Posts JSON. Resolves and throws as `fetchText` does. */
export const askBot = ({ url, headers, body }: ApiRequest, signal: AbortSignal): Promise<string> =>
  fetchText(
    url,
    {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    },
    signal,
  );

/**
 * A body about this call: `{from}`, `{to}`, `{call_id}` and `{direction}` in its strings are replaced, at any depth. A withheld caller is an
 * empty string.
 */
export function filledBody(template: unknown, call: BotCall): unknown {
  const { from, to, callId, direction } = call;
  const values: Record<string, string> = { from: from ?? '', to: to ?? '', call_id: callId, direction };
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string')
      return value.replace(/\{(from|to|call_id|direction)\}/g, (_, name: string) => values[name] ?? '');
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fill(each)]));
  };
  return fill(template);
}

async function textOf(response: Response, url: string): Promise<string> {
  const { text, isWhole } = await startOfBody(response, ANSWER_BYTES_MAX);
  if (!isWhole) throw new BotError(`the answer of ${url} is longer than 64 KiB`);
  return text;
}

const UNSENT: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);

const isUnsent = (cause: unknown): boolean => UNSENT.has((cause as { code?: unknown } | undefined)?.code);
