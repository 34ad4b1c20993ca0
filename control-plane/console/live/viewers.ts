// The streams that are open: written to in bounded memory, and ended with the session that opened them.
import type { ServerResponse } from 'node:http';
import { Refusal } from '../../domain/refusal.ts';
import { type ConsoleSession, keyOfSession } from '../session/sessions.ts';

const VIEWERS_MAX = 500;
const VIEWERS_PER_SESSION_MAX = 20;

/** Bytes that may wait for a viewer that does not read. */
const UNREAD_BYTES_MAX = 1024 * 1024;

/** Time after which a browser connects again. */
const RECONNECT_MS = 1_000;

const HEARTBEAT = Buffer.from(': \n\n');
/** The page asks for nothing more, and says that one must sign in. */
const ENDED = Buffer.from('event: ended\ndata: \n\n');

interface Viewer {
  topic: string;
  session: ConsoleSession;
  response: ServerResponse;
}

export class Viewers {
  readonly #viewers = new Set<Viewer>();

  get size(): number {
    return this.#viewers.size;
  }

  topics(): Set<string> {
    return new Set([...this.#viewers].map(({ topic }) => topic));
  }

  sessions(): ConsoleSession[] {
    return [...this.#viewers].map(({ session }) => session);
  }

  /** Throws `Refusal` `rate_limited` when there are too many. */
  admit(session: ConsoleSession): void {
    const own = this.sessions().filter((other) => keyOfSession(other) === keyOfSession(session)).length;
    if (this.size < VIEWERS_MAX && own < VIEWERS_PER_SESSION_MAX) return;
    throw new Refusal('rate_limited', 'Too many pages are open. Close some of them.', {
      headers: { 'Retry-After': '10' },
    });
  }

  /** Begins the stream with what was missed. The headers of the response are set. Throws as `admit`. */
  open(topic: string, session: ConsoleSession, response: ServerResponse, missed: Buffer | undefined): void {
    // Others may have come since the request.
    this.admit(session);
    const viewer = { topic, session, response };
    this.#viewers.add(viewer);
    response.once('close', () => this.#viewers.delete(viewer));
    response.writeHead(200);
    response.write(`retry: ${RECONNECT_MS}\n\n`);
    if (missed !== undefined) this.#write(viewer, missed);
  }

  send(topic: string, event: Buffer): void {
    for (const viewer of this.#viewers) if (viewer.topic === topic) this.#write(viewer, event);
  }

  /** Shows proxies and browsers that the streams are alive. */
  beat(): void {
    for (const viewer of this.#viewers) this.#write(viewer, HEARTBEAT);
  }

  /** Ends the streams whose session is not among `open`, by `keyOfSession`. */
  keepOnly(open: ReadonlySet<string>): void {
    for (const viewer of this.#viewers) {
      if (open.has(keyOfSession(viewer.session))) continue;
      this.#viewers.delete(viewer);
      viewer.response.end(ENDED);
    }
  }

  stop(): void {
    for (const { response } of this.#viewers) response.end();
    this.#viewers.clear();
  }

  #write(viewer: Viewer, bytes: Buffer): void {
    const { response } = viewer;
    if (response.writableLength + bytes.length > UNREAD_BYTES_MAX) {
      this.#viewers.delete(viewer);
      response.destroy();
    } else response.write(bytes);
  }
}
