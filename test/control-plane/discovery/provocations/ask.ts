// A request as the provocations make it, and all of its answer.
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Asked } from '../documented.ts';

export interface Answer {
  status: number;
  headers: Headers;
  body: unknown;
}

interface Request {
  headers?: Record<string, string>;
  /** An object is sent as JSON; text and octets as they are. */
  body?: object | string;
  query?: string;
}

/** A path with something in place of the names in braces. */
export const concrete = (path: string): string => path.replace(/\{\w+\}/g, '1');

export const JSON_TYPE = { 'Content-Type': 'application/json' };

export async function ask(
  url: string,
  { method, path }: Pick<Asked, 'method' | 'path'>,
  { headers = {}, body, query = '' }: Request = {},
): Promise<Answer> {
  const response = await fetch(url + concrete(path) + query, {
    method,
    headers: { ...(body === undefined ? {} : JSON_TYPE), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: response.status === 204 ? undefined : await response.json(),
  };
}

export const post = (url: string, path: string, body?: object | string, headers = {}): Promise<Answer> =>
  ask(url, { method: 'POST', path }, { headers, ...(body === undefined ? {} : { body }) });

/** The answer to octets that are no whole request, before the connection ends. */
export async function askRaw(url: string, text: string): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.write(text);
  await once(socket, 'close');
  const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n');
  const [status = '', ...lines] = head.split('\r\n');
  return {
    status: Number(status.split(' ')[1]),
    headers: new Headers(lines.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string])),
    body: JSON.parse(body),
  };
}
