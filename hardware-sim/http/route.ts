// What a request is that the simulator answers.
import type { IncomingMessage, ServerResponse } from 'node:http';

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
  method: 'GET' | 'POST' | 'DELETE';
  /** `{…}` stands for one segment. */
  path: string;
  /** Status of a success that is not 200. */
  status?: number;
  /** The JSON to answer with; `undefined` when the answer is already on its way. Throws `HttpError`. */
  handle: (request: RouteRequest) => unknown;
}
