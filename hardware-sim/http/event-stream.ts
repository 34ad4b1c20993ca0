// GET /events: server-sent events of the air (WHATWG HTML §9.2), as fast as each client reads.
import type { ServerResponse } from 'node:http';
import type { AirEvent, EventFeed } from '../state/event-feed.ts';
import { HttpError } from './http-error.ts';

const CLIENTS_MAX = 64;
/** Events that go out in one write. */
const BATCH_MAX = 200;

/** The clients of `GET /events`. */
export class EventStreams {
  readonly #feed: EventFeed;
  readonly #clients = new Set<ServerResponse>();

  constructor(feed: EventFeed) {
    this.#feed = feed;
  }

  /**
   * Streams events behind `lastId` until the client goes, from now on without it. A client that is slower than
   * the events gets those that are kept, and `events_lost` for the others. Throws `HttpError` when there are
   * too many clients.
   */
  open(response: ServerResponse, lastId: number | undefined): void {
    if (this.#clients.size >= CLIENTS_MAX) {
      throw new HttpError('too_many_clients', `${CLIENTS_MAX} clients already listen`);
    }
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
    });
    response.write(': listening\n\n');
    this.#clients.add(response);
    const end = follow(this.#feed, response, lastId ?? this.#feed.lastId);
    response.on('close', () => {
      this.#clients.delete(response);
      end();
    });
  }

  close(): void {
    for (const response of this.#clients) response.end();
  }
}

/** Returns the function that ends it. */
function follow(feed: EventFeed, response: ServerResponse, afterId: number): () => void {
  // An id that we have not given yet is from before a restart of the simulator.
  const isFromBefore = afterId > feed.lastId;
  let sentId = isFromBefore ? 0 : afterId;
  let isBlocked = false;
  const pump = (): void => {
    while (!isBlocked) {
      const events = feed.after(sentId, BATCH_MAX);
      const [first] = events;
      if (first === undefined) return;
      const text = events.map(eventText).join('');
      const lost = first.id > sentId + 1 ? lostText(sentId, first.id) : '';
      sentId = events.at(-1)?.id ?? sentId;
      isBlocked = !response.write(lost + text);
    }
  };
  const unsubscribe = feed.subscribe(pump);
  response.on('drain', () => {
    isBlocked = false;
    pump();
  });
  if (isFromBefore) response.write(lostText(afterId, 1));
  pump();
  return unsubscribe;
}

function lostText(afterId: number, nextId: number): string {
  return `event: events_lost\ndata: ${JSON.stringify({ kind: 'events_lost', after: afterId, next: nextId })}\n\n`;
}

function eventText({ id, kind, atMs, data }: AirEvent): string {
  const body = JSON.stringify({ kind, at: new Date(atMs).toISOString(), ...data });
  return `id: ${id}\nevent: ${kind}\ndata: ${body}\n\n`;
}
