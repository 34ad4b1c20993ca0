// The daemon's side of the operator's socket: HTTP, JSON in and out; a stream sends one JSON text a line.
import { mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { dirname, join, resolve } from 'node:path';
import type { Logger } from '#shared/log.ts';
import { isSocketPath, type LocalServer, listenLocal } from '#shared/process/local-socket.ts';
import type { Settings } from '../config/options.ts';
import type { NodeDesk } from './desk.ts';
import { DeskError, type DeskTrouble } from './desk-error.ts';
import { type DeskInput, isDeskCall } from './desk-inputs.ts';

/** Raised when an older tool would misunderstand a newer daemon, or the other way round. */
export const DESK_VERSION = '1';
export const VERSION_HEADER = 'simrack-desk-version';
/** Shows followers that the daemon is there. */
export const ALIVE_EVERY_MS = 5_000;

/** Its folder is the gate where it is the data folder; elsewhere its group is. */
const SOCKET_MODE = 0o660;
const BODY_BYTES_MAX = 64 * 1024;
const FOLLOWERS_MAX = 32;
const STATUS: Record<DeskTrouble, number> = {
  refused: 400,
  unavailable: 409,
  unanswered: 504,
  unreachable: 503,
};

export const socketPathOf = ({ config, dataDir }: Pick<Settings, 'config' | 'dataDir'>): string =>
  config.operatorSocket ?? join(resolve(dataDir), 'operator.sock');

/** Listens for an operator. Without a socket, and with a line in the log, where there cannot be one. */
export async function listenDesk(desk: NodeDesk, settings: Settings, log: Logger): Promise<LocalServer> {
  const path = socketPathOf(settings);
  const nothing = { stop: async () => undefined };
  if (!isSocketPath(path)) {
    log.warn({ path }, 'no socket for the tools: its path is too long; say operator_socket in the file');
    return nothing;
  }
  const ended = new AbortController();
  let followers = 0;
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const isStream = incoming.method === 'GET';
    if (isStream && followers >= FOLLOWERS_MAX) {
      return tell(response, 'unavailable', `${FOLLOWERS_MAX} tools follow this daemon already`);
    }
    followers += isStream ? 1 : 0;
    try {
      await (isStream ? stream(desk, incoming, response, ended.signal) : answer(desk, incoming, response));
    } catch (error) {
      if (error instanceof DeskError) return tell(response, error.trouble, error.message);
      log.error({ err: error }, 'an operator was not answered');
      tell(response, 'unreachable', 'the daemon failed; its log says how');
    } finally {
      followers -= isStream ? 1 : 0;
    }
  };
  const server = createServer((incoming, response) => void serve(incoming, response));
  try {
    mkdirSync(dirname(path), { recursive: true });
    const { stop } = await listenLocal(server, path, SOCKET_MODE);
    return {
      async stop() {
        ended.abort();
        await stop();
      },
    };
  } catch (error) {
    // Numbers can be served without tools.
    log.error({ err: error, path }, 'no socket for the tools');
    return nothing;
  }
}

async function answer(desk: NodeDesk, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  checkVersion(incoming);
  const call = (incoming.url ?? '').slice(1);
  if (!isDeskCall(call)) throw new DeskError('refused', `this daemon does not know "${call}"`);
  const input = (await bodyOf(incoming)) as DeskInput<typeof call>;
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const answered = await desk.ask(call, input, gone.signal);
  response.writeHead(200, headersOf('application/json')).end(JSON.stringify(answered));
}

async function stream(
  desk: NodeDesk,
  incoming: IncomingMessage,
  response: ServerResponse,
  ended: AbortSignal,
): Promise<void> {
  checkVersion(incoming);
  const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://daemon');
  const name = pathname.slice(1);
  if (name !== 'logs' && name !== 'watch')
    throw new DeskError('refused', `this daemon does not know "${name}"`);
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const signal = AbortSignal.any([gone.signal, ended]);
  response.writeHead(200, headersOf('application/x-ndjson'));
  response.flushHeaders();
  const alive = setInterval(() => response.write('\n'), ALIVE_EVERY_MS);
  try {
    for await (const item of desk.follow(name, { signal, isFollowed: searchParams.get('follow') !== 'no' })) {
      if (response.write(`${JSON.stringify(item)}\n`) || signal.aborted) continue;
      // A slow reader gets the next state when it has this one.
      await new Promise<void>((resolve) => {
        response.once('drain', resolve);
        response.once('close', resolve);
      });
    }
  } finally {
    clearInterval(alive);
    response.end();
  }
}

function checkVersion({ headers }: IncomingMessage): void {
  const version = headers[VERSION_HEADER];
  if (version === DESK_VERSION) return;
  throw new DeskError(
    'unreachable',
    `the running daemon is of another version (${DESK_VERSION}, this tool speaks ${String(version)}): use the tool that it came with, or restart it`,
  );
}

async function bodyOf(incoming: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of incoming.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > BODY_BYTES_MAX) throw new DeskError('refused', 'the request is too long');
  }
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch (cause) {
    throw new DeskError('refused', 'the request is no JSON', cause);
  }
}

function tell(response: ServerResponse, trouble: DeskTrouble, message: string): void {
  if (response.headersSent) return void response.end();
  response
    .writeHead(STATUS[trouble], headersOf('application/json'))
    .end(JSON.stringify({ error: trouble, message }));
}

const headersOf = (type: string): Record<string, string> => ({
  'Content-Type': type,
  [VERSION_HEADER]: DESK_VERSION,
});
