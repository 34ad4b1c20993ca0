// A program's side of the operators' socket: a procedure is a POST with JSON in and out, a stream is a GET.
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import { type Clock, every } from '../clock.ts';
import type { Logger } from '../log.ts';
import { linkedSignal } from '../process/linked-signal.ts';
import { PERSON_NAME_MAX } from '../process/person-name.ts';
import { isSocketPath, type LocalServer, listenLocal } from './local-socket.ts';
import { OperatorError, type OperatorErrorReason } from './operator-error.ts';
import type { Caller } from './procedure.ts';

/** Changes when an older command would misunderstand a newer program, or the other way round. */
export const OPERATOR_API_VERSION = '1';
export const VERSION_HEADER = 'simrack-operator-api';
/** The person who runs the command. */
export const CALLER_HEADER = 'simrack-operator';
/** The programs with such a socket, in words. Both name it `operator.sock`, so a command can find that of the other program. */
export const OPERATED_PROGRAMS = {
  'control-plane': 'the control plane',
  'node-daemon': 'the daemon',
} as const;
export type OperatedProgram = keyof typeof OPERATED_PROGRAMS;
export const PROGRAM_HEADER = 'simrack-program';
/** How often a stream of lines shows its readers that the program is there. */
export const ALIVE_EVERY_MS = 5_000;

/** The longest fleet file that is applied at once has less. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;
const STREAMS_MAX = 32;
const STATUS: Readonly<Record<OperatorErrorReason, number>> = {
  refused: 400,
  unavailable: 409,
  unanswered: 504,
  unreachable: 503,
};

/** Writes a stream, and resolves when it is complete; the server ends `out`. */
export type OperatorStream = (
  out: Writable,
  options: { signal: AbortSignal; query: URLSearchParams },
) => Promise<void>;

interface OperatorServerParts {
  /** The program that listens. */
  readonly program: OperatedProgram;
  readonly path: string;
  /** Mode of the socket's file; default 0600. A group that may use it may enter the folder, where that is made here. */
  readonly mode?: number;
  readonly log: Logger;
  /** Checks the input and calls the procedure; the answer is JSON. Throws `OperatorError`. */
  call(name: string, input: unknown, caller: Caller): Promise<unknown>;
  readonly streams: Readonly<Record<string, OperatorStream>>;
}

/** Listens for operators. Without a socket, and with a warning in the log, where the path is too long for one. */
export async function listenOperators(parts: OperatorServerParts): Promise<LocalServer> {
  const { path, program, mode = 0o600, log } = parts;
  if (!isSocketPath(path)) {
    log.warn({ path }, 'operator commands have no socket: its path is too long');
    return { stop: async () => undefined };
  }
  const stopping = new AbortController();
  let streams = 0;
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const isStream = incoming.method === 'GET';
    response.setHeader(PROGRAM_HEADER, program);
    streams += isStream ? 1 : 0;
    try {
      checkVersion(incoming);
      if (streams > STREAMS_MAX && isStream)
        throw new OperatorError('unavailable', `${STREAMS_MAX} commands already follow this program`);
      await (isStream
        ? stream(parts, incoming, response, stopping.signal)
        : answer(parts, incoming, response));
    } catch (error) {
      if (!(error instanceof OperatorError)) log.error({ err: error }, 'an operator command failed');
      // Without its end, the reader sees that an answer which has begun failed.
      if (response.headersSent) response.destroy();
      else refuse(response, error);
    } finally {
      streams -= isStream ? 1 : 0;
    }
  };
  const server = createServer((incoming, response) => void serve(incoming, response));
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 | ((mode & 0o070) === 0 ? 0 : 0o050) });
  const { stop } = await listenLocal(server, path, mode);
  return {
    async stop() {
      stopping.abort();
      await stop();
    },
  };
}

async function answer(
  { call }: OperatorServerParts,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const input = await bodyOf(incoming);
  const { [CALLER_HEADER]: name } = incoming.headers;
  const caller = {
    signal: signalOf(response),
    ...(typeof name === 'string' ? { name: name.slice(0, PERSON_NAME_MAX) } : {}),
  };
  const answered = await call((incoming.url ?? '').slice(1), input, caller);
  response.writeHead(200, headersOf('application/json')).end(JSON.stringify(answered));
}

async function stream(
  { streams }: OperatorServerParts,
  incoming: IncomingMessage,
  response: ServerResponse,
  stopping: AbortSignal,
): Promise<void> {
  const { pathname, searchParams: query } = new URL(incoming.url ?? '', 'http://socket');
  const name = pathname.slice(1);
  const write = Object.hasOwn(streams, name) ? streams[name] : undefined;
  if (write === undefined) throw new OperatorError('refused', `there is no stream "${name}"`);
  // They are sent with the first byte: until then, an error can still be the answer.
  response.setHeaders(new Headers(headersOf('application/octet-stream')));
  const { signal, unlink } = linkedSignal(signalOf(response), stopping);
  await write(response, { signal, query }).finally(unlink);
  response.end();
}

/** Aborts when the caller goes. */
function signalOf(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  return gone.signal;
}

/** Writes each item as a line of JSON, and an empty line now and then. A slow reader misses no line. */
export async function writeLines(
  items: AsyncIterable<unknown>,
  out: Writable,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<void> {
  const alive = every(clock, ALIVE_EVERY_MS, () => out.write('\n'));
  out.write('\n');
  try {
    for await (const item of items) {
      if (out.write(`${JSON.stringify(item)}\n`) || signal.aborted) continue;
      await once(out, 'drain', { signal }).catch(() => undefined);
    }
  } finally {
    alive.cancel();
  }
}

function checkVersion({ headers }: IncomingMessage): void {
  const version = headers[VERSION_HEADER];
  if (version === OPERATOR_API_VERSION) return;
  throw new OperatorError(
    'unreachable',
    `the running program is another version (its operator API is ${OPERATOR_API_VERSION}, that of this command ${String(version)}). Restart it, or use its own command.`,
  );
}

async function bodyOf(incoming: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of incoming.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > BODY_BYTES_MAX) throw new OperatorError('refused', 'the request is too long');
  }
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch (cause) {
    throw new OperatorError('refused', 'the request is not JSON', cause);
  }
}

function refuse(response: ServerResponse, error: unknown): void {
  const { reason, message } =
    error instanceof OperatorError
      ? error
      : {
          reason: 'unanswered' as const,
          message: 'the program failed and may have done part of the work: see its log',
        };
  response
    .writeHead(STATUS[reason], headersOf('application/json'))
    .end(JSON.stringify({ error: reason, message }));
}

const headersOf = (type: string): Record<string, string> => ({
  'Content-Type': type,
  [VERSION_HEADER]: OPERATOR_API_VERSION,
});
