// The type of a request that the simulator answers.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** A request that has found its route. */
export interface RouteRequest {
  incoming: IncomingMessage;
  response: ServerResponse;
  query: URLSearchParams;
  /** The part of the path in braces. */
  parameter: string;
}

/** One request that is answered. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `{…}` stands for one segment. */
  path: string;
  /** Status of a success that is not 200. */
  status?: number;
  /** The JSON to answer with; `undefined` when the answer is already on its way. Throws `HttpError`. */
  handle: (request: RouteRequest) => unknown;
}

/** All routes of the server. */
export interface Answers {
  routes: readonly Route[];
  /** Takes over a connection that asks for a WebSocket. */
  upgrade: (incoming: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Ends connections that go on. */
  close: () => void;
}
