// HTTP between programs of one host: on a Unix socket, which file permissions guard.
import { once } from 'node:events';
import { lstatSync, rmSync } from 'node:fs';
import { type IncomingMessage, request, type Server } from 'node:http';
import { connect } from 'node:net';
import { stopServer } from '../process/listen.ts';

/** sockaddr_un has 108 bytes with the final zero (unix(7)). */
const PATH_BYTES_MAX = 107;
/** Longest line of a stream; our programs send no longer one. */
const LINE_LENGTH_MAX = 4 * 1024 * 1024;

/**
 * `absent`: no program listens there. `denied`: permissions are missing. `silent`: no answer in time. `broken`:
 * cut off.
 */
export type LocalSocketTrouble = 'absent' | 'denied' | 'silent' | 'broken';

/** The other program is not available, or did not answer. */
export class LocalSocketError extends Error {
  override name = 'LocalSocketError';
  readonly trouble: LocalSocketTrouble;

  constructor(trouble: LocalSocketTrouble, message: string, cause?: unknown) {
    super(message, { cause });
    this.trouble = trouble;
  }
}

/** Whether the path is short enough for a socket. */
export const isSocketPath = (path: string): boolean => Buffer.byteLength(path) <= PATH_BYTES_MAX;

/** A server that listens until `stop`, which also removes the socket. */
export interface LocalServer {
  stop(): Promise<void>;
}

/**
 * Makes a server listen at `path`, in a folder that exists. Removes the socket of a killed process. Rejects when
 * another program listens there, and when the path is not a socket.
 */
export async function listenLocal(server: Server, path: string, mode = 0o600): Promise<LocalServer> {
  if (!isSocketPath(path))
    throw new Error(`${path}: the path is too long for a socket (at most ${PATH_BYTES_MAX} bytes)`);
  await removeStale(path);
  const umask = process.umask(0o777 & ~mode);
  server.listen(path);
  process.umask(umask);
  await once(server, 'listening');
  return { stop: () => stopServer(server) };
}

async function removeStale(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw new Error(`${path}: the file exists and is not a socket`);
  if (await isListening(path)) throw new Error(`${path}: another program listens on it`);
  rmSync(path, { force: true });
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const end = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('connect', () => end(true));
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      end(code !== 'ECONNREFUSED' && code !== 'ENOENT'),
    );
  });
}

/** One request to the program that listens at `socketPath`. */
export interface LocalRequest {
  readonly socketPath: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly input?: unknown;
  /** Until the answer begins, and between any two of its pieces. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** The lines of an answer as they arrive, until its end or the signal. Throws `LocalSocketError`. */
export async function* linesOf(response: IncomingMessage, asked: LocalRequest): AsyncGenerator<string> {
  let rest = '';
  try {
    for await (const chunk of response.setEncoding('utf8')) {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > LINE_LENGTH_MAX) throw new Error('a line is too long');
      yield* lines;
    }
  } catch (error) {
    if (asked.signal?.aborted !== true) throw localError(error, asked);
  }
}

/** Resolves with the head of the answer. Rejects with `LocalSocketError`. */
export async function openLocal(asked: LocalRequest): Promise<IncomingMessage> {
  const { socketPath, method, path, headers = {}, input, timeoutMs, signal } = asked;
  const outgoing = request({
    // A connection of its own: a kept one may be that of a program that has stopped, and the request would be cut off.
    agent: false,
    socketPath,
    method,
    path,
    headers,
    timeout: timeoutMs,
    ...(signal === undefined ? {} : { signal }),
  });
  outgoing.on('timeout', () =>
    outgoing.destroy(new LocalSocketError('silent', `${socketPath}: no answer in ${timeoutMs / 1000} s`)),
  );
  // After the head, an error means that the answer was cut off.
  outgoing.on('error', () => undefined);
  outgoing.end(input === undefined ? undefined : JSON.stringify(input));
  try {
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    return response;
  } catch (error) {
    throw localError(error, asked);
  }
}

/** An error of a connection as a `LocalSocketError`. */
export function localError(error: unknown, { socketPath }: LocalRequest): LocalSocketError {
  if (error instanceof LocalSocketError) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  if (['ENOENT', 'ECONNREFUSED', 'ENOTDIR'].includes(code)) {
    return new LocalSocketError('absent', `${socketPath}: no program listens on it`, error);
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return new LocalSocketError('denied', `${socketPath}: you have no permission to use it`, error);
  }
  return new LocalSocketError('broken', `${socketPath}: the answer was cut off`, error);
}
