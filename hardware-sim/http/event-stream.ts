// GET /events: server-sent events of the air (WHATWG HTML §9.2).
import type { ServerResponse } from 'node:http';
import type { AirEvent, EventFeed } from '../carrier/event-feed.ts';
import { HttpError } from './http-error.ts';

/** Unsent bytes at which a client that does not read is cut off; it may come again. */
const BACKLOG_BYTES_MAX = 1024 * 1024;
const CLIENTS_MAX = 64;

/** The clients of `GET /events`. */
export class EventStreams {
  readonly #feed: EventFeed;
  readonly #clients = new Set<ServerResponse>();

  constructor(feed: EventFeed) {
    this.#feed = feed;
  }

  /** Streams events from now on until the client goes. Throws `HttpError` when there are too many clients. */
  open(response: ServerResponse): void {
    if (this.#clients.size >= CLIENTS_MAX) {
      throw new HttpError('too_many_clients', `${CLIENTS_MAX} clients already listen`);
    }
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
    });
    response.write(': listening\n\n');
    this.#clients.add(response);
    const unsubscribe = this.#feed.subscribe((event) => {
      response.write(eventText(event));
      if (response.writableLength > BACKLOG_BYTES_MAX) response.destroy();
    });
    response.on('close', () => {
      this.#clients.delete(response);
      unsubscribe();
    });
  }

  close(): void {
    for (const response of this.#clients) response.end();
  }
}

function eventText({ id, kind, atMs, data }: AirEvent): string {
  const body = JSON.stringify({ kind, at: new Date(atMs).toISOString(), ...data });
  return `id: ${id}\nevent: ${kind}\ndata: ${body}\n\n`;
}
