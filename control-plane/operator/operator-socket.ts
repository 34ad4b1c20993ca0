// Operator commands to a running service: HTTP on a Unix socket in its data folder, which only its user may open.
// The embedded database belongs to one process, so that commands must go through it.
import { mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Logger } from '#shared/log.ts';
import { isSocketPath, LocalSocketError, listenLocal, openLocal } from '#shared/process/local-socket.ts';
import { OperatorRefusal } from '../domain/operator-refusal.ts';
import type { NodeRegistry } from '../nodes/registry.ts';
import { type Desk, isDeskCall } from './desk.ts';
import { publicRegistry, type UrlRegistry } from './url-registry.ts';

/** More than the service waits for a statement of its database. */
const ANSWER_TIMEOUT_MS = 30_000;

/** The longest list of numbers that is imported at once has less. */
const BODY_BYTES_MAX = 2 * 1024 * 1024;

const socketPath = (folder: string): string => join(resolve(folder), 'operator.sock');

export interface OperatorSocket {
  stop(): Promise<void>;
}

/**
 * Listens in `folder`, which belongs to this process. Without a socket where its path would be too long: the
 * commands then need the service to be stopped.
 */
export async function listenOperator(parts: {
  folder: string;
  /** Base URL that nodes are given. */
  url: string;
  registry: NodeRegistry;
  desk: Desk;
  /** Writes a backup, and ends `out`. */
  backUp: (out: Writable) => Promise<void>;
  log: Logger;
}): Promise<OperatorSocket> {
  const path = socketPath(parts.folder);
  if (!isSocketPath(path)) {
    parts.log.warn({ path }, 'no socket for operator commands: the path of the data folder is too long');
    return { stop: async () => undefined };
  }
  const registry = publicRegistry(parts.registry, parts.url);
  const server = createServer(
    (incoming, response) =>
      void answer({ registry, desk: parts.desk, backUp: parts.backUp }, incoming, response, parts.log),
  );
  mkdirSync(parts.folder, { recursive: true, mode: 0o700 });
  return listenLocal(server, path);
}

/** The operations of a running service for an operator. */
export interface RunningOperator {
  registry: UrlRegistry;
  desk: Desk;
  /** Writes a backup, and ends `out`. */
  backUp(out: Writable): Promise<void>;
}

async function answer(
  { registry, desk, backUp }: RunningOperator,
  incoming: IncomingMessage,
  response: ServerResponse,
  log: Logger,
): Promise<void> {
  const [, top, name, ...rest] = (incoming.url ?? '').split('/');
  const send = (status: number, body: unknown): void => {
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  };
  try {
    if (top === 'desk' && incoming.method === 'POST' && isDeskCall(String(name))) {
      send(200, await askDesk(desk, String(name), await readBody(incoming)));
    } else if (top === 'backup' && incoming.method === 'GET') await backUp(response);
    else if (top !== 'nodes' || rest.length > 0) send(404, { error: 'not_found' });
    else if (incoming.method === 'GET' && name === undefined) send(200, await registry.list());
    else if (incoming.method === 'PUT' && name !== undefined) send(200, await registry.add(name));
    else send(405, { error: 'method_not_allowed' });
  } catch (error) {
    if (error instanceof OperatorRefusal) return send(409, { error: 'refused', message: error.message });
    log.error({ err: error }, 'an operator command failed');
    // An answer that has begun cannot be taken back: without its end, the reader sees that it failed.
    if (response.headersSent) response.destroy();
    else send(500, { error: 'internal_error' });
  }
}

// The operator API checks the input.
const askDesk = (desk: Desk, call: string, input: unknown): Promise<unknown> =>
  desk.ask(call as Parameters<Desk['ask']>[0], input as Parameters<Desk['ask']>[1]);

async function readBody(incoming: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of incoming.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > BODY_BYTES_MAX) throw new Error('the body of an operator command is too long');
  }
  return JSON.parse(text);
}

/** The operator's side of the service that runs on `folder`; undefined when none does. */
export async function connectOperator(folder: string): Promise<RunningOperator | undefined> {
  const path = socketPath(folder);
  const isThere = await ask(path, 'GET', '/nodes').then(
    () => true,
    (error) => {
      if (error instanceof LocalSocketError && error.trouble === 'absent') return false;
      throw error;
    },
  );
  if (!isThere) return undefined;
  const registry: UrlRegistry = {
    list: async () => (await ask(path, 'GET', '/nodes')) as Awaited<ReturnType<UrlRegistry['list']>>,
    add: async (name) =>
      (await ask(path, 'PUT', `/nodes/${name}`)) as Awaited<ReturnType<UrlRegistry['add']>>,
  };
  const desk: Desk = {
    ask: async (call, input) => (await ask(path, 'POST', `/desk/${call}`, input)) as never,
  };
  const backUp = async (out: Writable): Promise<void> => pipeline(await open(path, 'GET', '/backup'), out);
  return { registry, desk, backUp };
}

async function ask(socketPath: string, method: string, path: string, input?: unknown): Promise<unknown> {
  const response = await open(socketPath, method, path, input);
  return JSON.parse(await text(response));
}

/** The answer, of which nothing was read. Throws what it says where it is a "no". */
async function open(
  socketPath: string,
  method: string,
  path: string,
  input?: unknown,
): Promise<IncomingMessage> {
  const asked = { socketPath, method, path, input, timeoutMs: ANSWER_TIMEOUT_MS };
  const response = await openLocal(asked).catch((error) => {
    if (!(error instanceof LocalSocketError) || error.trouble !== 'silent') throw error;
    throw new Error('the control plane does not answer', { cause: error });
  });
  const { statusCode } = response;
  if (statusCode === 200) return response;
  if (statusCode === 409) throw new OperatorRefusal(messageIn(await text(response)));
  throw new Error(`the control plane answers ${statusCode}`);
}

const messageIn = (text: string): string => String((JSON.parse(text) as { message?: unknown }).message);
