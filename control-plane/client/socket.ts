// Opens a WebSocket of the service with a token. A refused upgrade is the same `ApiError` as a refused request.
import type { IncomingMessage } from 'node:http';
import type WebSocket from 'ws';
import { type ApiError, errorOfAnswer, noAnswer } from './api-error.ts';

const OPEN_TIMEOUT_MS = 20_000;
const REFUSAL_BYTES_MAX = 64 * 1024;

/** The service pings every 25 s: a peer that is silent for this long is gone. */
const SILENCE_MS = 60_000;

const NO_SOCKETS = 'streams and presence need Node.js with the package ws';

interface SocketParts {
  /** An HTTP URL. */
  url: string;
  token: string;
  protocols?: string[];
  signal?: AbortSignal | undefined;
  onMessage: (data: Uint8Array, isBinary: boolean) => void;
}

/** Resolves when it is open; no message is missed. Throws `ApiError`. */
export async function openSocket({
  url,
  token,
  protocols = [],
  signal,
  onMessage,
}: SocketParts): Promise<WebSocket> {
  signal?.throwIfAborted();
  const Socket = await socketClass(url);
  // It may be aborted by now, and an aborted signal has no more events.
  signal?.throwIfAborted();
  const socket = new Socket(url.replace(/^http/, 'ws'), protocols, {
    headers: { Authorization: `Bearer ${token}` },
    handshakeTimeout: OPEN_TIMEOUT_MS,
    perMessageDeflate: false,
  });
  socket.binaryType = 'nodebuffer';
  socket.on('message', (data: Buffer, isBinary) => onMessage(data, isBinary));
  const opening = new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.on('error', (error) => reject(noAnswer('unreachable', `${url}: ${error.message}`, error)));
    socket.once('unexpected-response', (request, response) => {
      void refusalOf(response).then((refusal) => {
        request.destroy();
        reject(refusal);
      });
    });
  });
  const abort = (): void => socket.terminate();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await opening;
    endWhenSilent(socket);
    return socket;
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

/** How a socket ends. Call it before it has ended. */
export async function closed(socket: WebSocket): Promise<{ code: number; reason: string }> {
  return new Promise((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: textOf(reason) }));
  });
}

export const textOf = (data: Uint8Array): string => new TextDecoder().decode(data);

/** Loaded on demand: everything else works where there is no `ws`. A browser's own WebSocket cannot send a token. */
async function socketClass(url: string): Promise<typeof WebSocket> {
  try {
    const { WebSocket: Socket } = await import('ws');
    // Bundlers for browsers put another function in the place of `ws`.
    if (typeof Socket === 'function') return Socket;
  } catch (cause) {
    throw noAnswer('unreachable', `${url}: ${NO_SOCKETS}`, cause);
  }
  throw noAnswer('unreachable', `${url}: ${NO_SOCKETS}`);
}

function endWhenSilent(socket: WebSocket): void {
  const timer = setTimeout(() => socket.terminate(), SILENCE_MS);
  for (const event of ['ping', 'message'] as const) socket.on(event, () => timer.refresh());
  socket.once('close', () => clearTimeout(timer));
}

async function refusalOf(response: IncomingMessage): Promise<ApiError> {
  let text = '';
  try {
    for await (const chunk of response) {
      text += String(chunk);
      if (text.length > REFUSAL_BYTES_MAX) break;
    }
    return errorOfAnswer(response.statusCode ?? 0, JSON.parse(text), response.headers['retry-after']);
  } catch {
    return errorOfAnswer(response.statusCode ?? 0, undefined, response.headers['retry-after']);
  }
}
