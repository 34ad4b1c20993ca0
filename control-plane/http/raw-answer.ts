// Responses without Koa: on the response of a request, or directly on a socket.
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '#shared/clock.ts';
import type { ErrorAnswer } from './error-body.ts';
import { REQUEST_ID } from './headers.ts';

/** Time for a client to read the response. */
const LINGER_MS = 1_000;

const lingering = new WeakSet<Duplex>();

/** Writes a response to a socket, and ends it. `method` is that of the request, if known: a HEAD gets no body. */
export function writeAnswer(socket: Duplex, clock: Clock, answer: ErrorAnswer, method?: string): void {
  const text = JSON.stringify(answer.body);
  const lines = Object.entries(headersOf(answer, text)).map(([name, value]) => `${name}: ${value}\r\n`);
  const start = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}\r\n${lines.join('')}\r\n`;
  socket.end(method === 'HEAD' ? start : start + text);
  linger(socket, clock);
}

/**
 * Keeps reading for a moment what a client still sends. Closing a connection with unread data resets it, which can destroy the response
 * (RFC 9112 §9.6).
 */
export function linger(socket: Duplex, clock: Clock): void {
  if (lingering.has(socket)) return;
  lingering.add(socket);
  const timer = clock.after(LINGER_MS, () => socket.destroy());
  socket.once('close', () => timer.cancel());
  socket.resume();
}

/** Responds to a request in its turn, and ends the connection. */
export function endWith(response: ServerResponse, answer: ErrorAnswer): void {
  const text = JSON.stringify(answer.body);
  response.writeHead(answer.status, headersOf(answer, text)).end(text);
}

const headersOf = ({ body, headers }: ErrorAnswer, text: string): Record<string, string> => ({
  ...headers,
  [REQUEST_ID]: body.request_id,
  'Content-Type': 'application/json; charset=utf-8',
  'Content-Length': String(Buffer.byteLength(text)),
  'Cache-Control': 'no-store',
  // Other responses get these from headers.ts.
  'Access-Control-Allow-Origin': '*',
  'X-Content-Type-Options': 'nosniff',
  Connection: 'close',
});
